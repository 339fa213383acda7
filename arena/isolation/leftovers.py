"""What is left when a process of the arena is killed together with its launcher, and how the next one removes it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path

from arena.isolation.control_groups import remove_stale_groups
from arena.isolation.owner import is_dead
from arena.isolation.plans import MARK

SCRATCH_PREFIX = "arena-bot-"
"""How the names of scratch directories begin; the tag of their owner follows."""


def remove_stale() -> None:
    """Remove processes, control groups and scratch directories whose owner is dead."""
    for path in Path("/proc").glob("[0-9]*"):
        if _is_stale(path):
            with contextlib.suppress(OSError):
                os.kill(int(path.name), signal.SIGKILL)
    remove_stale_groups()
    for path in Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*-*"):
        if is_dead(path.name.removeprefix(SCRATCH_PREFIX).partition("-")[0]):
            shutil.rmtree(path, ignore_errors=True)


def _is_stale(path: Path) -> bool:
    """Tell whether a process carries the mark of an owner that is dead."""
    with contextlib.suppress(OSError):
        for setting in (path / "environ").read_bytes().split(b"\0"):
            name, _, owner = setting.partition(b"=")
            if name == MARK.encode():
                return is_dead(owner.decode(errors="replace"))
    return False
