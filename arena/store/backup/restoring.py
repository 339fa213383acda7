"""Makes a home from a backup, where none is yet. What the backup says is not believed before it has been checked."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from arena.base import known_server
from arena.base.errors import StoreError, UsageError
from arena.base.text import shortened_text
from arena.sandbox.isolation.removal import remove_tree
from arena.store.backup.contents import DATABASES, PEOPLE, RESULTS, TREES, Tree, hidden_databases
from arena.store.backup.disk import REMOVAL_SECONDS, require_space
from arena.store.backup.manifest import KeptFile
from arena.store.backup.reading import BackupReader
from arena.store.people.people_store import PeopleStore
from arena.store.results.connection import reason_of, shown_url
from arena.store.results.foreign import check_copy
from arena.store.results.store import Store

STAGING = "restoring-"
"""How the name of the directory in the new home begins in which it is made."""

_PRIVATE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Target:
    """Where a home is restored.

    Attributes:
        directory: of the home; nothing is there, or an empty directory.
        store: the URL of an empty PostgreSQL database for the results; None for a file in the home.
        people: the same for people.
    """

    directory: Path
    store: str | None = None
    people: str | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """A home that was restored.

    Attributes:
        files: how many came from the backup.
        made_at: when the backup was made.
        has_people: whether it has a database of people.
        digest: of the backup's manifest.
    """

    files: int
    made_at: str
    has_people: bool
    digest: str


def restore_backup(backup: Path, target: Target, expected_digest: str | None = None) -> Restored:
    """Make a home from a backup: all of it, or nothing.

    Args:
        backup: the folder.
        target: where.
        expected_digest: of its manifest, as it was said when the backup was made; None to take any.

    Raises:
        UsageError: if a home or something else is there, the backup is not whole, or not the expected one.
        StoreError: if a database in it is damaged or hostile, or a server is not empty.
    """
    shown = f"home {shortened_text(str(target.directory))!r}"
    with BackupReader(backup) as reader:
        try:
            directory = target.directory.resolve()
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
        except OSError as error:
            raise UsageError(f"{shown}: can't be written: {error.strerror or error}") from error
        return Restored(files, reader.head.made_at, has_people, reader.digest)


def _require_empty(directory: Path, shown: str) -> None:
    if not os.path.lexists(directory):
        return
    if not directory.is_dir():
        raise UsageError(f"{shown}: expected an empty directory, or nothing there")
    found = min((path.name for path in directory.iterdir()), default=None)
    if found is not None:
        what = f"it has {shortened_text(found)!r}"
        rest = "; a restore has been interrupted there, remove it" if found.startswith(STAGING) else ""
        raise UsageError(f"{shown}: {what}; a backup is only restored into an empty directory{rest}")


def _take_files(reader: BackupReader, staging: Path) -> int:
    count = 0
    for kept in reader.files():
        require_space(staging, kept.bytes)
        path = staging / kept.path
        tree = TREES.get(kept.path.split("/")[0])
        if tree is not None:
            _make_directories(staging, path.parent, tree)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_MODE)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise UsageError(f"file {kept.path[:80]!r}: the backup names it twice, or as a directory too") from error
        with os.fdopen(descriptor, "wb") as file:
            reader.copy(kept, file.write)
            os.fchmod(file.fileno(), _mode_of(kept, tree))
        count += 1
    return count


def _make_directories(staging: Path, directory: Path, tree: Tree) -> None:
    if directory.is_dir():
        return
    for part in reversed([directory, *directory.parents]):
        if part != staging and part.is_relative_to(staging) and not part.is_dir():
            try:
                part.mkdir()
            except FileExistsError as error:
                raise UsageError(f"{part.relative_to(staging)}: the backup has it as a file and a directory") from error
            part.chmod(tree.directory_mode)


def _mode_of(kept: KeptFile, tree: Tree | None) -> int:
    if tree is None:
        return _PRIVATE_MODE
    return tree.program_mode if kept.is_program else tree.file_mode


def _take_databases(staging: Path, backup: Path, target: Target) -> bool:
    """Check the databases, and bring them up to date; load into servers what belongs there."""
    has_people = (staging / PEOPLE).exists()
    for name in (*DATABASES, *hidden_databases(staging)):
        if (staging / name).exists():
            if not (staging / name).stat().st_size:  # SQLite takes it for a new one
                raise StoreError(f"{backup / name}: {reason_of('malformed')}")
            check_copy(staging / name, backup / name)
    for name in hidden_databases(staging):
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
    for name, server, what in servers:
        if server is not None:
            (staging / name).unlink()
            known_server.note_server(staging, what, shown_url(server))
    return has_people


def _put_into_place(staging: Path, directory: Path) -> None:
    """Move everything out of the staging directory, the databases last: a home without them is not used."""
    for path in sorted(staging.iterdir(), key=lambda path: (path.name.startswith(DATABASES), path.name)):
        path.rename(directory / path.name)
