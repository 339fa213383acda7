"""Restores a home from an untrusted backup."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from arena.base import known_server
from arena.base.errors import StoreError, UsageError, failing_as
from arena.base.folder import Folder
from arena.base.text import shortened_text
from arena.sandbox.isolation.removal import remove_tree
from arena.store.backup.contents import (
    DATABASES,
    MANIFEST,
    MAX_DEPTH,
    PEOPLE,
    REMOVAL_SECONDS,
    RESULTS,
    TREES,
    Head,
    KeptFile,
    ManifestReader,
    Tree,
    copy_pieces,
    embargoed_databases,
    is_beside_database,
    make_directories,
    require_space,
)
from arena.store.people.people_store import PeopleStore
from arena.store.results.addition import check_copy
from arena.store.results.connection import reason_of, shown_url
from arena.store.results.store import Store

# Reads an untrusted backup: only files that its manifest names, and only if they are as the manifest says.

MAX_NAME_BYTES = 255

Write = Callable[[bytes], object]


class BackupReader:
    """A backup. A context manager."""

    def __init__(self, directory: Path) -> None:
        with ExitStack() as opened:
            self._folder = opened.enter_context(Folder(directory))
            self._where = f"{self._folder.shown}/{MANIFEST}"
            with failing_as(UsageError, f"{self._folder.shown}: this is no backup: {MANIFEST} can't be read"):
                file = opened.enter_context(self._folder.open(MANIFEST))
            self._manifest = ManifestReader(file, self._where)
            self._opened = opened.pop_all()

    def __enter__(self) -> BackupReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def head(self) -> Head:
        """The first line of the manifest: when the backup was made, and by which version of the arena."""
        return self._manifest.head

    @property
    def digest(self) -> str:
        """The digest of the manifest; "" until all files were read."""
        return self._manifest.digest

    def files(self) -> Iterator[KeptFile]:
        """Yield the files of the manifest; UsageError if it is malformed, not whole, or names what no backup has."""
        has_results = False
        for file in self._manifest.files():
            problem = _problem_of(file.path)
            if problem is not None:
                raise UsageError(f"{self._where}: file {file.path[:80]!r}: {problem}")
            has_results |= file.path == RESULTS
            yield file
        if not has_results:
            raise UsageError(f"{self._where}: it names no {RESULTS}; expected the backup of a home")

    def copy(self, listed: KeptFile, write: Write = lambda _: None) -> None:
        """Write a file piece by piece, and no more of it than the manifest says."""
        where = f"{self._folder.shown}/{listed.path}"
        try:
            file = self._folder.open(listed.path)
        except (OSError, ValueError) as error:
            raise UsageError(f"{where}: can't be read: {getattr(error, 'strerror', None) or error}") from error

        def read(size_bytes: int) -> bytes:
            with failing_as(UsageError, f"{where}: can't be read"):
                return file.read(size_bytes)

        with file:
            size_bytes, digest = copy_pieces(read, listed.bytes, write)
            if size_bytes < listed.bytes or read(1):
                raise UsageError(
                    f"{where}: it is {'shorter' if size_bytes < listed.bytes else 'longer'} than the manifest says"
                )
        if digest != listed.sha256:
            raise UsageError(f"{where}: its digest is not that of the manifest")


def _problem_of(path: str) -> str | None:
    if path in DATABASES:
        return None
    names = path.split("/")
    if names[0] not in TREES or len(names) == 1:
        return "a backup has no such file"
    if len(names) > MAX_DEPTH + 1:
        return f"it is more than {MAX_DEPTH} directories deep"
    try:
        longest = max(len(name.encode()) for name in names)
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if longest > MAX_NAME_BYTES or not {"", ".", ".."}.isdisjoint(names) or "\0" in path:
        return "this is no path below a home"
    if is_beside_database(path):
        return "a contest has one database, and nothing of it beside"
    return None


def verify_backup(directory: Path) -> tuple[int, int, str]:
    """Read a whole backup, and return its number of files and bytes, and its manifest's digest."""
    files = size_bytes = 0
    with BackupReader(directory) as backup:
        for file in backup.files():
            backup.copy(file)
            files += 1
            size_bytes += file.bytes
        return files, size_bytes, backup.digest


