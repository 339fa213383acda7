"""The files of a bot: found, measured, digested and copied; and those beside them that are no part of it."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from arena.base.errors import BotDefinitionError, failing_as
from arena.base.names import is_printable_text
from arena.base.records import MEBIBYTE

# Sizes come before contents, and everything is bounded while it is read. A link counts as the file it leads to. Nothing
# but plain files is ever opened.

BUILD_DIRECTORY = "build"
"""The output directory of a bot's build: no part of such a bot, which is built again on every machine."""
LEFT_OUT = (
    *("__pycache__", "*.pyc", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    *(".git", ".hg", ".svn"),
    *(".venv", "node_modules"),
    *(".DS_Store", "._*", "__MACOSX", "Thumbs.db", "desktop.ini"),
)
"""Patterns of the names of files and directories that are no part of a bot, in letters of either case: what Python,
version control, package managers, macOS and Windows put beside its files. docs/packaging.md has the same list."""

_LEFT_OUT_EARLIER = frozenset({"__pycache__", ".git", ".hg", ".venv", "node_modules", ".mypy_cache", ".ruff_cache"})
_LEFT_OUT_NAMES = frozenset(pattern.casefold() for pattern in LEFT_OUT)

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a directory is taken for a bot.

    Attributes:
        depth: the most directories inside each other.
        is_strict: reject what can't be copied: links that lead out, pipes and devices, names with control
            characters, directories that can't be read.
        is_submission: the author is not the operator, so it may not use everything on this machine.
    """

    files: int = 100_000
    size_bytes: int = 4096 * MEBIBYTE
    depth: int = 64
    is_strict: bool = False
    is_submission: bool = False


IN_PLACE = Bounds()
"""The bounds of a bot that runs from its own directory."""
SUBMITTED = Bounds(files=10_000, size_bytes=256 * MEBIBYTE, is_strict=True, is_submission=True)
"""The bounds of a bot that is copied into the arena."""


def open_at_once(path: str | Path, flags: int) -> int:
    """Open a file without waiting for a writer at the other end of a pipe; an opener for ``open``."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


class BotFile(NamedTuple):
    """A file of a bot, by its path below the bot's directory; if ``inside`` is set, it must lie there when opened."""

    path: Path
    name: str
    size_bytes: int
    is_executable: bool
    inside: str = ""


def left_out_as(name: str) -> str:
    """Return the pattern by which a file or directory of this name is left out of a bot; "" if it is not."""
    name = name.casefold()
    if name.endswith(".pyc"):
        return "*.pyc"
    if name.startswith("._"):
        return "._*"
    return name if name in _LEFT_OUT_NAMES else ""


def _is_left_out(name: str, is_directory: bool) -> bool:
    return left_out_as(name) != ""


def _was_left_out(name: str, is_directory: bool) -> bool:
    return name in _LEFT_OUT_EARLIER if is_directory else name.endswith(".pyc")


def bot_files(directory: Path, has_build: bool, bounds: Bounds = IN_PLACE, earlier: bool = False) -> list[BotFile]:
    """Return the files of a bot in a fixed order, without what is left out and what its build has made.

    Args:
        has_build: whether ``build/`` is no part of the bot.
        earlier: use the rule of earlier versions, which left out less and respected the case of letters.
    """
    return list(_Walk(directory, bounds).files(_was_left_out if earlier else _is_left_out, has_build))


def made_files(directory: Path, bounds: Bounds) -> list[BotFile]:
    """Return all files below a directory that a build has made; their names begin with its own."""
    return [file._replace(name=f"{directory.name}/{file.name}") for file in _Walk(directory, bounds).files()]


def single_file(path: Path, bounds: Bounds = IN_PLACE) -> BotFile:
    """Return the only file of a bot that is a single program."""
    walk = _Walk(path.parent, bounds)
    file = walk.take(path, path.name)
    if file is None:
        raise BotDefinitionError(f"bot {str(path)!r}: it is no plain file")
    return file


class _Walk:
    def __init__(self, root: Path, bounds: Bounds) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._bounds = bounds
        self._count = 0
        self._size_bytes = 0

    def files(
        self, is_left_out: Callable[[str, bool], bool] = lambda name, is_directory: False, has_build: bool = False
    ) -> Iterator[BotFile]:
        """Yield the files of each directory in order, and then those of its directories."""
        waiting = [("", 0)]
        while waiting:
            below, depth = waiting.pop()
            directories, names = self._listing(below, is_left_out)
            if has_build and not depth:
                directories = [name for name in directories if name != BUILD_DIRECTORY]
            if directories and depth + 1 >= self._bounds.depth:
                raise self._refuse(f"directories more than {self._bounds.depth} deep")
            for name in names:
                file = self.take(self._root / below / name, f"{below}{name}")
                if file is not None:
                    yield file
            waiting += [(f"{below}{name}/", depth + 1) for name in reversed(directories)]

    def _listing(self, below: str, is_left_out: Callable[[str, bool], bool]) -> tuple[list[str], list[str]]:
        directories: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(self._root / below) as listing:
                for entry in listing:
                    self._count_one()
                    is_directory = entry.is_dir(follow_symlinks=False)
                    if not is_left_out(entry.name, is_directory):
                        (directories if is_directory else names).append(entry.name)
        except OSError as error:
            if self._bounds.is_strict:
                raise self._refuse(f"{below or 'its directory'} can't be read: {error.strerror}") from error
        for name in directories:
            self._check_name(f"{below}{name}")
        return sorted(directories), sorted(names)

    def _count_one(self) -> None:
        self._count += 1
        if self._count > self._bounds.files:
            raise self._refuse(f"more than {self._bounds.files:,} files and directories")

    def take(self, path: Path, name: str) -> BotFile | None:
        """Return a plain file, or a link to one; None for anything else, which is left out or rejected."""
        is_link = path.is_symlink()
        try:
            status = path.stat()
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR) or not self._bounds.is_strict:
                return None  # a link to nowhere
            self._check_inside(path)
            raise self._refuse(f"{name!r} can't be read: {error.strerror}") from error
        if is_link and self._bounds.is_strict:
            self._check_inside(path)
        if not stat.S_ISREG(status.st_mode):
            if self._bounds.is_strict and not stat.S_ISDIR(status.st_mode):
                raise self._refuse(f"{name!r} is no plain file")
            return None
        self._check_name(name)
        self._size_bytes += status.st_size
        if self._size_bytes > self._bounds.size_bytes:
            raise self._refuse(f"more than {self._bounds.size_bytes // MEBIBYTE} MiB of files")
        inside = self._real_root if self._bounds.is_strict else ""
        return BotFile(path, name, status.st_size, os.access(path, os.X_OK), inside)

    def _check_inside(self, path: Path) -> None:
        real = os.path.realpath(path)
        if real != self._real_root and not real.startswith(f"{self._real_root}/"):
            environment = next((parent for parent in path.parents if (parent / "pyvenv.cfg").is_file()), None)
            if environment is not None and environment.is_relative_to(self._root):
                raise BotDefinitionError(
                    f"{path}: a link that leads out of the bot's directory, in the virtual environment"
                    f" {environment.name!r}, which can't be submitted; docs/dependencies.md has other ways"
                )
            raise BotDefinitionError(f"{path}: a link that leads out of the bot's directory")

    def _check_name(self, name: str) -> None:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise self._refuse(f"{name!r} is not UTF-8") from None
        if self._bounds.is_strict and not is_printable_text(name):
            raise self._refuse(f"{name!r} has characters that can't be seen")

    def _refuse(self, reason: str) -> BotDefinitionError:
        return BotDefinitionError(f"bot {str(self._root)!r}: {reason}")


