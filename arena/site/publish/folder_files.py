"""The files of a published folder: their manifest, reading within bounds, and writing all at once."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field

from arena.base.checked_files import check_json
from arena.base.errors import UsageError, failing_as
from arena.base.folder import Folder
from arena.base.text import shortened_text, size_text
from arena.base.version import __version__
from arena.site.publish.signature import MAX_KEY_BYTES, PUBLIC_KEY, SIGNATURE, SIGNATURE_BYTES, SigningKey

MANIFEST = "manifest.json"
FORM = 1
MAX_MANIFEST_BYTES = 64 * 2**20
"""Half a million files; reading them takes ten times as much memory."""

Count = Annotated[int, Ge(0), Le(2**53)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileEntry(_Part):
    """A file."""

    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PublishedTournament(_Part):
    """A tournament in the folder; ``records`` is the file that ``arena tournament export --whole`` prints."""

    name: str
    records: str


class Manifest(_Part):
    """The contents of a folder.

    Attributes:
        arena_folder: the version of the form of the folder.
        arena: the version of the arena that has made it.
        max_matches: how many matches of each tournament have a page, at most; None for all.
        files: by path, without the manifest itself.
    """

    arena_folder: int
    arena: str
    max_matches: Count | None
    tournaments: tuple[PublishedTournament, ...]
    files: Mapping[str, FileEntry]

    @property
    def is_of_this_version(self) -> bool:
        """Whether this version of the arena has made the folder."""
        return self.arena == __version__


def read_manifest(data: bytes, where: str) -> Manifest:
    """Read an untrusted manifest of at most ``MAX_MANIFEST_BYTES``; ``where`` is the file, for messages.

    Raises:
        UsageError: if it is not the manifest of a published folder.
    """
    complaint = f"{where}: this is not the manifest of a published folder"
    manifest = check_json(Manifest, data, complaint)
    if len({tournament.records for tournament in manifest.tournaments}) != len(manifest.tournaments):
        raise UsageError(f"{complaint}: two tournaments have the same records")
    if manifest.arena_folder != FORM:
        raise UsageError(
            f"{where}: arena_folder = {manifest.arena_folder}: this arena reads version {FORM}; a newer arena is needed"
        )
    return manifest


# A published folder may be hostile, so every read is bounded.

PIECE_BYTES = 2**20


class Signature(NamedTuple):
    """The signature of the manifest, and the public key in PEM; each is empty if it is missing."""

    signature: bytes
    key: bytes


class FolderReader(Folder):
    """The files of a published folder. A context manager."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._where = f"{self.shown}/{MANIFEST}"

    def manifest(self) -> Manifest:
        """Read the manifest; UsageError if it is missing or malformed."""
        return read_manifest(self.manifest_bytes(), self._where)

    def manifest_bytes(self) -> bytes:
        """Return the bytes of the manifest; UsageError if it is missing or too long."""
        with failing_as(UsageError, f"{self._where}: can't be read"), self.open(MANIFEST) as file:
            if os.fstat(file.fileno()).st_size > MAX_MANIFEST_BYTES:
                raise UsageError(f"{self._where}: it is longer than {size_text(MAX_MANIFEST_BYTES)}")
            return file.read(MAX_MANIFEST_BYTES)

    def signature(self) -> Signature | None:
        """Return the signature and the key beside the manifest, unchecked; None if there is neither."""
        pieces = []
        for name, size_bytes in ((SIGNATURE, SIGNATURE_BYTES + 1), (PUBLIC_KEY, MAX_KEY_BYTES)):
            try:
                with self.open(name) as file:
                    pieces.append(file.read(size_bytes))
            except FileNotFoundError:
                pieces.append(b"")
            except OSError as error:
                raise UsageError(f"{self.shown}/{name}: can't be read: {error.strerror or error}") from error
        return Signature(*pieces) if any(pieces) else None

    def problem_of(self, path: str, entry: FileEntry) -> str | None:
        """Return what is wrong with a file, as the end of a sentence; None if it is as the manifest says."""
        try:
            with self.open(path) as file:
                if (size_bytes := os.fstat(file.fileno()).st_size) != entry.bytes:
                    return f"it has {size_bytes:,} bytes, but the manifest says {entry.bytes:,}"
                digest = sha256()
                while piece := file.read(PIECE_BYTES):
                    digest.update(piece)
        except FileNotFoundError:
            return "it is missing"
        except (OSError, ValueError) as error:
            return f"it can't be read: {getattr(error, 'strerror', None) or error}"
        return None if digest.hexdigest() == entry.sha256 else "its digest is not that of the manifest"


