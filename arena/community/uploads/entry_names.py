"""The names in an upload: which are accepted, and that no two of them are one file on any system."""

from __future__ import annotations

import re
import unicodedata

from arena.base.names import is_visible_text
from arena.base.text import shortened_text
from arena.community.uploads.bounds import RefusedError, UnpackLimits

_NOT_ON_WINDOWS = '<>:"|?*'
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
"""Names that are devices on Windows, whatever follows after a dot."""

_DRIVE = re.compile(r"[A-Za-z]:")
_BELOW = "expected a path below the bot's directory"


def shown(name: bytes | str) -> str:
    """Return a name as it stands in a sentence; what can't be seen is escaped."""
    return shortened_text(repr(name.decode(errors="backslashreplace") if isinstance(name, bytes) else name))


class EntryNames:
    """The paths in one upload, as they are read."""

    def __init__(self, limits: UnpackLimits) -> None:
        self._limits = limits
        self._known: dict[str, tuple[str, bool]] = {}  # the path, and whether it is a directory, by what it is equal to
        self._given: set[str] = set()

    def add(self, name: bytes, is_directory: bool) -> tuple[str, ...]:
        """Return the names on the way to an entry; none for the directory of the upload itself.

        Raises:
            RefusedError: if its name is not accepted, or equal to another.
        """
        parts = split_path(name, self._limits, is_directory)
        for count in range(1, len(parts) + 1):
            self._add("/".join(parts[:count]), is_directory or count < len(parts))
        path = "/".join(parts)
        if parts and path in self._given:
            raise RefusedError(f"{shown(path)} is in it twice; expected every name once")
        self._given.add(path)
        return parts

    def _add(self, path: str, is_directory: bool) -> None:
        before = self._known.setdefault(_equal_to(path), (path, is_directory))
        if before[0] != path:
            raise RefusedError(
                f"{shown(before[0])} and {shown(path)} are one name where case or the form of accents doesn't count;"
                " expected names that differ in more"
            )
        if before[1] != is_directory:
            raise RefusedError(f"{shown(path)} is both a file and a directory in it; expected one of them")
        if len(self._known) > self._limits.entries:
            raise RefusedError(too_many_entries(self._limits))


def too_many_entries(limits: UnpackLimits) -> str:
    """Return the sentence about an upload with too many entries."""
    return (
        f"it has more than {limits.entries:,} files and directories; expected fewer, without what the bot"
        " does not need, such as .git, .venv and node_modules"
    )


def split_path(name: bytes, limits: UnpackLimits, is_directory: bool = False) -> tuple[str, ...]:
    """Return the names of a path.

    A ``./`` at the beginning, as in archives of ``.``, and the slash after a directory are no names.

    Raises:
        RefusedError: if it is not accepted.
    """
    path = _as_text(name, limits)
    if path.startswith("/"):
        raise RefusedError(f"{shown(name)}: an absolute path; {_BELOW}")
    if _DRIVE.match(path):
        raise RefusedError(f"{shown(name)}: a path with a drive letter; {_BELOW}")
    path = path.removeprefix("./")
    if is_directory:
        path = path.removesuffix("/")
        if path in ("", "."):
            return ()
    parts = tuple(path.split("/"))
    if len(parts) - (not is_directory) > limits.depth:
        raise RefusedError(f"{shown(name)}: directories more than {limits.depth} deep; expected no more")
    for part in parts:
        _check_part(part, name, limits)
    return parts


def _as_text(name: bytes, limits: UnpackLimits) -> str:
    if len(name) > limits.path_bytes:
        raise RefusedError(f"{shown(name)}: a path of {len(name):,} bytes; expected at most {limits.path_bytes}")
    if b"\0" in name:
        raise RefusedError(f"{shown(name)}: a NUL in a name; expected visible characters")
    try:
        path = name.decode()
    except UnicodeDecodeError:
        raise RefusedError(f"{shown(name)}: a name that is not UTF-8; expected UTF-8") from None
    if "\\" in path:
        raise RefusedError(f"{shown(name)}: a backslash in a name; expected '/' between names, and none in them")
    if not is_visible_text(path):
        raise RefusedError(f"{shown(name)}: a name with characters that can't be seen; expected visible ones")
    return path


def _check_part(part: str, name: bytes, limits: UnpackLimits) -> None:
    """Raise RefusedError unless this is accepted as the name of a file or directory."""
    if part in ("", ".", ".."):
        what = {"": "an empty name", ".": "'.' inside a path", "..": "'..' in a path"}[part]
        raise RefusedError(f"{shown(name)}: {what}; {_BELOW}")
    if len(part.encode()) > limits.name_bytes:
        count = len(part.encode())
        raise RefusedError(f"{shown(name)}: a name of {count} bytes; expected at most {limits.name_bytes}")
    if part[-1] in ". ":
        raise RefusedError(f"{shown(name)}: a name that ends with {part[-1]!r}; expected another last character")
    for letter in _NOT_ON_WINDOWS:
        if letter in part:
            raise RefusedError(f"{shown(name)}: {letter!r} in a name; expected none of {_NOT_ON_WINDOWS}")
    if _DEVICES.fullmatch(part.split(".")[0].rstrip()):
        raise RefusedError(f"{shown(name)}: a name that is a device on Windows; expected another")


def _equal_to(path: str) -> str:
    """Return what all paths have in common that some file system takes for the same."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())
