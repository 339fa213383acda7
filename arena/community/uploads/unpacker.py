"""The program that unpacks an archive in a sandbox: its stdin is the upload, and it writes below $HOME.

Its answer is one line of JSON. It then waits to be killed, so that its files stay until the arena has copied them: they
may be on a file system that ends with it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

from arena.base.records import MEBIBYTE
from arena.community.uploads.entry import RejectedError, TreeWriter, UnpackLimits
from arena.community.uploads.upload_file import FORMATS, ZIP, ArchiveFormat, UploadFile, check_start

TREE = "tree"
"""The directory below its scratch directory to which it writes."""

MEMORY_BYTES = 160 * MEBIBYTE
"""Its limit in addition to the files that it writes, which may be in memory too."""


def unpack_below(descriptor: int, archive_format: ArchiveFormat, directory: Path, limits: UnpackLimits) -> None:
    """Unpack an open archive into a directory that exists; raise RejectedError or OSError."""
    from arena.community.uploads.tar_reader import tar_entries
    from arena.community.uploads.zip_reader import zip_entries

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
