"""Whose a thing is: process numbers come round again, so the time the process began goes with them.

So does the process namespace (pid_namespaces(7)): what a container runs is seen from outside under other numbers, and
may share a temporary directory with us.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path


def process_tag() -> str:
    """Return what stands in the names of this process's things: its number, when it began, and where that counts."""
    return _tag_of(os.getpid())


@functools.lru_cache(maxsize=1)
def _tag_of(pid: int) -> str:
    return f"{pid}.{_state_and_beginning(str(pid))[1]}.{_namespace()}"


@functools.cache
def _namespace() -> str:
    """Return the number of this process's process namespace; "0" if it can't be told."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"


def _state_and_beginning(pid: str) -> tuple[str, str]:
    """Return a process's state and when it began, in ticks since the boot (proc_pid_stat(5), fields 3 and 22)."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # a program's name may be no text
    return fields[0].decode(), fields[19].decode()


def is_dead(tag: str) -> bool:
    """Tell whether a tag is that of a process that has gone; False for what is no tag, or counts in another namespace.

    Tags of earlier versions name no namespace.
    """
    pid, began, namespace = [*tag.split("."), _namespace()][:3] if tag.count(".") in (1, 2) else ("", "", "")
    if not (tag.isascii() and pid.isdigit() and began.isdigit()) or namespace != _namespace():
        return False
    try:
        state, beginning = _state_and_beginning(pid)
    except OSError:
        return True
    return beginning != began or state in "ZX"  # a zombie waits for its parent only
