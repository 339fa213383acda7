"""Packing a bot into an archive to submit it, and unpacking archives in a confined process."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import stat
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from arena.base.errors import BotDefinitionError, StoreError, UploadError, UsageError, failing_as
from arena.base.names import is_printable
from arena.base.records import MEBIBYTE, Bot, Limits
from arena.base.shipped import bot_path, package_directory
from arena.base.stored import from_json_text, from_stored
from arena.base.text import size_text
from arena.match.players.bot_files import SUBMITTED, bot_files, left_out_as, open_at_once, read_file
from arena.match.players.manifest import ARCHIVES, LEAST, MANIFEST, load_bot
from arena.match.players.subprocess import Subprocess
from arena.match.players.untrusted_tree import TreeBounds, TreeRejectedError, TreeSize, copy_tree, ended_scratch
from arena.match.uploads.entry import DEFAULT_LIMITS, PROGRAM_STARTS, RejectedError, UnpackLimits, shown, split_path
from arena.match.uploads.unpacker import MEMORY_BYTES, SUFFIXES, TREE, ArchiveFormat, format_by_name
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import UPLOAD_PREFIX
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation


@dataclass(frozen=True, slots=True)
class PackedBot:
    """A file to submit, open at its beginning; the ending of its name tells its format."""

    file: BinaryIO
    name: str
    size_bytes: int


@contextlib.contextmanager
def packed(path: str | os.PathLike[str]) -> Iterator[PackedBot]:
    """Give a file or an archive as it is, and a bot's directory or ``arena:NAME`` as an archive.

    Raises:
        BotDefinitionError: if there is no bot, or it has files that can't be submitted.
    """
    bot_file = Path(bot_path(path))
    if bot_file.is_dir():
        with tempfile.TemporaryFile() as archive:
            _pack(bot_file, archive)
            size_bytes = archive.tell()
            archive.seek(0)
            yield PackedBot(archive, f"{bot_file.resolve().name}.tar.gz", size_bytes)
        return
    with failing_as(BotDefinitionError, f"bot {str(path)!r}: can't be read"):
        file = open(bot_file, "rb", opener=open_at_once)  # noqa: SIM115 - closed below
    with file:
        yield PackedBot(file, bot_file.name, os.fstat(file.fileno()).st_size)


def _pack(directory: Path, archive: BinaryIO) -> None:
    bot = load_bot(directory, bounds=SUBMITTED)
    with (
        gzip.GzipFile("", "wb", fileobj=archive, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in sorted(bot_files(directory, bool(bot.build), SUBMITTED), key=lambda one: one.name):
            entry = tarfile.TarInfo(file.name)
            data = read_file(file)
            entry.size = len(data)
            entry.mode = 0o755 if file.is_executable else 0o644
            tar.addfile(entry, io.BytesIO(data))


# A confined process unpacks archives of strangers; neither its answer nor its files are trusted.

MAX_ANSWER_BYTES = 16 * 1024
MAX_SENTENCE_CHARACTERS = 600
_BOOTSTRAP = """
import importlib.util, sys
package = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("arena", f"{package}/__init__.py", submodule_search_locations=[package])
sys.modules["arena"] = importlib.util.module_from_spec(spec)
from arena.match.uploads.unpacker import main
main()
"""
"""It needs only this package and the standard library: other packages are not loaded, and need not be readable."""

_SPARE_BYTES = 16 * MEBIBYTE
"""For the rest of the pages that files fill on a file system."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An unpacked upload; ``bot`` is its directory, or its only file."""

    bot: Path
    entries: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The answer of the process: why the upload is rejected, or why the machine could not unpack it; else ""."""

    refused: str = ""
    failed: str = ""


def unpack(
    upload: Path,
    into: Path,
    limits: UnpackLimits = DEFAULT_LIMITS,
    *,
    name: str | None = None,
    isolation: Isolation | None = None,
    may_hold_many: bool = False,
) -> Unpacked:
    """Unpack an archive, or take a single file, into a new directory; nothing is left of a rejected one.

    Args:
        upload: nobody may change it meanwhile.
        name: by its author; by default the name of the file.
        isolation: of the process that unpacks; by default the best of this machine.
        may_hold_many: take an archive that holds no bot at its top, too; its ``bot`` is then the directory of all.

    Raises:
        UploadError: if it is not accepted.
        UsageError: if this machine can't unpack it now.
    """
    name = upload.name if name is None else name
    try:
        with _open_upload(upload, limits) as descriptor, _removed_on_error(into):
            archive_format = format_by_name(name)
            if archive_format is None:
                return _take_file(descriptor, into, name, limits)
            size = _unpack_confined(descriptor, archive_format, into, limits, isolation or choose_isolation("auto"))
            return Unpacked(_find_bot(into, may_hold_many), size.entries, size.size_bytes)
    except RejectedError as error:
        raise UploadError(f"{_printable(name)}: {error}") from error
    except _FailedError as error:
        raise UsageError(f"{_printable(name)}: it can't be unpacked here: {error}") from error
    except OSError as error:
        raise UsageError(f"{_printable(name)}: it can't be unpacked into {into}: {error.strerror}") from error


class _FailedError(Exception):
    """The machine can't unpack an upload."""


