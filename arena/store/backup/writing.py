"""Makes a backup of a home that is in use: in a temporary folder first, so that nobody finds half a backup."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import UsageError, failing_as
from arena.base.folder import Folder
from arena.base.text import shortened_text
from arena.sandbox.isolation.removal import remove_tree
from arena.store.backup.contents import (
    LOGS,
    MANIFEST,
    PEOPLE,
    PRIVATE,
    REMOVAL_SECONDS,
    RESULTS,
    TREES,
    KeptFile,
    ManifestWriter,
    copy_pieces,
    embargoed_databases,
    make_directories,
    other_entries,
    require_space,
    tree_files,
)
from arena.store.home import ArenaHome, has_people, open_people
from arena.store.results.values import utc_now
from arena.store.results.whole_database import copy_file


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made; ``left_out`` are the entries of the home that the arena does not know."""

    files: int
    size_bytes: int
    digest: str
    left_out: tuple[str, ...]


def make_backup(home: ArenaHome, out: Path, *, with_logs: bool = False) -> Backup:
    """Write a home into a new folder that only its owner can read, while others use it: all of it, or nothing."""
    shown = f"OUT {shortened_text(str(out))!r}"
    out = out.absolute()
    if os.path.lexists(out):
        raise UsageError(f"{shown}: something is there already; expected the name of a new folder")
    if not out.parent.is_dir():
        raise UsageError(f"{shown}: there is no directory {str(out.parent)!r}")
    with failing_as(UsageError, f"{shown}: can't be written"):
        staging = tempfile.mkdtemp(prefix=f".{out.name[:40]}.", dir=out.parent)  # only its owner can enter
        try:
            backup = _write(home, Path(staging), with_logs)
            Path(staging).rename(out)  # fails if something is there by now, other than an empty directory
        finally:
            remove_tree(staging, REMOVAL_SECONDS)
    return backup


def _write(home: ArenaHome, folder: Path, with_logs: bool) -> Backup:
    with os.fdopen(_created(folder / MANIFEST), "wb") as file:
        manifest = ManifestWriter(file, utc_now())
        for name in _copy_databases(home, folder):
            manifest.add(_measured(folder, name))
        for tree in TREES:
            if tree != LOGS or with_logs:
                _copy_tree(home.directory, tree_files(home.directory, tree), folder, manifest)
        digest = manifest.finish()
        file.flush()
        os.fsync(file.fileno())
    return Backup(manifest.files, manifest.size_bytes, digest, tuple(other_entries(home.directory)))


def _copy_databases(home: ArenaHome, folder: Path) -> list[str]:
    copied = []
    if has_people(home.directory):
        _require_space_for(home.directory / PEOPLE, folder)
        with open_people(home.directory) as people:
            people.write_copy(_new_file(folder / PEOPLE))
        copied.append(PEOPLE)
    for name in embargoed_databases(home.directory):
        _require_space_for(home.directory / name, folder)
        make_directories(folder, (folder / name).parent, PRIVATE)
        if copy_file(home.directory / name, _new_file(folder / name)):
            copied.append(name)
    _require_space_for(home.directory / RESULTS, folder)
    home.store.write_copy(_new_file(folder / RESULTS))
    return [*copied, RESULTS]


def _require_space_for(database: Path, folder: Path) -> None:
    if database.exists():  # else it is on a server
        require_space(folder, database.stat().st_size)


def _new_file(path: Path) -> Path:
    os.close(_created(path))
    return path


def _created(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)


def _measured(folder: Path, name: str) -> KeptFile:
    with (folder / name).open("rb") as file:
        size_bytes, digest = copy_pieces(file.read, os.fstat(file.fileno()).st_size, lambda _: None)
        os.fsync(file.fileno())
    return KeptFile(path=name, bytes=size_bytes, sha256=digest, is_program=False)


def _copy_tree(home: Path, paths: Iterable[str], folder: Path, manifest: ManifestWriter) -> None:
    with Folder(home) as source:
        for path in paths:
            target = folder / path
            make_directories(folder, target.parent, PRIVATE)
            try:
                manifest.add(_copied(source, path, target))
            except FileNotFoundError:  # removed meanwhile
                continue


def _copied(source: Folder, path: str, target: Path) -> KeptFile:
    """Copy a file up to its present length: a log may grow meanwhile."""
    with source.open(path) as file:
        status = os.fstat(file.fileno())
        require_space(target.parent, status.st_size)
        with os.fdopen(_created(target), "wb") as copy:
            size_bytes, digest = copy_pieces(file.read, status.st_size, copy.write)
    return KeptFile(path=path, bytes=size_bytes, sha256=digest, is_program=bool(status.st_mode & 0o100))
