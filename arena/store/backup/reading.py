"""Reads a backup that may have been made to do harm: only what its manifest names, if it is as the manifest says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.folder import Folder
from arena.store.backup.contents import DATABASES, MAX_DEPTH, RESULTS, TREES, is_beside_database
from arena.store.backup.disk import PIECE_BYTES
from arena.store.backup.manifest import MANIFEST, Head, KeptFile, ManifestReader

MAX_NAME_BYTES = 255

Write = Callable[[bytes], object]


class BackupReader:
    """A backup. A context manager."""

    def __init__(self, directory: Path) -> None:
        """Open a backup.

        Raises:
            UsageError: if it is not one.
        """
        self._folder = Folder(directory)
        try:
            self._where = f"{self._folder.shown}/{MANIFEST}"
            try:
                file = self._folder.open(MANIFEST)
            except OSError as error:
                raise UsageError(
                    f"{self._folder.shown}: this is no backup: {MANIFEST} can't be read: {error.strerror or error}"
                ) from error
            self._file = file
            try:
                self._manifest = ManifestReader(file, self._where)
            except BaseException:
                file.close()
                raise
        except BaseException:
            self._folder.close()
            raise

    def __enter__(self) -> BackupReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._folder.close()

    @property
    def head(self) -> Head:
        """When it was made, and by which arena."""
        return self._manifest.head

    @property
    def digest(self) -> str:
        """The digest of the manifest; "" until all files were read."""
        return self._manifest.digest

    def files(self) -> Iterator[KeptFile]:
        """Yield the files that the manifest names; when all have been yielded, it was whole.

        Raises:
            UsageError: if the manifest is malformed, or names what no backup has.
        """
        has_results = False
        for kept in self._manifest.files():
            problem = _problem_of(kept.path)
            if problem is not None:
                raise UsageError(f"{self._where}: file {kept.path[:80]!r}: {problem}")
            has_results |= kept.path == RESULTS
            yield kept
        if not has_results:
            raise UsageError(f"{self._where}: it names no {RESULTS}; expected the backup of a home")

    def copy(self, kept: KeptFile, write: Write = lambda _: None) -> None:
        """Read a file, and no more of it than the manifest says.

        Args:
            kept: which.
            write: takes its content, piece by piece.

        Raises:
            UsageError: if it is missing, no ordinary file, or not what the manifest says.
        """
        where = f"{self._folder.shown}/{kept.path}"
        digest, left = sha256(), kept.bytes
        try:
            file = self._folder.open(kept.path)
        except (OSError, ValueError) as error:
            raise UsageError(f"{where}: can't be read: {getattr(error, 'strerror', None) or error}") from error
        with file:
            while left > 0 and (piece := _read(file.read, min(PIECE_BYTES, left), where)):
                left -= len(piece)
                digest.update(piece)
                write(piece)
            if left or _read(file.read, 1, where):
                raise UsageError(f"{where}: it is {'shorter' if left else 'longer'} than the manifest says")
        if digest.hexdigest() != kept.sha256:
            raise UsageError(f"{where}: its digest is not that of the manifest")


def _read(read: Callable[[int], bytes], size_bytes: int, where: str) -> bytes:
    try:
        return read(size_bytes)
    except OSError as error:
        raise UsageError(f"{where}: can't be read: {error.strerror}") from error


def _problem_of(path: str) -> str | None:
    """Return why a home can't have a file at a path; None if it can."""
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
    """Read a whole backup, and return how many files and bytes it has, and the digest of its manifest.

    Raises:
        UsageError: if something is missing, damaged, or not what a backup has.
    """
    files = size_bytes = 0
    with BackupReader(directory) as backup:
        for kept in backup.files():
            backup.copy(kept)
            files += 1
            size_bytes += kept.bytes
        return files, size_bytes, backup.digest
