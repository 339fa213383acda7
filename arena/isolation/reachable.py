"""What a bot must be able to read to run at all: the system, its interpreter, its own files.

An interpreter may live anywhere: in /usr, in a virtual environment, under pyenv or nvm in somebody's home. Found by
following the program, its links, its ``#!`` line and ``pyvenv.cfg``; of a program in ``…/bin`` the directory above is
taken, which is where its libraries are, but never a home directory, nor anything that holds one.
"""

from __future__ import annotations

import functools
import os
import shutil
import site
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

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

_PROGRAM_DIRECTORIES = ("bin", "sbin", "shims", "libexec", "Scripts")
_MOST_HOPS = 12


def readable_paths(command: tuple[str, ...], own: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Return what a bot needs beyond ``READ_ONLY_SYSTEM``.

    Args:
        command: how it is launched.
        own: its own files: its directory, or the single program.
        path: its PATH, for programs without a slash.
    """
    needed = {*own, *places_of(command[0], path), *_arena()}
    if command[0] == sys.executable:
        needed |= {sys.prefix, sys.base_prefix}
    return _outside_the_system(tuple(sorted(needed)))


@functools.lru_cache(maxsize=256)
def _outside_the_system(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths and what they really are, without those that are readable anyway."""
    real = {os.path.realpath(path) for path in paths}
    return tuple(sorted(path for path in {*paths, *real} if not _is_below(path, READ_ONLY_SYSTEM)))


def _arena() -> set[str]:
    """Return the package itself, for ``arena.botkit``; with the packages beside it where they are one user's own."""
    package = Path(__file__).parents[1]
    return {str(package.parent if user_base() is not None else package)}


def user_base() -> str | None:
    """Return the directory that ``pip install --user`` has put the arena below; None if the arena is elsewhere."""
    is_there = site.ENABLE_USER_SITE and str(Path(__file__).parents[2]) == site.getusersitepackages()
    return site.getuserbase() if is_there else None


@functools.lru_cache(maxsize=256)
def places_of(program: str, path: str) -> tuple[str, ...]:
    """Return the places of a program and of all it leads to."""
    found: set[str] = set()
    waiting = [program]
    for _ in range(_MOST_HOPS):
        if not waiting:
            break
        name = waiting.pop()
        place = name if "/" in name else shutil.which(name, path=path)
        if place is None or not os.path.exists(place):
            continue
        place = os.path.abspath(place)
        found.add(_home_of(place))
        waiting += [*_link(place), *_first_line(place), *_base_of_venv(place)]
    return tuple(found)


def _link(place: str) -> Iterator[str]:
    if os.path.islink(place):
        yield os.path.join(os.path.dirname(place), os.readlink(place))
    elif os.path.realpath(place) != place:
        yield os.path.realpath(place)


def _first_line(place: str) -> Iterator[str]:
    """Yield the interpreter of a script, and what ``env`` will start."""
    try:
        with open(place, "rb") as file:
            line = file.readline(256)
    except OSError:
        return
    if line.startswith(b"#!"):
        words = line[2:].decode(errors="replace").split()
        yield from (word for word in words[:2] if not word.startswith("-"))


def _base_of_venv(place: str) -> Iterator[str]:
    """Yield the interpreter a virtual environment was made from (PEP 405)."""
    configuration = Path(place).parent.parent / "pyvenv.cfg"
    try:
        lines = configuration.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "home":
            yield os.path.join(value.strip(), "python3")


def _home_of(place: str) -> str:
    """Return the directory an interpreter brings its libraries in, or the program alone."""
    directory = os.path.dirname(place)
    above = os.path.dirname(directory)
    if os.path.basename(directory) not in _PROGRAM_DIRECTORIES or holds_a_home(above):
        return place
    return above


def holds_a_home(directory: str) -> bool:
    """Tell whether a directory is a home, ``~/.local``, or above one: reading all of it would tell secrets."""
    home = os.path.realpath(os.path.expanduser("~"))
    real = os.path.realpath(directory)
    shared = {"/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/opt", "/srv", "/mnt", "/media"}
    return real in shared or real == f"{home}/.local" or _is_below(home, (real,)) or os.path.dirname(real) == "/home"


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)


@functools.lru_cache(maxsize=1)
def existing_system() -> tuple[str, ...]:
    """Return what there is of ``READ_ONLY_SYSTEM`` on this machine."""
    return tuple(path for path in READ_ONLY_SYSTEM if os.path.exists(path))


@functools.lru_cache(maxsize=256)
def behind_closed_doors(readable: tuple[str, ...], scratch_parent: str) -> dict[str, list[str]]:
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
            contents = [entry.path for entry in os.scandir(path)] if _is_closed(Path(path)) else [path]
            closed.setdefault(door, []).extend(contents)
    above_scratch = [*reversed(Path(scratch_parent).parents), Path(scratch_parent)]
    door = next((str(place) for place in above_scratch if _is_closed(place)), None)
    if door is not None:
        closed.setdefault(door, [])
    return closed


def _is_closed(place: Path) -> bool:
    """Tell whether this is a directory that others may not enter."""
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & 0o001
