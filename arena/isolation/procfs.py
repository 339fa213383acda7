"""Reading /proc about processes that may not wish to be looked at.

A process whose main thread has ended shows nothing of what the others hold; each thread's directory still does. Of one
that has made itself unreadable ``status`` can still be read by all.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

MAX_ENVIRONMENT_BYTES = 1 << 20
"""A process may give out any of its memory as its environment (PR_SET_MM_MAP)."""


def live_directory(pid: int) -> str:
    """Return the directory of a process, or of a thread that lives on where the main one has ended."""
    own = f"/proc/{pid}"
    with contextlib.suppress(OSError, IndexError):
        if _is_over(own):
            for thread in os.listdir(f"{own}/task"):
                if not _is_over(f"{own}/task/{thread}"):
                    return f"{own}/task/{thread}"
    return own


def _is_over(place: str) -> bool:
    return Path(place, "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")


def environment(pid: int | str) -> list[bytes]:
    """Return the settings in a process's environment, as far as ``MAX_ENVIRONMENT_BYTES`` go.

    Raises:
        OSError: if it can't be read.
    """
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read(MAX_ENVIRONMENT_BYTES).split(b"\0")


def is_hidden(place: str) -> bool:
    """Tell whether a process that is alive doesn't let its files be seen."""
    try:
        os.close(os.open(f"{place}/fd", os.O_RDONLY | os.O_DIRECTORY))
    except PermissionError:
        with contextlib.suppress(OSError, IndexError):
            return not _is_over(place)
    except OSError:
        pass
    return False


def open_files(place: str) -> Iterator[tuple[str, str]]:
    """Yield the number and the target of each open file of a process, as far as they can be seen.

    The target is empty where it is longer than a page, which the kernel does not tell.
    """
    with contextlib.suppress(OSError):
        for number in os.listdir(f"{place}/fd"):
            try:
                yield number, os.readlink(f"{place}/fd/{number}")
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    yield number, ""


def count_open_files(place: str) -> int:
    """Return how many files a process has open; newer kernels tell without listing them."""
    try:
        return os.stat(f"{place}/fd").st_size or len(os.listdir(f"{place}/fd"))
    except OSError:
        return 0


def sum_bytes(path: str, *keys: bytes) -> int | None:
    """Return the sum in bytes of those lines of a file that begin with a key; None if it can't be read."""
    try:
        lines = Path(path).read_bytes().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(keys))
    except (OSError, ValueError, IndexError):
        return None
