"""The files that a bot may use: readable paths, rules for Landlock, and the namespaces of bubblewrap."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import site
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.base.shipped import package_directory
from arena.sandbox.isolation.interpreters import SYSTEM, is_below, resolve_program
from arena.sandbox.isolation.launch_spec import LandlockRules

# Landlock: the files a bot may use, as numbers for the fork server (landlock(7), linux/landlock.h).
#
# Everything that is not granted is refused with EACCES. Traversing directories and reading links are never refused,
# so a bot may discover names along a path, but neither contents nor listings.

_SYS_LANDLOCK_CREATE_RULESET = 444
_CREATE_RULESET_VERSION = 1

READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read files, list directories."""

LIST = 1 << 3
"""List directories."""

WRITE_FILE = 1 << 1 | 1 << 2 | 1 << 14
"""Write and truncate an existing file; granted for a few harmless devices."""

_ALL_BY_ABI = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_MAKE_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11

DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")

ZERO = "/dev/zero"
"""Only a control group counts the memory of its mappings."""

ABI_WITH_SCOPES = 6
"""The first version (Linux 6.12) that can restrict signals and abstract sockets."""


@functools.cache
def landlock_abi() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none or it is switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, abi)


def landlock_rules(
    abi: int,
    readable: Iterable[str],
    *writable: str,
    own: Iterable[str] = (),
    devices: Iterable[str] = DEVICES,
    listed: Iterable[str] = (),
    of_launch: Iterable[str] = (),
    stamp: int = 0,
) -> LandlockRules:
    """Return the ruleset of a bot; users other than the system's owner might replace its ``own`` paths by links.

    Some readable paths are there for one launch; ``stamp`` is that of the files that all other paths lead to.
    """
    all_rights = _ALL_BY_ABI[min(abi, 5)]
    handled = [all_rights]
    if abi >= 4:
        handled.append(0b11)  # bind and connect TCP
    if abi >= ABI_WITH_SCOPES:
        handled.append(0b11)  # abstract sockets and signals
    rules = [(path, READ) for path in readable]
    rules += [(directory, LIST) for directory in listed]
    rules += [(device, WRITE_FILE & all_rights) for device in devices]
    passing = {*of_launch, *writable}
    rules += [(directory, all_rights & ~_MAKE_DEVICES_AND_SOCKETS) for directory in writable]
    of_one: list[tuple[str, int]] = []
    lasting: list[tuple[str, int]] = []
    for path, access in rules:
        (of_one if path in passing or path.startswith(_OF_PROCESS) else lasting).append((path, access))
    return {"handled": handled, "rules": of_one, "own": list(own), "lasting": lasting, "stamp": stamp}


# The paths that a bot must be able to read to run at all: the system, its interpreter, its own files.

_ETC = """
ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload localtime timezone nsswitch.conf passwd group hosts
os-release debian_version alternatives ssl ca-certificates ca-certificates.conf pki crypto-policies
locale.alias locale.conf mime.types inputrc terminfo fonts python3 python3.11 python3.12 python3.13 python3.14 node mono
dotnet jvm java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk
"""
_PROC = "meminfo cpuinfo stat version filesystems loadavg uptime cgroups sys/crypto sys/kernel sys/vm"
_OWN_PROCESS = "cgroup cmdline environ maps mem mountinfo stat statm status"
"""What runtimes read about their own process. ``net`` is not among it: that is about the machine's network."""

READ_ONLY_SYSTEM = (
    *SYSTEM,
    *(f"/etc/{name}" for name in _ETC.split()),
    *(f"/proc/{name}" for name in _PROC.split()),
    *(f"/proc/self/{name}" for name in _OWN_PROCESS.split()),
    "/sys/devices/system",
    "/sys/kernel/mm/transparent_hugepage",
)
"""Nothing in these paths is secret, and runtimes read all of them."""

_OF_PROCESS = "/proc/self/"

LISTED_SYSTEM = ("/proc/self/fd",)
"""Directories of which a bot reads the names only."""


