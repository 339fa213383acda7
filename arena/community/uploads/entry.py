"""An entry of an archive, as its reader gives it to the writer of the tree."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass

from arena.community.uploads.bounds import RefusedError
from arena.community.uploads.entry_names import shown


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a directory in an archive.

    Attributes:
        name: its path, as it is stored.
        is_directory: whether it is one.
        size_bytes: what the archive says of its size, before it has been read.
        is_executable: whether it may be executed; None if the archive does not say.
        chunks: what it holds; to be read before the next entry.
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


def refuse_kind(name: bytes, what: str) -> RefusedError:
    """Return the error for an entry that is neither a file nor a directory."""
    return RefusedError(f"{shown(name)} is {what}; expected files and directories only")


def check_mode(name: bytes, mode: int, is_directory: bool) -> None:
    """Raise RefusedError for a mode that is not of a plain file or directory.

    Directories that a group shares have the set-group-id bit, which does not come along.
    """
    kind = stat.S_IFMT(mode)
    if kind in _KINDS:
        raise refuse_kind(name, _KINDS[kind])
    if kind not in (0, stat.S_IFDIR if is_directory else stat.S_IFREG):
        raise RefusedError(
            f"{shown(name)}: mode {mode:o}, and the name of a {'directory' if is_directory else 'file'}; expected"
            " files, and directories whose names end with a slash"
        )
    special = mode & (stat.S_ISUID | stat.S_ISVTX | (0 if is_directory else stat.S_ISGID))
    if special:
        raise RefusedError(
            f"{shown(name)}: mode {stat.S_IMODE(mode):04o}, with set-user-id, set-group-id or sticky bits; expected"
            " none of these"
        )
