"""What a build has made, taken out of its untrusted directory, and recognised later."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from arena.base.errors import BotDefinitionError
from arena.base.records import MEBIBYTE
from arena.match.players.bot_files import BUILD_DIRECTORY
from arena.match.players.untrusted_tree import TreeBounds, TreeRefusedError, copy_tree

MAX_BYTES = 256 * MEBIBYTE
MAX_FILES = 10_000
MAX_DEPTH = 32


def take_output(output: int, target: Path) -> str:
    """Copy what a build has made.

    Args:
        output: an open directory, or -1 if it does not exist.
        target: a directory that does not exist yet.

    Returns:
        Why it is not accepted; nothing if it is.
    """
    try:
        if output < 0:
            raise TreeRefusedError(f"there is no directory {BUILD_DIRECTORY}/")
        copy_tree(output, target, TreeBounds(MAX_FILES, MAX_BYTES, MAX_DEPTH), BUILD_DIRECTORY)
    except (TreeRefusedError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"what it has made can't be kept: {reason}"
    return ""


def fingerprint(directory: Path) -> str:
    """Return a hash by which a directory differs from any other in its place, without reading the files in it.

    Inodes and the times of their changes are the system's to give: nobody can write files that have the same.

    Raises:
        BotDefinitionError: if there is more than a build may make.
        OSError: if there is no such directory.
    """
    digest = hashlib.sha256()
    waiting = [directory]
    count = 0
    while waiting:
        place = waiting.pop()
        entries = []
        with os.scandir(place) as listing:
            for entry in listing:
                count += 1
                if count > MAX_FILES:
                    raise BotDefinitionError(f"{directory}: more than {MAX_FILES:,} files and directories")
                entries.append(entry)
        for entry in sorted(entries, key=lambda one: one.name):
            found = entry.stat(follow_symlinks=False)
            fingerprint = (found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
            digest.update(os.fsencode(entry.path) + repr(fingerprint).encode())
            if stat.S_ISDIR(found.st_mode):
                waiting.append(Path(entry.path))
    return digest.hexdigest()