def digest_of(files: Sequence[BotFile]) -> str:
    """Return a digest of files: their names, whether they are executable, and their contents."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{int(file.is_executable)}\0{file.size_bytes}\0".encode())
        for chunk in _contents(file):
            digest.update(chunk)
    return digest.hexdigest()[:16]


def read_file(file: BotFile) -> bytes:
    """Return the content of a file."""
    return b"".join(_contents(file))


def copy_files(files: Sequence[BotFile], target: Path) -> None:
    """Copy files into a new directory: their contents and whether they are executable, and nothing else."""
    target.mkdir(parents=True)
    created = {target}
    for file in files:
        copy = target / file.name
        missing = [
            directory for directory in copy.parents if directory.is_relative_to(target) and directory not in created
        ]
        for directory in reversed(missing):
            directory.mkdir()
            created.add(directory)
        with copy.open("xb") as written:
            for chunk in _contents(file):
                written.write(chunk)
        copy.chmod(0o755 if file.is_executable else 0o644)
    for directory in created:
        directory.chmod(0o755)


def _check_opened(descriptor: int, file: BotFile) -> None:
    """Raise if a link has been put in a file's place, or in that of a directory above, since it was measured."""
    if not file.inside or sys.platform != "linux":
        return
    real = Path(f"/proc/self/fd/{descriptor}").readlink()
    if not real.is_relative_to(file.inside):
        raise BotDefinitionError(f"{file.path}: a link that leads out of the bot's directory")


