"""The contents of a backup: files of a home, and the manifest that lists them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Literal, TypeVar

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field

from arena.base.checked_files import check_json
from arena.base.errors import UsageError
from arena.base.known_server import FILES, IDENTITY_FILE
from arena.base.text import size_text
from arena.base.version import __version__
from arena.match.players.bot_files import BUILD_DIRECTORY
from arena.sandbox.isolation.reaper import COPY_PREFIX
from arena.store.home import (
    ANNOTATOR_LOCK,
    CHECKING,
    CONTESTS_DIRECTORY,
    DATABASE_FILE,
    PEOPLE_FILE,
    RECEIVING,
    VISITORS_FILE,
    VISITORS_LOCK,
)

# Which files of a home are in a backup, and which are not.
#
# Databases are copied before files, and the database of people before those of results: the arena lists a bot before it
# accepts the submission, and writes a file before a database names it. Embargoed results are copied before public ones,
# which take them in when a contest is revealed. So every bot and file that a copied database names existed when it was
# copied, whatever happens meanwhile: the backup is consistent, as a home is after its processes were killed.

PEOPLE, RESULTS = PEOPLE_FILE, DATABASE_FILE
DATABASES = (PEOPLE, RESULTS)

NOT_KEPT = ("cache", "locks", "parts", "repro", ANNOTATOR_LOCK, VISITORS_LOCK, IDENTITY_FILE, *FILES.values())
"""Left out: what the arena can make again, what belongs to running processes, and where the databases are."""

MAX_DEPTH = 80
"""The deepest nesting of directories; a submitted bot has at most 64."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The permissions with which a restore creates the directories and files of a directory of the home."""

    directory_mode: int
    file_mode: int
    program_mode: int


OPEN, PRIVATE = Tree(0o755, 0o644, 0o755), Tree(0o700, 0o600, 0o700)
"""Bots run as other users, who must be able to read them; only the arena reads everything else."""

BOTS, LOGS = "bots", "logs"
PRIVATE_TREES = ("uploads", CONTESTS_DIRECTORY, "keys", "puzzles", "votes", LOGS)
TREES = {BOTS: OPEN} | dict.fromkeys(PRIVATE_TREES, PRIVATE)
"""Directories of a home that are in a backup; logs only on request."""

_UNFINISHED = (COPY_PREFIX, RECEIVING, CHECKING)


def embargoed_databases(home: Path) -> list[str]:
    """Return the databases of embargoed results, as paths from a home."""
    return sorted(str(path.relative_to(home)) for path in home.glob(f"{CONTESTS_DIRECTORY}/*/{DATABASE_FILE}"))


def is_beside_database(path: str) -> bool:
    """Return whether a file of a contest belongs to its database without being the database, such as its log."""
    tree, *inner = path.split("/")
    name = inner[-1] if inner else ""
    is_whole = len(inner) == 2 and name == DATABASE_FILE
    return tree == CONTESTS_DIRECTORY and name.startswith(DATABASE_FILE) and not is_whole


def tree_files(home: Path, tree: str) -> Iterator[str]:
    """Yield the paths of a tree's files from the home, in no order.

    Links, unfinished files and what builds have made are left out: each machine builds again.
    """
    waiting = [(tree, 1)]
    while waiting:
        directory, depth = waiting.pop()
        try:
            with os.scandir(home / directory) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:  # removed meanwhile
            continue
        except OSError as error:
            raise UsageError(f"{home / directory}: can't be read: {error.strerror}") from error
        for entry in entries:
            path = f"{directory}/{entry.name}"
            if _is_left_out(entry.name, directory, home):
                continue
            _require_utf_8(path)
            if entry.is_dir(follow_symlinks=False):
                if depth >= MAX_DEPTH:
                    raise UsageError(f"{home / path}: directories more than {MAX_DEPTH} deep can't be backed up")
                waiting.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                yield path


def _is_left_out(name: str, directory: str, home: Path) -> bool:
    if directory == BOTS:
        return name.startswith((".", *_UNFINISHED))
    parent, _, bot = directory.rpartition("/")
    if parent == CONTESTS_DIRECTORY and (name in NOT_KEPT or name.startswith(DATABASE_FILE)):
        return True  # databases are copied by themselves
    if parent == BOTS and name == BUILD_DIRECTORY:
        return (home / BOTS / f".{bot}.built").exists()
    return "/" not in directory and name.startswith(_UNFINISHED)


