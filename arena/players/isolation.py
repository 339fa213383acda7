"""What a bot may do to the machine: its environment and its limits.

Two levels so far. ``none``: a session of its own, a clean environment, no inherited descriptors. ``limits``: resource
limits as well (Linux). A level is chosen once, with ``choose_isolation``, and stands in every record.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from arena.errors import UsageError
from arena.players.sweeping import MARK
from arena.records import ISOLATION_LEVELS

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one bot process, set at the level ``limits``.

    Attributes:
        memory_bytes: private writable memory (RLIMIT_DATA; RLIMIT_AS would break Java and Node, which reserve much
            address space they never use).
        file_bytes: size of a file it writes.
        open_files: descriptors.
    """

    memory_bytes: int = 2048 * MEBIBYTE
    file_bytes: int = 64 * MEBIBYTE
    open_files: int = 256


def choose_isolation(wanted: str) -> str:
    """Return the level to run under.

    Args:
        wanted: a level, or "auto" for the strongest this machine has.

    Raises:
        UsageError: if the level is unknown or this machine can't give it.
    """
    has_limits = sys.platform == "linux"
    if wanted == "auto":
        return "limits" if has_limits else "none"
    if wanted not in ISOLATION_LEVELS:
        raise UsageError(f"isolation = {wanted!r}: accepted is 'auto', 'none' or 'limits'")
    if wanted == "limits" and not has_limits:
        raise UsageError("isolation = 'limits': this level needs Linux; 'auto' takes the best this machine has")
    return wanted


def clean_environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a bot: nothing of the operator's reaches it.

    The arena's own interpreter comes first on PATH, so that ``python3`` in a ``bot.toml`` finds ``arena.botkit``.
    """
    interpreter = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([interpreter, "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        MARK: "1",
    }


def set_limits(pid: int, limits: Limits) -> None:
    """Set the resource limits of a process that has just been launched; nothing if it is gone already."""
    if sys.platform != "linux":
        return
    import resource

    wanted = (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    )
    for name, value in wanted:
        with contextlib.suppress(ProcessLookupError):
            _, hard = resource.prlimit(pid, name)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, name, (value, value))
