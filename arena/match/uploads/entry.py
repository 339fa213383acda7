"""Entries of an archive: their bounds and names, and how they are written below one directory."""

from __future__ import annotations

import itertools
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.base.names import is_printable_text
from arena.base.records import MEBIBYTE
from arena.base.text import shortened_text, size_text


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackLimits:
    """How much may be in an upload, and how long unpacking it may take.

    Attributes:
        entries: files and directories, with those that are only named in paths.
        total_bytes: of all files together; of a compressed tar, of what it is compressed from.
        ratio: by how much the total may exceed the upload, beyond ``FREE_BYTES``.
        depth: directories inside each other.
        path_bytes: of a path, in UTF-8.
        wall_seconds: more than the CPU time, since the machine may be busy.
    """

    upload_bytes: int = 64 * MEBIBYTE
    entries: int = 2000
    file_bytes: int = 64 * MEBIBYTE
    total_bytes: int = 128 * MEBIBYTE
    ratio: int = 100
    depth: int = 16
    path_bytes: int = 500
    name_bytes: int = 150
    cpu_seconds: int = 2
    wall_seconds: float = 20.0


DEFAULT_LIMITS = UnpackLimits()

FREE_BYTES = 4 * MEBIBYTE
"""Any upload may unpack to this much, however small it is: tables and empty boards compress to nearly nothing."""


class RejectedError(Exception):
    """An upload is not accepted. Its text follows the name of the upload in a sentence."""


class Budget:
    """Counts the bytes that come out of an upload, whose size bounds them."""

    def __init__(self, limits: UnpackLimits, upload_bytes: int) -> None:
        self._limits = limits
        self._allowed_by_ratio = FREE_BYTES + limits.ratio * upload_bytes
        self._spent = 0

    def spend(self, count: int) -> None:
        """Count bytes, or raise RejectedError."""
        self._spent += count
        self.check(self._spent)

    def check(self, total: int) -> None:
        """Raise RejectedError if a total, claimed or counted, is too much."""
        limits = self._limits
        if total > limits.total_bytes:
            raise RejectedError(f"it unpacks to more than {size_text(limits.total_bytes)}; expected no more than that")
        if total > self._allowed_by_ratio:
            raise RejectedError(
                f"it unpacks to more than {limits.ratio} times its size; expected no more than that beyond"
                f" {FREE_BYTES // MEBIBYTE} MiB"
            )


# The names in an upload: which are accepted. No two may be the same file on any system.

_NOT_ON_WINDOWS = '<>:"|?*'
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
"""Names that are devices on Windows, whatever follows after a dot."""

_DRIVE = re.compile(r"[A-Za-z]:")
_BELOW = "expected a path below the bot's directory"


def shown(name: bytes | str) -> str:
    """Return a name for a sentence, with invisible characters escaped."""
    return shortened_text(repr(name.decode(errors="backslashreplace") if isinstance(name, bytes) else name))


class EntryNames:
    """The paths in one upload, checked as they are read."""

    def __init__(self, limits: UnpackLimits) -> None:
        self._limits = limits
        self._paths_by_key: dict[str, tuple[str, bool]] = {}  # each path, and whether it is a directory, by its key
        self._entry_paths: set[str] = set()

    def add(self, name: bytes, is_directory: bool) -> tuple[str, ...]:
        """Return the names on the way to an entry; none for the directory of the upload itself."""
        parts = split_path(name, self._limits, is_directory)
        for count in range(1, len(parts) + 1):
            self._add("/".join(parts[:count]), is_directory or count < len(parts))
        path = "/".join(parts)
        if parts and path in self._entry_paths:
            raise RejectedError(f"{shown(path)} is in it twice; expected every name once")
        self._entry_paths.add(path)
        return parts

    def _add(self, path: str, is_directory: bool) -> None:
        earlier = self._paths_by_key.setdefault(_path_key(path), (path, is_directory))
        if earlier[0] != path:
            raise RejectedError(
                f"{shown(earlier[0])} and {shown(path)} are one name where case or the form of accents doesn't count;"
                " expected names that differ in more"
            )
        if earlier[1] != is_directory:
            raise RejectedError(f"{shown(path)} is both a file and a directory in it; expected one of them")
        if len(self._paths_by_key) > self._limits.entries:
            raise RejectedError(too_many_entries(self._limits))


def too_many_entries(limits: UnpackLimits) -> str:
    """Return the sentence about an upload with too many entries."""
    return (
        f"it has more than {limits.entries:,} files and directories; expected fewer, without what the bot"
        " does not need, such as .git, .venv and node_modules"
    )


def split_path(name: bytes, limits: UnpackLimits, is_directory: bool = False) -> tuple[str, ...]:
    """Return the names of a path; raise RejectedError if it is not accepted.

    A ``./`` at the beginning, as in archives of ``.``, and the slash after a directory are no names.
    """
    path = _as_text(name, limits)
    if path.startswith("/"):
        raise RejectedError(f"{shown(name)}: an absolute path; {_BELOW}")
    if _DRIVE.match(path):
        raise RejectedError(f"{shown(name)}: a path with a drive letter; {_BELOW}")
    path = path.removeprefix("./")
    if is_directory:
        path = path.removesuffix("/")
        if path in ("", "."):
            return ()
    parts = tuple(path.split("/"))
    if len(parts) - (not is_directory) > limits.depth:
        raise RejectedError(f"{shown(name)}: directories more than {limits.depth} deep; expected no more")
    for part in parts:
        _check_part(part, name, limits)
    return parts