@contextlib.contextmanager
def _open_upload(upload: Path, limits: UnpackLimits) -> Iterator[int]:
    descriptor = os.open(upload, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RejectedError("it is no plain file; expected an archive or a program")
        if status.st_size > limits.upload_bytes:
            raise RejectedError(
                f"it has {size_text(status.st_size)}; expected at most {size_text(limits.upload_bytes)}"
            )
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _removed_on_error(into: Path) -> Iterator[None]:
    into.mkdir()
    try:
        yield
    except BaseException:
        remove_tree(str(into))
        raise


def _take_file(descriptor: int, into: Path, name: str, limits: UnpackLimits) -> Unpacked:
    if len(split_path(name.encode(errors="surrogateescape"), limits)) != 1:
        raise RejectedError("a path; expected the name of a file")
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes > limits.file_bytes:
        raise RejectedError(f"it has {size_text(size_bytes)}; expected at most {size_text(limits.file_bytes)}")
    is_program = os.pread(descriptor, 4, 0).startswith(PROGRAM_STARTS)
    if not (is_program or name.endswith(".py")):
        raise RejectedError(
            f"neither an archive nor a program; expected a .py file, a program (ELF, or with #!), or {SUFFIXES[0]},"
            f" {', '.join(SUFFIXES[1:])}"
        )
    target = into / name
    with target.open("xb") as written:
        offset = 0
        while chunk := os.pread(descriptor, min(MEBIBYTE, size_bytes - offset), offset):
            offset += written.write(chunk)
    target.chmod(0o755 if is_program else 0o644)
    return Unpacked(target, 1, size_bytes)


def _unpack_confined(
    descriptor: int, archive_format: ArchiveFormat, into: Path, limits: UnpackLimits, isolation: Isolation
) -> TreeSize:
    with Subprocess(_program(archive_format, limits), isolation, _process_limits(limits), descriptor) as process:
        answer = _wait_for_answer(process, limits)
        if answer.refused:
            raise RejectedError(_printable(answer.refused))
        if answer.failed:
            raise _FailedError(_printable(answer.failed))
        bounds = TreeBounds(files=limits.entries, size_bytes=limits.total_bytes, depth=limits.depth + 1)
        try:
            with ended_scratch(process, TREE) as tree:
                return copy_tree(tree, into, bounds, "")
        except TreeRejectedError as error:
            raise RejectedError(f"what was unpacked can't be kept: {error}") from error


def _program(archive_format: ArchiveFormat, limits: UnpackLimits) -> Bot:
    package = str(package_directory())
    settings = (archive_format.suffixes[0], json.dumps(asdict(limits)))
    command = (arena_interpreter(), "-I", "-S", "-c", _BOOTSTRAP, package, *settings)
    return Bot(name="unpacker", version="1", command=command, directory=package, own_files=(package,))


def _process_limits(limits: UnpackLimits) -> Limits:
    tree_bytes = limits.total_bytes + limits.entries * 8192 + _SPARE_BYTES
    return Limits(
        memory_bytes=tree_bytes + MEMORY_BYTES,
        processes=8,
        open_files=64,
        file_bytes=limits.file_bytes + 1,
        scratch_bytes=tree_bytes,
        message_bytes=MAX_ANSWER_BYTES,
    )


def _wait_for_answer(process: Subprocess, limits: UnpackLimits) -> _Answer:
    line = b""
    deadline = time.monotonic() + limits.wall_seconds
    while not line.endswith(b"\n") and len(line) <= MAX_ANSWER_BYTES:
        line += process.read_stdout() or b""
        if process.has_exited():
            raise _error_after_exit(process, limits)
        if time.monotonic() > deadline:
            raise _FailedError(f"it took more than {limits.wall_seconds:g} s, and the machine may be busy")
        if (broken := process.monitor.sample()) is not None:
            raise RejectedError(f"unpacking it takes {broken}")
        process.poll(100)
        process.drain_last_stderr()
    try:
        return from_stored(_Answer, from_json_text(line.decode(), "the answer"), "the answer")
    except (UnicodeDecodeError, StoreError) as error:
        raise _FailedError("the process gave no answer") from error


def _error_after_exit(process: Subprocess, limits: UnpackLimits) -> RejectedError | _FailedError:
    """Return the error for a process that ended without an answer; only if it broke a limit, the upload is to blame."""
    if "SIGXCPU" in process.exit_text:
        return RejectedError(
            f"unpacking it takes more than {limits.cpu_seconds} s of CPU time; expected no more than that"
        )
    broken = process.broken_limit_after_exit()
    if broken:
        return RejectedError(f"unpacking it takes {broken}")
    last_line = process.stderr_text.take().strip().rpartition("\n")[2]
    return _FailedError(_printable(f"the process ended with {process.exit_text}: {last_line}"))


def _find_bot(tree: Path, may_hold_many: bool) -> Path:
    """Return the bot's directory, which is the only one at the top if the top has no manifest; or its only file."""
    if (tree / MANIFEST).is_file():
        return tree
    entries_at_top = [path for path in tree.iterdir() if not left_out_as(path.name)]  # macOS adds files of its own
    only = entries_at_top[0] if len(entries_at_top) == 1 else None
    if only is not None and (only.is_file() or (only / MANIFEST).is_file()):
        if only.suffix.lower() in ARCHIVES and only.is_file() and not (may_hold_many or os.access(only, os.X_OK)):
            raise RejectedError(
                f"it holds only an archive, {shown(only.name)}; expected the files of a bot with its {MANIFEST}, or a"
                " single program"
            )
        return only
    if may_hold_many:
        return tree
    names = ", ".join(shown(path.name) for path in sorted(entries_at_top)[:3]) + (
        ", …" if len(entries_at_top) > 3 else ""
    )
    raise RejectedError(
        f"there is no {MANIFEST} at its top or in its only directory, but {names}; expected one ({LEAST}), or a single"
        " program"
    )


def _printable(text: str) -> str:
    return "".join(letter if is_printable(letter) else "�" for letter in text[:MAX_SENTENCE_CHARACTERS])


# A bot on the command line may be an archive, which is unpacked for as long as it is needed.


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of an archive, by its name; a directory may have such a name too."""
    return format_by_name(os.fspath(path)) is not None and os.path.isfile(path)  # noqa: PTH113 - no exception if too long


@contextlib.contextmanager
def opened_bot(
    path: str | os.PathLike[str], listener: Callable[[str], None] = lambda text: None
) -> Iterator[str | os.PathLike[str]]:
    """Give the path of a bot: the same one, or for an archive that of the bot in it, which is removed at the end."""
    if not is_archive(path):
        yield path
        return
    with unpacking_place() as directory:
        tree = directory / "tree"
        unpacked = unpack(Path(path), tree)
        listener(f"{path}: {unpacked.entries:,} files and directories, {size_text(unpacked.size_bytes)}")
        try:
            yield unpacked.bot
        except BotDefinitionError as error:
            raise BotDefinitionError(str(error).replace(str(tree), os.fspath(path))) from error


@contextlib.contextmanager
def unpacking_place() -> Iterator[Path]:
    """Give a new directory, removed at the end; if this process is killed, by the next that launches bots."""
    open_launcher()  # it removes the files of killed processes
    directory = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"{UPLOAD_PREFIX}{process_tag()}-")))
    try:
        yield directory
    finally:
        remove_tree(str(directory))