# Makes a home from a backup in a new or empty directory, and checks everything in the backup before using it.

STAGING = "restoring-"
"""Prefix of the directory in the new home in which the files are collected first."""

_PRIVATE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Target:
    """Where a home is restored: a new or empty directory, and empty databases on servers, None for files."""

    directory: Path
    store: str | None = None
    people: str | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored home; ``digest`` is that of the backup's manifest."""

    files: int
    made_at: str
    has_people: bool
    digest: str


def restore_backup(backup: Path, target: Target, expected_digest: str | None = None) -> Restored:
    """Make a home from a backup: all of it, or nothing.

    ``expected_digest`` is that of the manifest, as ``arena home backup`` printed it; None to take any.
    """
    shown = f"home {shortened_text(str(target.directory))!r}"
    with BackupReader(backup) as reader:
        with failing_as(UsageError, f"{shown}: can't be written"):
            directory = Path(os.path.realpath(target.directory))  # also of a link to itself
            _require_empty(directory, shown)
            directory.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=directory))
            try:
                files = _take_files(reader, staging)
                if expected_digest not in (None, reader.digest):
                    raise UsageError(
                        f"{shortened_text(str(backup))}: the digest of its manifest is {reader.digest}; expected"
                        f" {expected_digest}"
                    )
                has_people = _take_databases(staging, backup, target)
                _put_into_place(staging, directory)
            finally:
                remove_tree(str(staging), REMOVAL_SECONDS)
        return Restored(files, reader.head.made_at, has_people, reader.digest)


def _require_empty(directory: Path, shown: str) -> None:
    if not os.path.lexists(directory):
        return
    if not directory.is_dir():
        raise UsageError(f"{shown}: expected an empty directory, or nothing there")
    entry = min((path.name for path in directory.iterdir()), default=None)
    if entry is not None:
        problem = f"it has {shortened_text(entry)!r}"
        advice = "; a restore has been interrupted there, remove it" if entry.startswith(STAGING) else ""
        raise UsageError(f"{shown}: {problem}; a backup is only restored into an empty directory{advice}")


def _take_files(reader: BackupReader, staging: Path) -> int:
    count = 0
    for listed in reader.files():
        require_space(staging, listed.bytes)
        path = staging / listed.path
        tree = TREES.get(listed.path.split("/")[0])
        if tree is not None:
            make_directories(staging, path.parent, tree)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_MODE)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise UsageError(f"file {listed.path[:80]!r}: the backup names it twice, or as a directory too") from error
        with os.fdopen(descriptor, "wb") as file:
            reader.copy(listed, file.write)
            os.fchmod(file.fileno(), _mode_of(listed, tree))
        count += 1
    return count


def _mode_of(file: KeptFile, tree: Tree | None) -> int:
    if tree is None:
        return _PRIVATE_MODE
    return tree.program_mode if file.is_program else tree.file_mode


def _take_databases(staging: Path, backup: Path, target: Target) -> bool:
    has_people = (staging / PEOPLE).exists()
    for name in (*DATABASES, *embargoed_databases(staging)):
        if (staging / name).exists():
            if not (staging / name).stat().st_size:  # SQLite takes it for a new one
                raise StoreError(f"{backup / name}: {reason_of('malformed')}")
            check_copy(staging / name, backup / name)
    for name in embargoed_databases(staging):
        Store(staging / name).close()
    with closing(Store(staging / RESULTS)) as results:
        if target.store is not None:
            results.fill(target.store)
    if has_people:
        with PeopleStore(staging / PEOPLE) as people:
            if target.people is not None:
                people.fill(target.people)
    servers = (
        (RESULTS, target.store, known_server.RESULTS),
        (PEOPLE, target.people if has_people else None, known_server.PEOPLE),
    )
    for name, server, contents in servers:
        if server is not None:
            (staging / name).unlink()
            known_server.note_server(staging, contents, shown_url(server))
    return has_people


def _put_into_place(staging: Path, directory: Path) -> None:
    """Move everything out of the staging directory, the databases last: a home without them is not used."""
    for path in sorted(staging.iterdir(), key=lambda path: (path.name.startswith(DATABASES), path.name)):
        path.rename(directory / path.name)
