"""The paths that a bot must be able to read to run at all: the system, its interpreter, its own files."""

from __future__ import annotations

import functools
import os
import site
import stat
from pathlib import Path

from arena.base.shipped import package_directory
from arena.sandbox.isolation.bot_places import is_below
from arena.sandbox.isolation.interpreters import SYSTEM, arena_interpreter, arena_python, resolve_program

_ETC = """
ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload localtime timezone nsswitch.conf passwd group hosts
os-release debian_version alternatives ssl ca-certificates ca-certificates.conf pki crypto-policies
locale.alias locale.conf mime.types inputrc terminfo fonts python3 python3.11 python3.12 python3.13 python3.14 node mono
dotnet jvm java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk
"""
_PROC = "meminfo cpuinfo stat version filesystems loadavg uptime cgroups sys/crypto sys/kernel sys/vm"
_OWN_PROCESS = "cgroup cmdline environ maps mem mountinfo stat statm status"
"""What runtimes read about their own process; ``net`` beside it, and in each of its threads, is about the machine's."""

READ_ONLY_SYSTEM = (
    *SYSTEM,
    *(f"/etc/{name}" for name in _ETC.split()),
    *(f"/proc/{name}" for name in _PROC.split()),
    *(f"/proc/self/{name}" for name in _OWN_PROCESS.split()),
    "/sys/devices/system",
    "/sys/kernel/mm/transparent_hugepage",
)
"""Nothing in these paths is secret, and runtimes read all of them."""

LISTED_SYSTEM = ("/proc/self/fd",)
"""Directories of which a bot reads the names only."""


def readable_paths(
    command: tuple[str, ...], own: tuple[str, ...], path: str, submitted: bool = False
) -> tuple[str, ...]:
    """Return what a bot needs beyond ``READ_ONLY_SYSTEM``.

    Args:
        command: how it is launched.
        own: its own files: its directory, or the single program.
        path: its PATH, for programs without a slash.
        submitted: whether its command is a stranger's.
    """
    needed = {*own, *resolve_program(command[0], own, path, submitted).paths, _arena_directory()}
    if command[0] == arena_interpreter():
        needed |= {*arena_python()}
    return outside_the_system(tuple(sorted(needed)))


@functools.lru_cache(maxsize=256)
def outside_the_system(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths and the real paths behind them, without those that are readable anyway."""
    real = {os.path.realpath(path) for path in paths}
    return tuple(sorted(path for path in {*paths, *real} if not is_below(path, READ_ONLY_SYSTEM)))


@functools.lru_cache(maxsize=1)
def _arena_directory() -> str:
    """Return the directory of this package, for ``arena.botkit``; after ``pip install --user`` the one above it."""
    package = package_directory()
    return str(package.parent if user_base() is not None else package)


@functools.lru_cache(maxsize=1)
def user_base() -> str | None:
    """Return the base directory of ``pip install --user`` if the arena was installed so; otherwise None."""
    is_installed_there = site.ENABLE_USER_SITE and str(package_directory().parent) == site.getusersitepackages()
    return site.getuserbase() if is_installed_there else None


@functools.lru_cache(maxsize=1)
def existing_system() -> tuple[str, ...]:
    """Return the paths of ``READ_ONLY_SYSTEM`` that exist on this machine, without links into others of them."""
    existing = {path: os.path.realpath(path) for path in READ_ONLY_SYSTEM if os.path.exists(path)}
    return tuple(path for path, real in existing.items() if real == path or not is_below(real, READ_ONLY_SYSTEM))


@functools.lru_cache(maxsize=256)
def paths_behind_closed_directories(readable: tuple[str, ...], scratch_parent: str) -> dict[str, list[str]]:
    """Return the paths that another user can't reach, by the topmost directory that others may not enter.

    Args:
        readable: the paths to reach.
        scratch_parent: the directory in which a scratch directory of that user will be.
    """
    closed: dict[str, list[str]] = {}
    for path in readable:
        directory = _topmost_closed_directory(path)
        if directory is not None:
            closed.setdefault(directory, []).extend(_contents(path) if _is_closed(Path(path)) else [path])
    directory = _topmost_closed_directory(scratch_parent)
    if directory is not None:
        closed.setdefault(directory, [])
    return closed


def _topmost_closed_directory(path: str) -> str | None:
    """Return the first directory on the way to a path, itself included, that others may not enter."""
    return next((str(step) for step in [*reversed(Path(path).parents), Path(path)] if _is_closed(step)), None)


def _contents(directory: str) -> list[str]:
    """Return the entries of a directory, without links out of it: what they lead to would be bound in their place."""
    inside = (os.path.realpath(directory),)
    with os.scandir(directory) as listing:
        return [e.path for e in listing if not e.is_symlink() or is_below(os.path.realpath(e.path), inside)]


def _is_closed(path: Path) -> bool:
    """Return whether this is a directory that others may not enter."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & 0o001
