"""What bots leave on a machine: processes, files, control groups and System V objects."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from arena.sandbox.isolation.bot_uids import FIRST_UID, LAST_UID
from arena.sandbox.isolation.control_groups import find_parent_groups
from arena.sandbox.isolation.launch_spec import TAG_VARIABLE
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.procfs import is_dead

MARKS = ("arena-bot-", "arena-zoo-0", "arena-zoo-1", "arena-escape-")
"""Prefixes of the names of files that bots may leave behind."""


def traces() -> set[str]:
    """Return what bots of this process, or of its child processes, have left on this machine so far.

    Scratch directories that are kept for the next bots count if anything is in them.
    """
    found = {f"process {path.name}: {_command(path)}" for path in bot_processes()}
    places = [Path("/dev/shm"), Path(tempfile.gettempdir()), Path("/var/tmp")]
    home = find_parent_groups()
    places += [Path(directory) for directory in home.directories.values()] if home is not None else []
    for place in places:
        with contextlib.suppress(OSError):
            found |= {
                str(path)
                for path in place.iterdir()
                if path.name.startswith(MARKS) and not _is_of_another_arena(path.name)
            }
    found -= {path for path in open_launcher().spare_scratch if not any(Path(path).iterdir())}
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(OSError):
            header, *rows = (line.split() for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines())
            objects = (dict(zip(header, row, strict=True)) for row in rows)
            found |= {f"System V {kind} {list(it.values())[1]}" for it in objects if _may_be_a_bots(int(it["cuid"]))}
    return found


def _may_be_a_bots(uid: int) -> bool:
    """Return whether bots of this process may have this uid; a database server of root's has another."""
    return FIRST_UID <= uid <= LAST_UID if os.geteuid() == 0 else uid == os.geteuid()


def traces_since(before: set[str]) -> set[str]:
    """Return the traces that were not there before, after giving the kernel up to five seconds to clear them."""
    deadline = time.monotonic() + 5.0
    while (left := traces() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _is_of_another_arena(name: str) -> bool:
    """Return whether a path belongs to another running arena; its name contains the process tag of its arena."""
    tag = name.removeprefix("arena-bot-").partition("-")[0]
    pid = tag.partition(".")[0]
    return pid.isdigit() and not is_dead(tag) and os.getpid() not in _with_ancestors(int(pid))


def _with_ancestors(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        while pid > 0:
            yield pid
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def bot_processes() -> Iterator[Path]:
    """Yield the directory in /proc of each process of a bot of this process, or of its child processes."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            settings = dict(setting.partition(b"=")[::2] for setting in (path / "environ").read_bytes().split(b"\0"))
            owner = settings.get(TAG_VARIABLE.encode(), b"").decode()
            is_marked = bool(owner) and not _is_of_another_arena(f"arena-bot-{owner}-")
            if is_marked or (not owner and FIRST_UID <= path.stat().st_uid <= LAST_UID):
                yield path


def _command(path: Path) -> str:
    with contextlib.suppress(OSError):
        return (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return "?"