def _require_utf_8(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{path!r}: a name that is not UTF-8 can't be backed up") from None


def other_entries(home: Path) -> list[str]:
    """Return the entries of a home that the arena does not know, and that no backup has."""
    databases = (*DATABASES, VISITORS_FILE)  # a backup is without matches and votes of visitors
    arena_names = {*TREES, *NOT_KEPT, *(f"{name}{ending}" for name in databases for ending in ("", "-wal", "-shm"))}
    try:
        return sorted(entry.name for entry in os.scandir(home) if entry.name not in arena_names)
    except FileNotFoundError:  # all of it is on a server
        return []
    except OSError as error:
        raise UsageError(f"{home}: can't be read: {error.strerror}") from error


PIECE_BYTES = 2**20
"""Of a file that is copied, at once."""
SPARE_BYTES = 64 * 2**20
"""Left on the disk."""
REMOVAL_SECONDS = 600.0
"""To remove what was written, if it can't be finished."""


def require_space(directory: Path, size_bytes: int) -> None:
    """Raise UsageError if there is too little space for a file in a directory."""
    free_bytes = shutil.disk_usage(directory).free
    if size_bytes + SPARE_BYTES > free_bytes:
        raise UsageError(
            f"the disk has {size_text(free_bytes)} left, and the next file has {size_text(size_bytes)};"
            " nothing was kept of what was written"
        )


def make_directories(folder: Path, directory: Path, tree: Tree) -> None:
    """Make a directory below a folder, and those above it."""
    if directory.is_dir():
        return
    for part in reversed([directory, *directory.parents]):
        if part != folder and part.is_relative_to(folder) and not part.is_dir():
            try:
                part.mkdir()
            except FileExistsError as error:
                raise UsageError(f"{part.relative_to(folder)}: the backup has it as a file and a directory") from error
            part.chmod(tree.directory_mode)


def copy_pieces(read: Callable[[int], bytes], size_bytes: int, write: Callable[[bytes], object]) -> tuple[int, str]:
    """Copy at most ``size_bytes`` piece by piece; return how many bytes there were, and their SHA-256."""
    digest, left = sha256(), size_bytes
    while piece := read(min(PIECE_BYTES, left)):
        left -= len(piece)
        digest.update(piece)
        write(piece)
    return size_bytes - left, digest.hexdigest()


# The manifest of a backup: a line for each file with its size and digest, between a first and a last line.
#
# It is written and read line by line, for a home may have millions of files. Without its last line a backup is not
# whole.

MANIFEST = "manifest.jsonl"
FORM = 1
MAX_LINE_BYTES = 64 * 1024
MAX_FILES = 10_000_000
MAX_FILE_BYTES = 64 * 2**30

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Head(_Line):
    """The first line; ``arena_backup`` is the version of the form."""

    arena_backup: int
    arena: Annotated[str, Field(max_length=40)]
    made_at: Annotated[str, Field(max_length=40)]


class KeptFile(_Line):
    """A file of a backup; its path is from the folder, with "/"."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    bytes: Annotated[int, Ge(0), Le(MAX_FILE_BYTES)]
    sha256: Digest
    is_program: bool


class End(_Line):
    """The last line: the number of files, and the digest of all lines before."""

    files: Annotated[int, Ge(0), Le(MAX_FILES)]
    sha256: Digest
    is_whole: Literal[True]


OneLine = TypeVar("OneLine", bound=_Line)


class ManifestWriter:
    """Writes a manifest, and counts the files in it and their bytes."""

    def __init__(self, file: IO[bytes], made_at: str) -> None:
        self.files = self.size_bytes = 0
        self._file, self._digest = file, sha256()
        self._write(Head(arena_backup=FORM, arena=__version__, made_at=made_at))

    def add(self, file: KeptFile) -> None:
        """Write the line of a file."""
        self._write(file)
        self.files += 1
        self.size_bytes += file.bytes

    def finish(self) -> str:
        """Write the last line, and return the digest that is in it."""
        digest = self._digest.hexdigest()
        self._write(End(files=self.files, sha256=digest, is_whole=True))
        return digest

    def _write(self, line: _Line) -> None:
        data = json.dumps(line.model_dump()).encode() + b"\n"
        self._digest.update(data)
        self._file.write(data)


class ManifestReader:
    """Reads an untrusted manifest; ``digest``, that of its last line, is "" until all lines were read."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file, self._where, self._digest = file, where, sha256()
        self._line_number = 0
        self.digest = ""
        self.head = self._parsed(Head, self._next())
        if self.head.arena_backup != FORM:
            raise UsageError(
                f"{where}: arena_backup = {self.head.arena_backup}: this arena reads version {FORM};"
                " a newer arena is needed"
            )

    def files(self) -> Iterator[KeptFile]:
        """Yield the files, or raise UsageError at a malformed line; after the last one the manifest was whole."""
        before = self._digest.hexdigest()
        line, count = self._next(), 0
        while not line.startswith(b'{"files"'):
            yield self._parsed(KeptFile, line)
            count += 1
            if count > MAX_FILES:
                raise UsageError(f"{self._where}: more than {MAX_FILES:,} files")
            before, line = self._digest.hexdigest(), self._next()
        end = self._parsed(End, line)
        if end.sha256 != before or end.files != count:
            raise UsageError(f"{self._where}: it was changed after it was written, or is damaged")
        if self._file.read(1):
            raise UsageError(f"{self._where}: there is something after its last line")
        self.digest = end.sha256

    def _next(self) -> bytes:
        line = self._file.readline(MAX_LINE_BYTES)
        self._line_number += 1
        if not line.endswith(b"\n"):
            problem = f"line {self._line_number} is too long" if len(line) == MAX_LINE_BYTES else "its end is missing"
            raise UsageError(f"{self._where}: {problem}; this is not the manifest of a whole backup")
        self._digest.update(line)
        return line

    def _parsed(self, kind: type[OneLine], line: bytes) -> OneLine:
        location = f"{self._where}: line {self._line_number}"
        return check_json(kind, line, f"{location}: this is not the manifest of a backup")