def _contents(file: BotFile) -> Iterator[bytes]:
    """Yield the content of a file, as many bytes as were measured; an empty file needs no permission to be read."""
    if file.size_bytes == 0:
        return
    with failing_as(BotDefinitionError, f"{file.path}: can't be read"):
        descriptor = open_at_once(file.path, os.O_RDONLY)
        try:
            _check_opened(descriptor, file)
            remaining_bytes = file.size_bytes if stat.S_ISREG(os.fstat(descriptor).st_mode) else 0
            while remaining_bytes > 0 and (chunk := os.read(descriptor, min(remaining_bytes, _CHUNK_BYTES))):
                remaining_bytes -= len(chunk)
                yield chunk
        finally:
            os.close(descriptor)
    if remaining_bytes:
        raise BotDefinitionError(f"{file.path}: it has changed while it was read")


# Tells submitters what a bot's directory has that is no part of the bot.

MAX_ENTRIES = 20_000
"""How many files and directories are examined; a bot may not have more."""

MAX_NAMES = 12
"""The number of names that are shown."""

LIBRARY_NAMES = frozenset({".venv", "node_modules"})
"""Directories of libraries that a bot may need."""


def describe_left_out(directory: Path) -> list[str]:
    """Return sentences that name what a copy of a bot's directory leaves out; none if it leaves out nothing."""
    counts = _left_out(directory)
    if not counts:
        return []
    names = [name if count == 1 else f"{name} ({count} times)" for name, count in sorted(counts.items())]
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    sentences = [f"left out, as no part of the bot: {', '.join(names[:MAX_NAMES])}{more}"]
    libraries = sorted(name for name in LIBRARY_NAMES if f"{name}/" in counts)
    if libraries:
        sentences.append(
            f"{' and '.join(libraries)}: made for one place, so the bot can't use it from its copy;"
            " docs/dependencies.md has ways to bring libraries along"
        )
    return sentences


def _left_out(directory: Path) -> Counter[str]:
    """Count what is left out, by its name, or by its path if it is no file. Follows no link."""
    counts: Counter[str] = Counter()
    waiting = [directory] if directory.is_dir() else []
    entries = 0
    while waiting and entries < MAX_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as inside:
                for entry in inside:
                    entries += 1
                    if entries > MAX_ENTRIES:
                        break
                    is_directory = entry.is_dir(follow_symlinks=False)
                    if pattern := left_out_as(entry.name):
                        counts[(pattern if "*" in pattern else entry.name) + "/" * is_directory] += 1
                    elif is_directory:
                        waiting.append(Path(entry.path))
                    elif not entry.is_file():
                        description = "a link to no file" if entry.is_symlink() else "not a file"
                        counts[f"{Path(entry.path).relative_to(directory)} ({description})"] += 1
        except OSError:  # what can't be read is refused when it is copied
            continue
    return counts
