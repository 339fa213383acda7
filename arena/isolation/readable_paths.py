"""What a bot must be able to read to run at all: the system, its interpreter, its own files."""

from __future__ import annotations

import functools
import os
import site
import stat
from pathlib import Path

from arena.isolation.interpreters import SYSTEM, arena_interpreter, arena_python, is_below, resolve_program

_ETC = """
ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload localtime timezone nsswitch.conf passwd group hosts host.conf gai.conf
protocols services os-release debian_version alternatives ssl ca-certificates ca-certificates.conf pki crypto-policies
locale.alias locale.conf mime.types inputrc terminfo fonts python3 python3.11 python3.12 python3.13 python3.14 node mono
dotnet jvm java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk
"""
_PROC = "self meminfo cpuinfo stat version filesystems loadavg uptime cgroups sys mounts"

READ_ONLY_SYSTEM = (
    *SYSTEM,
    *(f"/etc/{name}" for name in _ETC.split()),
    *(f"/proc/{name}" for name in _PROC.split()),
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
)
"""Nothing in it is secret, and runtimes look at all of it."""


def readable_paths(command: tuple[str, ...], own: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Return what a bot needs beyond ``READ_ONLY_SYSTEM``.

    Args:
        command: how it is launched.
        own: its own files: its directory, or the single program.
        path: its PATH, for programs without a slash.
    """
    needed = {*own, *resolve_program(command[0], own, path).paths, *_arena()}
    if command[0] == arena_interpreter():
        needed |= {*arena_python()}
    return _outside_the_system(tuple(sorted(needed)))


def refused_program(command: tuple[str, ...], own: tuple[str, ...], path: str) -> str:
    """Return the program that a bot's own files lead to and that it may not use; empty if there is none."""
    return resolve_program(command[0], own, path).refused


@functools.lru_cache(maxsize=256)
def _outside_the_system(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths and what they really are, without those that are readable anyway."""
    real = {os.path.realpath(path) for path in paths}
    return tuple(sorted(path for path in {*paths, *real} if not is_below(path, READ_ONLY_SYSTEM)))


def _arena() -> set[str]:
    """Return the package itself, for ``arena.botkit``; with the packages beside it where they are one user's own."""
    package = Path(__file__).parents[1]
    return {str(package.parent if user_base() is not None else package)}


def user_base() -> str | None:
    """Return the directory that ``pip install --user`` has put the arena below; None if the arena is elsewhere."""
    is_there = site.ENABLE_USER_SITE and str(Path(__file__).parents[2]) == site.getusersitepackages()
    return site.getuserbase() if is_there else None


@functools.lru_cache(maxsize=1)
def existing_system() -> tuple[str, ...]:
    """Return what there is of ``READ_ONLY_SYSTEM`` on this machine."""
    return tuple(path for path in READ_ONLY_SYSTEM if os.path.exists(path))


@functools.lru_cache(maxsize=256)
def paths_behind_closed_directories(readable: tuple[str, ...], scratch_parent: str) -> dict[str, list[str]]:
    """Sort out the paths that another user can't get to.

    Args:
        readable: paths that will be read.
        scratch_parent: where a directory will be that user's own.

    Returns:
        For each topmost directory that others may not enter, the paths below it that are needed.
    """
    closed: dict[str, list[str]] = {}
    for path in readable:
        door = next((str(place) for place in [*reversed(Path(path).parents), Path(path)] if _is_closed(place)), None)
        if door is not None:
            closed.setdefault(door, []).extend(_contents(path) if _is_closed(Path(path)) else [path])
    above_scratch = [*reversed(Path(scratch_parent).parents), Path(scratch_parent)]
    door = next((str(place) for place in above_scratch if _is_closed(place)), None)
    if door is not None:
        closed.setdefault(door, [])
    return closed


def _contents(directory: str) -> list[str]:
    """Return what lies in a directory, without links that lead out of it: what they lead to would be put there."""
    inside = (os.path.realpath(directory),)
    with os.scandir(directory) as listing:
        return [e.path for e in listing if not e.is_symlink() or is_below(os.path.realpath(e.path), inside)]


def _is_closed(place: Path) -> bool:
    """Tell whether this is a directory that others may not enter."""
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & 0o001