def readable_paths(
    command: tuple[str, ...], own: tuple[str, ...], path: str, submitted: bool = False
) -> tuple[str, ...]:
    """Return what a bot needs beyond ``READ_ONLY_SYSTEM``; ``own`` is its directory, or the single program."""
    needed = {*own, *resolve_program(command[0], own, path, submitted).paths, _arena_directory()}
    return outside_the_system(tuple(sorted(needed)))


@functools.lru_cache(maxsize=256)
def outside_the_system(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths and the real paths behind them, without those that are readable anyway."""
    real = {_first_real_path(path) for path in paths}
    return tuple(sorted(path for path in {*paths, *real} if not is_below(path, READ_ONLY_SYSTEM)))


@functools.lru_cache(maxsize=4096)
def _first_real_path(path: str) -> str:
    """Return where a path led at the first call: its owner may replace it by a link later."""
    return os.path.realpath(path)


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


@functools.lru_cache(maxsize=1)
def directories_of_system() -> frozenset[str]:
    """Return the directories of the paths that all bots may use, except in /proc and /sys, where none is replaced."""
    paths = [path for path in (*existing_system(), *DEVICES, ZERO) if not path.startswith(("/proc/", "/sys/"))]
    return frozenset(os.path.dirname(place) for path in paths for place in (path, os.path.realpath(path)))


@functools.lru_cache(maxsize=256)
def paths_behind_closed_directories(readable: tuple[str, ...], scratch_parent: str) -> dict[str, list[str]]:
    """Return the paths that another user can't reach, by the topmost directory that others may not enter.

    That user's scratch directory will be below ``scratch_parent``.
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
    return next((str(step) for step in [*reversed(Path(path).parents), Path(path)] if _is_closed(step)), None)


def _contents(directory: str) -> list[str]:
    """Return the entries of a directory, without links out of it: what they lead to would be bound in their place."""
    inside = (os.path.realpath(directory),)
    with os.scandir(directory) as listing:
        return [e.path for e in listing if not e.is_symlink() or is_below(os.path.realpath(e.path), inside)]


def _is_closed(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & 0o001


# Bubblewrap: the command that gives a bot its own namespaces (bwrap(1), github.com/containers/bubblewrap).

SECCOMP_DESCRIPTOR = 3

_USUALLY_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DESCRIPTORS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
"""Links that programs expect in ``/dev``."""
_MACHINES_FILES = "/proc/sys/fs"
"""How many files are open on the machine, exactly."""


def find_bubblewrap() -> str | None:
    """Return the path of ``bwrap``; None if it is not installed."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


def bubblewrap_command(
    command: Sequence[str], *, directory: str, readable: Sequence[str], scratch: str, scratch_bytes: int, groups: bool
) -> list[str]:
    """Return the command that runs a bot in ``bwrap``.

    Args:
        readable: the paths that it may read beyond the system.
        scratch: the directory that it may write to; an empty file system is mounted there.
        scratch_bytes: the size of that file system, and of the bot's ``/dev/shm``.
        groups: whether a control group counts memory. If not, ``/dev/zero``, whose mappings nothing else counts, is
            replaced by ``/dev/full``, which reads as zeros and can't be mapped.
    """
    program = find_bubblewrap() or "bwrap"
    line = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--hostname", "bot"]
    line += ["--proc", "/proc", "--tmpfs", _MACHINES_FILES]
    line += ["--tmpfs", "/dev"]  # --dev would bring pseudo terminals, of which a machine has few
    for device in DEVICES:
        line += ["--dev-bind", device, device]
    line += ["--dev-bind", ZERO if groups else "/dev/full", ZERO]
    for name, target in _DESCRIPTORS.items():
        line += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    for path in READ_ONLY_SYSTEM:
        if path.startswith("/proc"):
            continue
        if path in _USUALLY_LINKS and os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        else:
            line += ["--ro-bind-try", path, path]
    for path in readable:
        line += ["--ro-bind-try", path, path]
    size = str(scratch_bytes)
    line += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--perms", "0700", "--tmpfs", scratch]
    line += ["--chdir", directory, "--seccomp", str(SECCOMP_DESCRIPTOR), "--remount-ro", _MACHINES_FILES]
    line += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*line, "--", *command]
