"""Writing a folder all at once: next to its place first, so that whatever happens, nothing is half there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.site.publish.folder_reader import FolderReader
from arena.site.publish.manifest import END, MANIFEST, FileEntry, Manifest, head_of, line_of
from arena.site.publish.signature import PUBLIC_KEY, SIGNATURE, SigningKey


class FolderWriter:
    """Writes the files of a folder, and its manifest.

    Attributes:
        files: how many have been written.
        size_bytes: their size together.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.files = self.size_bytes = 0
        self._directory = directory
        self._made: set[Path] = set()
        self._manifest = (directory / MANIFEST).open("x", encoding="utf-8", newline="\n")
        self._manifest.write(head_of(manifest))

    def write(self, path: str, content: Iterable[bytes]) -> None:
        """Write a file.

        Args:
            path: from the folder, with "/".
            content: its bytes, piece by piece.
        """
        place = self._directory / path
        if place.parent not in self._made:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(place.parent)
        digest, size_bytes = sha256(), 0
        with place.open("xb") as file:
            for piece in content:
                size_bytes += file.write(piece)
                digest.update(piece)
        line = line_of(path, FileEntry(bytes=size_bytes, sha256=digest.hexdigest()))
        self._manifest.write(f",{line}" if self.files else line)
        self.files += 1
        self.size_bytes += size_bytes

    def finish(self, key: SigningKey | None = None) -> None:
        """Write the end of the manifest, and sign it.

        Args:
            key: what it is signed with; None for no signature.
        """
        self._manifest.write(END)
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
        out: its place, where nothing is, an empty directory, or a folder that was written like this.
        manifest: of the folder, without files.
        key: what the manifest is signed with; None for no signature.

    Raises:
        UsageError: if something else is there, or it can't be written.
    """
    try:
        out = out.resolve()
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
    """Put a directory in the place of another."""
    is_there = out.exists()
    if is_there:
        out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        if is_there:
            old.rename(out)
        raise
    if is_there:
        shutil.rmtree(old, ignore_errors=True)