# A folder is written next to its place first and then moved, so that it is never incomplete.


class FolderWriter:
    """Writes the files of a folder, and its manifest."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.files = self.size_bytes = 0
        self._directory = directory
        self._directories_made: set[Path] = set()
        self._manifest = (directory / MANIFEST).open("x", encoding="utf-8", newline="\n")
        head = manifest.model_dump(mode="json", exclude={"files"})
        self._manifest.write(f'{json.dumps(head, indent=1)[:-2]},\n "files": {{')

    def write(self, path: str, content: Iterable[bytes]) -> None:
        """Write a file; its path has "/" and begins at the folder."""
        file_path = self._directory / path
        if file_path.parent not in self._directories_made:
            file_path.parent.mkdir(parents=True, exist_ok=True)
            self._directories_made.add(file_path.parent)
        digest, size_bytes = sha256(), 0
        with file_path.open("xb") as file:
            for piece in content:
                size_bytes += file.write(piece)
                digest.update(piece)
        entry = json.dumps({"bytes": size_bytes, "sha256": digest.hexdigest()})
        self._manifest.write(f"{',' if self.files else ''}\n  {json.dumps(path)}: {entry}")
        self.files += 1
        self.size_bytes += size_bytes

    def finish(self, key: SigningKey | None = None) -> None:
        """Write the end of the manifest, and sign it with the key if there is one."""
        self._manifest.write("\n }\n}\n")
        self._manifest.close()
        if key is not None:
            signature = key.sign((self._directory / MANIFEST).read_bytes())
            (self._directory / SIGNATURE).write_bytes(signature)
            (self._directory / PUBLIC_KEY).write_bytes(key.public.pem)

    def close(self) -> None:
        """Close the manifest."""
        self._manifest.close()


@contextmanager
def new_folder(out: Path, manifest: Manifest, key: SigningKey | None = None) -> Iterator[FolderWriter]:
    """Write a folder, and put it into its place if nothing was raised; else nothing is changed.

    Args:
        out: its place: nothing, an empty directory, or a folder that was written like this.
        manifest: of the folder, without files.
        key: signs the manifest; None for no signature.

    Raises:
        UsageError: if something else is there, or it is not writable.
    """
    try:
        out = Path(os.path.realpath(out))  # also of a link to itself
        require_replaceable(out)
        with tempfile.TemporaryDirectory(prefix=f".{out.name[:40]}.", dir=out.parent) as beside:
            new = Path(beside, "new")
            new.mkdir()
            writer = FolderWriter(new, manifest)
            try:
                yield writer
                writer.finish(key)
            finally:
                writer.close()
            _replace(out, new, Path(beside, "old"))
    except OSError as error:
        raise UsageError(f"OUT {shortened_text(str(out))!r}: can't be written: {error.strerror or error}") from error


def require_replaceable(out: Path) -> None:
    """Raise UsageError unless a folder may be put there."""
    if not os.path.lexists(out):
        if not out.parent.is_dir():
            raise UsageError(f"OUT {shortened_text(str(out))!r}: there is no directory {str(out.parent)!r}")
        return
    if not out.is_dir():
        raise UsageError(f"OUT {shortened_text(str(out))!r}: expected a directory, or nothing there")
    if next(out.iterdir(), None) is not None:
        try:
            with FolderReader(out) as folder:
                folder.manifest()
        except UsageError as error:
            raise UsageError(
                f"OUT {shortened_text(str(out))!r}: it has files that arena publish has not made, and stays as it is;"
                " name another directory"
            ) from error


def _replace(out: Path, new: Path, old: Path) -> None:
    has_old = out.exists()
    if has_old:
        out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        if has_old:
            old.rename(out)
        raise
    if has_old:
        shutil.rmtree(old, ignore_errors=True)