def _as_text(name: bytes, limits: UnpackLimits) -> str:
    if len(name) > limits.path_bytes:
        raise RejectedError(f"{shown(name)}: a path of {len(name):,} bytes; expected at most {limits.path_bytes}")
    if b"\0" in name:
        raise RejectedError(f"{shown(name)}: a NUL in a name; expected visible characters")
    try:
        path = name.decode()
    except UnicodeDecodeError:
        raise RejectedError(f"{shown(name)}: a name that is not UTF-8; expected UTF-8") from None
    if "\\" in path:
        raise RejectedError(f"{shown(name)}: a backslash in a name; expected '/' between names, and none in them")
    if not is_printable_text(path):
        raise RejectedError(f"{shown(name)}: a name with characters that can't be seen; expected visible ones")
    return path


def _check_part(part: str, name: bytes, limits: UnpackLimits) -> None:
    if part in ("", ".", ".."):
        what = {"": "an empty name", ".": "'.' inside a path", "..": "'..' in a path"}[part]
        raise RejectedError(f"{shown(name)}: {what}; {_BELOW}")
    if len(part.encode()) > limits.name_bytes:
        count = len(part.encode())
        raise RejectedError(f"{shown(name)}: a name of {count} bytes; expected at most {limits.name_bytes}")
    if part[-1] in ". ":
        raise RejectedError(f"{shown(name)}: a name that ends with {part[-1]!r}; expected another last character")
    for letter in _NOT_ON_WINDOWS:
        if letter in part:
            raise RejectedError(f"{shown(name)}: {letter!r} in a name; expected none of {_NOT_ON_WINDOWS}")
    if _DEVICES.fullmatch(part.split(".")[0].rstrip()):
        raise RejectedError(f"{shown(name)}: a name that is a device on Windows; expected another")


def _path_key(path: str) -> str:
    """Return a key that is equal for all paths that some file system treats as the same."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a directory in an archive; ``chunks`` must be read before the next entry.

    ``size_bytes`` is what the archive claims; ``is_executable`` is None if it does not say.
    """

    name: bytes
    is_directory: bool
    size_bytes: int
    is_executable: bool | None
    chunks: Iterator[bytes]


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def reject_kind(name: bytes, what: str) -> RejectedError:
    """Return the error for an entry that is neither a file nor a directory."""
    return RejectedError(f"{shown(name)} is {what}; expected files and directories only")


def check_mode(name: bytes, mode: int, is_directory: bool) -> None:
    """Raise RejectedError for a mode that is not of a plain file or directory.

    Directories that a group shares have the set-group-id bit, which is dropped.
    """
    kind = stat.S_IFMT(mode)
    if kind in _KINDS:
        raise reject_kind(name, _KINDS[kind])
    if kind not in (0, stat.S_IFDIR if is_directory else stat.S_IFREG):
        raise RejectedError(
            f"{shown(name)}: mode {mode:o}, and the name of a {'directory' if is_directory else 'file'}; expected"
            " files, and directories whose names end with a slash"
        )
    special = mode & (stat.S_ISUID | stat.S_ISVTX | (0 if is_directory else stat.S_ISGID))
    if special:
        raise RejectedError(
            f"{shown(name)}: mode {stat.S_IMODE(mode):04o}, with set-user-id, set-group-id or sticky bits; expected"
            " none of these"
        )


# Writes entries below one directory: only new files, no larger than is allowed.

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PROGRAM_STARTS = (b"#!", b"\x7fELF")
"""What a file that can be executed begins with, for archives that don't say of files whether they may be."""


class TreeWriter:
    """Writes the entries of one archive, and counts the files."""

    def __init__(self, directory: Path, limits: UnpackLimits) -> None:
        self._directory = directory
        self._limits = limits
        self._names = EntryNames(limits)
        self._directories_made: set[tuple[str, ...]] = {()}
        self.files = 0

    def write(self, entry: Entry) -> None:
        """Write an entry; raise RejectedError if its name or its size is not accepted, OSError if writing fails."""
        parts = self._names.add(entry.name, entry.is_directory)
        check_size(entry.name, entry.size_bytes, self._limits)
        self._make_directories(parts if entry.is_directory else parts[:-1])
        if not entry.is_directory:
            self._write_file(self._directory.joinpath(*parts), entry)
            self.files += 1

    def _make_directories(self, parts: tuple[str, ...]) -> None:
        for count in range(1, len(parts) + 1):
            if parts[:count] not in self._directories_made:
                self._directory.joinpath(*parts[:count]).mkdir(0o700)
                self._directories_made.add(parts[:count])

    def _write_file(self, path: Path, entry: Entry) -> None:
        chunks = filter(None, entry.chunks)
        first = next(chunks, b"")
        is_program = first.startswith(PROGRAM_STARTS) if entry.is_executable is None else entry.is_executable
        size_bytes = 0
        descriptor = os.open(path, _NEW_FILE, 0o700 if is_program else 0o600)
        try:
            for chunk in itertools.chain((first,), chunks):
                size_bytes += len(chunk)
                check_size(entry.name, size_bytes, self._limits)
                _write_all(descriptor, chunk)
        finally:
            os.close(descriptor)


def check_size(name: bytes, size_bytes: int, limits: UnpackLimits) -> None:
    """Raise RejectedError if a file is too large."""
    if size_bytes > limits.file_bytes:
        raise RejectedError(f"{shown(name)}: a file of more than {size_text(limits.file_bytes)}; expected no more")


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
