"""Process tags: which process a directory, a control group or a bot belongs to.

Pids are reused, so a tag holds the start time of the process too. It also holds the pid namespace (pid_namespaces(7)):
the processes of a container have other pids when seen from outside, and may share a temporary directory with ours.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path


def process_tag() -> str:
    """Return the tag of this process: its pid, its start time, and its pid namespace."""
    return _tag_of(os.getpid())


@functools.lru_cache(maxsize=1)
def _tag_of(pid: int) -> str:
    return f"{pid}.{_state_and_start(str(pid))[1]}.{_namespace()}"


@functools.cache
def _namespace() -> str:
    """Return the number of this process's pid namespace; "0" if it is unknown."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"


def _state_and_start(pid: str) -> tuple[str, str]:
    """Return a process's state and start time, in ticks since the boot (proc_pid_stat(5), fields 3 and 22)."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # a program's name may not be text
    return fields[0].decode(), fields[19].decode()


def is_dead(tag: str) -> bool:
    """Return whether the process of a tag has exited; False for text that is no tag, and for another pid namespace.

    Tags of earlier versions name no namespace.
    """
    pid, start, namespace = [*tag.split("."), _namespace()][:3] if tag.count(".") in (1, 2) else ("", "", "")
    if not (tag.isascii() and pid.isdigit() and start.isdigit()) or namespace != _namespace():
        return False
    try:
        state, actual_start = _state_and_start(pid)
    except OSError:
        return True
    return actual_start != start or state in "ZX"  # a zombie only waits for its parent
