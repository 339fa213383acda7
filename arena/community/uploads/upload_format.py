"""How something is handed in: a zip, a tar, or a single file, by its name."""

from __future__ import annotations

from dataclasses import dataclass

from arena.community.uploads.bounds import RefusedError
from arena.community.uploads.compression import BZIP2, COMPRESSIONS, GZIP, XZ, Compression
from arena.community.uploads.upload_file import UploadFile

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_START_BYTES = 262


@dataclass(frozen=True, slots=True)
class ArchiveFormat:
    """A format of archives.

    Attributes:
        name: as it stands in a sentence.
        suffixes: what the name of an upload ends with.
        compression: of a tar that is compressed.
    """

    name: str
    suffixes: tuple[str, ...]
    compression: Compression | None = None


ZIP = ArchiveFormat("a zip", (".zip",))
FORMATS = (
    ZIP,
    ArchiveFormat("a tar", (".tar",)),
    ArchiveFormat("a tar in gzip", (".tar.gz", ".tgz"), GZIP),
    ArchiveFormat("a tar in xz", (".tar.xz", ".txz"), XZ),
    ArchiveFormat("a tar in bzip2", (".tar.bz2", ".tbz2"), BZIP2),
)
SUFFIXES = tuple(suffix for known in FORMATS for suffix in known.suffixes)


def format_by_name(name: str) -> ArchiveFormat | None:
    """Return the format that a name stands for; None if it is not the name of an archive."""
    return next((known for known in FORMATS if name.lower().endswith(known.suffixes)), None)


def check_start(file: UploadFile, expected: ArchiveFormat) -> None:
    """Raise RefusedError unless an upload begins as its format does."""
    start = file.read_at(0, min(_START_BYTES, file.size_bytes))
    found = _format_by_start(start)
    if found != expected.name and not (found in ("gzip", "xz", "bzip2") and expected.name == f"a tar in {found}"):
        what = found or (f"it begins with {start[:8]!r}" if start else "an empty file")
        raise RefusedError(f"{what}; expected {expected.name}, as its name says")


def _format_by_start(start: bytes) -> str:
    if start.startswith(_ZIP_STARTS):
        return ZIP.name
    if start[257:262] == b"ustar":
        return "a tar"
    return next((known.name for known in COMPRESSIONS if start.startswith(known.start)), "")
