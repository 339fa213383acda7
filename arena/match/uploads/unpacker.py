"""The formats of uploads by their names, and the program that unpacks an upload in a sandbox."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from arena.base.records import MEBIBYTE
from arena.match.uploads.entry import RejectedError, TreeWriter, UnpackLimits
from arena.match.uploads.tar_reader import tar_entries
from arena.match.uploads.upload_file import BZIP2, COMPRESSIONS, GZIP, XZ, Compression, UploadFile
from arena.match.uploads.zip_reader import zip_entries

# The format of an upload, by its name: a zip, a tar, or a single file.

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_START_BYTES = 262


@dataclass(frozen=True, slots=True)
class ArchiveFormat:
    """A format of archives, by the endings of their names."""

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
    """Raise RejectedError unless an upload begins as its format does."""
    start = file.read_at(0, min(_START_BYTES, file.size_bytes))
    found = _format_by_start(start)
    if found != expected.name and not (found in ("gzip", "xz", "bzip2") and expected.name == f"a tar in {found}"):
        what = found or (f"it begins with {_shown(start[:8])}" if start else "an empty file")
        raise RejectedError(f"{what}; expected {expected.name}, as its name says")


def _shown(start: bytes) -> str:
    """Return the first bytes of an upload as text, or as hexadecimal digits if they are no plain text."""
    if start.isascii() and start.decode("ascii").isprintable():
        return f"the text {start.decode('ascii')!r}"
    return f"the bytes {start.hex(' ')}"


def _format_by_start(start: bytes) -> str:
    if start.startswith(_ZIP_STARTS):
        return ZIP.name
    if start[257:262] == b"ustar":
        return "a tar"
    return next((known.name for known in COMPRESSIONS if start.startswith(known.start)), "")


# The program that unpacks an archive in a sandbox: its stdin is the upload, and it writes below $HOME.


TREE = "tree"
"""The directory below its scratch directory to which it writes."""

MEMORY_BYTES = 160 * MEBIBYTE
"""Its limit in addition to the files that it writes, which may be in memory too."""


def unpack_below(descriptor: int, archive_format: ArchiveFormat, directory: Path, limits: UnpackLimits) -> None:
    """Unpack an open archive into a directory that exists; raise RejectedError or OSError."""
    file = UploadFile(descriptor)
    check_start(file, archive_format)
    writer = TreeWriter(directory, limits)
    is_zip = archive_format is ZIP
    for entry in zip_entries(file, limits) if is_zip else tar_entries(file, archive_format.compression, limits):
        writer.write(entry)
    if not writer.files:
        raise RejectedError("there is no file in it; expected the files of a bot")


def main() -> None:
    """Unpack stdin as the arguments say, answer, and wait."""
    suffix, settings = sys.argv[1:]
    limits = UnpackLimits(**json.loads(settings))
    # on a slow machine, starting Python takes seconds of CPU time, which no upload has used
    _lower(resource.RLIMIT_CPU, int(time.process_time()) + limits.cpu_seconds)
    _lower(resource.RLIMIT_DATA, MEMORY_BYTES)
    tree = Path(os.environ["HOME"], TREE)
    tree.mkdir(0o700)
    answer = {}
    try:
        unpack_below(0, next(known for known in FORMATS if suffix in known.suffixes), tree, limits)
    except RejectedError as error:
        answer = {"refused": str(error)}
    except OSError as error:
        answer = {"failed": error.strerror or "an input or output error"}
    except MemoryError:
        answer = {"refused": "unpacking it takes more memory than is allowed; expected less"}
    os.write(1, json.dumps(answer).encode() + b"\n")
    while True:
        signal.pause()


def _lower(limit: int, value: int) -> None:
    """Lower a limit of this process, also at isolation levels that set none."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
