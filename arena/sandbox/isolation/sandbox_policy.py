"""Sandbox policy: from a bot, an isolation level and limits to a launch spec. Every decision is made here.

The fork server (``arena.sandbox.isolation.fork_server``) receives a launch spec as JSON and carries it out.
"""

from __future__ import annotations

import functools
import itertools
import os
import platform
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from arena.base.enums import FaultKind, IsolationLevel
from arena.base.errors import BotError, UsageError
from arena.base.machine import HAS_PROC
from arena.base.records import MEBIBYTE, Bot, Limits
from arena.base.shipped import CACHE_VARIABLE, cache_directory
from arena.sandbox.isolation.bot_places import BotPlaces, find_places
from arena.sandbox.isolation.control_groups import find_parent_groups, group_specs
from arena.sandbox.isolation.file_access import (
    ABI_WITH_SCOPES,
    DEVICES,
    LISTED_SYSTEM,
    SECCOMP_DESCRIPTOR,
    ZERO,
    bubblewrap_command,
    existing_system,
    landlock_abi,
    landlock_rules,
    user_base,
)
from arena.sandbox.isolation.interpreters import SUBMITTED_RULE, arena_interpreter
from arena.sandbox.isolation.launch_spec import (
    SHARED_MEMORY,
    TAG_VARIABLE,
    GroupSpec,
    LandlockRules,
    LaunchSpec,
    MountSpec,
)
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.seccomp import assemble_filter

EXTERNAL_GAME_VARIABLE = "ARENA_GAME"
"""The environment variable that tells ``arena.botkit`` where an external game is: ``module=path``."""

MIN_ADDRESS_SPACE_BYTES = 4096 * MEBIBYTE
"""Java and Node reserve gigabytes of addresses that they never use."""

SPARE_PROCESSES = 32
"""Added to RLIMIT_NPROC, which counts all processes of the user: the last resort behind the resource monitor."""

MAX_KEPT_SPECS = 64
"""The most launches that are kept: two for each of the bots that a pool keeps, and more."""

NO_CORE = 1
"""Where ``core_pattern`` names a program, Linux sends it the memory of a crashed process also at a limit of 0, but not
at 1 (core(5), fs/coredump.c); a file of one byte is not written either."""
_IN_PLACE_RULE = "its links and #! lines may lead to its own files, programs of the system and the arena's own Python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """An isolation level, and how this machine provides it.

    Attributes:
        groups: whether control groups limit the sum of memory and processes.
        user_namespace: whether the bots of an ordinary user get their own file systems, by a user namespace.
        builds: whether a build runs in it. Compilers change the modes of files; where a process has no file systems of
            its own, the filter of system calls allows this to builds and denies it to bots.
    """

    level: IsolationLevel = IsolationLevel.NONE
    groups: bool = False
    user_namespace: bool = False
    builds: bool = False

    @property
    def label(self) -> str:
        """The level as records show it: "landlock" or "landlock+cgroup"."""
        return f"{self.level}+cgroup" if self.groups else self.level

    @property
    def confines_files(self) -> bool:
        """Whether a bot can read only the system's files and its own."""
        return self.level in (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP)


@functools.cache
def is_root() -> bool:
    """Return whether the arena runs as root; bots then run under uids of their own, on Linux."""
    return HAS_PROC and os.geteuid() == 0


@functools.cache
def can_mount() -> bool:
    """Return whether this process has CAP_SYS_ADMIN, which is needed to mount."""
    for line in Path("/proc/self/status").read_text().splitlines() if HAS_PROC else ():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 21 & 1)
    return False


def has_own_file_systems(isolation: Isolation) -> bool:
    """Return whether the scratch directory and ``/dev/shm`` of a bot are file systems of its own."""
    return isolation.level == IsolationLevel.BUBBLEWRAP or isolation.user_namespace or (is_root() and can_mount())


class _KeptSpec(NamedTuple):
    places: BotPlaces
    rlimits: list[tuple[int, int, int]]
    spec: LaunchSpec


_kept_specs: dict[tuple[Bot, Isolation, Limits, str], _KeptSpec] = {}
_numbers = itertools.count(1)


def kept_launch_spec(bot: Bot, isolation: Isolation, limits: Limits, scratch: str) -> LaunchSpec:
    """Return ``make_launch_spec``, with a number: the same value again as long as it would be made in the same way.

    That depends on the arguments, on where the bot's files lead, on how many processes this user has, and on what a
    process finds out about itself and its machine once.
    """
    key = (bot, isolation, limits, scratch)
    places = _places_of(bot, isolation, scratch)
    rlimits = _rlimits(limits, isolation)
    kept = _kept_specs.pop(key, None)
    if kept is None or kept.places is not places or kept.rlimits != rlimits:
        spec = _launch_spec(bot, isolation, limits, scratch, places, rlimits)
        spec["number"] = next(_numbers)
        kept = _KeptSpec(places, rlimits, spec)
    _kept_specs[key] = kept  # at the end, so that the first is the one that was not needed for the longest time
    if len(_kept_specs) > MAX_KEPT_SPECS:
        del _kept_specs[next(iter(_kept_specs))]
    return kept.spec


def _places_of(bot: Bot, isolation: Isolation, scratch: str) -> BotPlaces:
    own = bot.own_files or (bot.directory,)
    if bot.external_game is not None:
        own = (*own, bot.external_game[1])
    parent = os.path.dirname(scratch)
    return find_places(bot, own, bot_path(), parent, isolation.level, root=is_root(), may_mount=can_mount())


def make_launch_spec(bot: Bot, isolation: Isolation, limits: Limits, scratch: str) -> LaunchSpec:
    """Return how to launch a bot; raise BotError of kind start if its files lead to a program that it may not use."""
    places, rlimits = _places_of(bot, isolation, scratch), _rlimits(limits, isolation)
    return _launch_spec(bot, isolation, limits, scratch, places, rlimits)


def _launch_spec(
    bot: Bot, isolation: Isolation, limits: Limits, scratch: str, places: BotPlaces, rlimits: list[tuple[int, int, int]]
) -> LaunchSpec:
    environment = clean_environment(scratch)
    level, root = isolation.level, is_root()
    if bot.external_game is not None:
        environment[EXTERNAL_GAME_VARIABLE] = "=".join(bot.external_game)
    if places.lab:
        environment[CACHE_VARIABLE] = str(cache_directory())
    if isolation.confines_files or places.submitted:
        _check_program(bot.command[0], places.program.refused, places.submitted)
    mounts = _mounts(places, scratch, limits, isolation, root=root)
    parents = find_parent_groups() if isolation.groups else None
    groups = group_specs(parents, limits, os.path.basename(scratch)) if parents is not None else []
    spec: LaunchSpec = {
        "command": list(bot.command),
        "environment": environment,
        "directory": bot.directory,
        "scratch": scratch,
        "covers_scratch": mounts is not None and scratch in mounts["private"],
        "other_uid": root,
        "control_groups": groups,
        "is_contained": isolation.confines_files or bool(groups),
        "leaves_no_ipc": isolation.confines_files or (mounts is not None and mounts["own_ipc"]),
        "needs_note": level != IsolationLevel.NONE and not root and not has_own_file_systems(isolation),
        "mounts": mounts,
        "rlimits": rlimits,
        "no_new_privs": level != IsolationLevel.NONE,
        "landlock": _landlock(places, groups, mounts, scratch) if level == IsolationLevel.LANDLOCK else None,
        "seccomp": _filter(isolation, mounts).hex() if isolation.confines_files else None,
        "seccomp_at": None,
        "number": 0,
        "is_warm": is_warm(bot, isolation),
    }
    if level == IsolationLevel.BUBBLEWRAP:
        spec["command"] = bubblewrap_command(
            bot.command,
            directory=bot.directory,
            readable=(*places.readable, *_readable_groups(groups)),
            scratch=scratch,
            scratch_bytes=limits.scratch_bytes,
            groups=isolation.groups,
        )
        spec["directory"] = "/"
        spec["seccomp_at"] = SECCOMP_DESCRIPTOR
    return spec


def is_warm(bot: Bot, isolation: Isolation) -> bool:
    """Return whether a bot is a copy of the warm fork server."""
    return bot.warm and isolation.level != IsolationLevel.BUBBLEWRAP and is_python_file(bot.command)


def is_python_file(command: tuple[str, ...]) -> bool:
    """Return whether a command runs a file with the arena's own Python, without options for Python."""
    return command[:1] == (arena_interpreter(),) and command[1:2] != () and command[1].endswith(".py")


def _check_program(program: str, refused: str, submitted: bool) -> None:
    if not refused:
        return
    leads = "is a program that" if refused == program else f"leads to {refused}, which"
    whose, rule = ("a submitted bot", SUBMITTED_RULE) if submitted else ("a bot", _IN_PLACE_RULE)
    raise BotError(FaultKind.START, f"{program} {leads} {whose} may not use: {rule}")


def bot_path() -> str:
    """Return the ``PATH`` of all bots."""
    return os.pathsep.join([os.path.dirname(arena_interpreter()), "/usr/local/bin", "/usr/bin", "/bin"])


def clean_environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a bot, with nothing of the operator's.

    The arena's own interpreter is first on PATH, so that ``python3`` in a ``bot.toml`` finds ``arena.botkit``.
    """
    base = user_base()
    return {
        "PATH": bot_path(),
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        TAG_VARIABLE: process_tag(),
        **({"PYTHONUSERBASE": base} if base is not None else {}),  # the default is below HOME
    }


def _readable_groups(groups: list[GroupSpec]) -> tuple[str, ...]:
    """Return the group whose limit runtimes ask for, that of memory."""
    return tuple(group["directory"] for group in groups[:1])


def _landlock(places: BotPlaces, groups: list[GroupSpec], mounts: MountSpec | None, scratch: str) -> LandlockRules:
    writable = mounts["private"] if mounts is not None else (scratch,)
    readable = (*places.readable, *_readable_groups(groups))
    return landlock_rules(
        landlock_abi(),
        (*existing_system(), *readable),
        *writable,
        own=places.readable,
        devices=(*DEVICES, ZERO) if groups else DEVICES,
        listed=LISTED_SYSTEM,
        of_launch=(*places.remade, *_readable_groups(groups)),
        stamp=places.stamp,
    )


def _filter(isolation: Isolation, mounts: MountSpec | None) -> bytes:
    is_bubblewrap = isolation.level == IsolationLevel.BUBBLEWRAP
    has_own_view = is_bubblewrap or mounts is not None
    return assemble_filter(
        platform.machine(),
        may_signal=is_bubblewrap or is_root() or landlock_abi() >= ABI_WITH_SCOPES,
        may_change_files=has_own_view or isolation.builds,
        counts_memory=isolation.groups,
        counts_disk=has_own_view,
    )


def _mounts(places: BotPlaces, scratch: str, limits: Limits, isolation: Isolation, *, root: bool) -> MountSpec | None:
    """Return the bot's own view of the file system; None where this process may not mount."""
    view: MountSpec = {
        "user_namespace": isolation.user_namespace,
        "own_ipc": not isolation.confines_files,  # at the other levels the filter refuses System V IPC
        "read_only": isolation.level == IsolationLevel.LANDLOCK,
        "replace": {},
        "named": [*existing_system(), *places.readable, scratch],
        "private": {scratch: limits.scratch_bytes},
    }
    if _has_shared_memory():
        view["private"][SHARED_MEMORY] = limits.scratch_bytes
    if not root:
        return view if isolation.user_namespace else None
    if can_mount():
        view["replace"] = {
            directory: [*paths, scratch] if scratch.startswith(f"{directory}/") else paths
            for directory, paths in places.closed.items()
        }
        return view
    for directory, paths in places.closed.items():
        raise UsageError(
            f"the arena runs as root, and bots under other uids: those can't enter {directory}, where"
            f" {[*paths, scratch][0]} is; run the arena as an ordinary user, or move it where others may read"
        )
    return None


@functools.cache
def _has_shared_memory() -> bool:
    return os.path.isdir(SHARED_MEMORY)


def _rlimits(limits: Limits, isolation: Isolation) -> list[tuple[int, int, int]]:
    if isolation.level == IsolationLevel.NONE:
        return []
    values = {
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: NO_CORE,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 8 * MEBIBYTE,
        resource.RLIMIT_NICE: 0,
    }
    if not isolation.groups:
        other_processes = 0 if isolation.user_namespace else _processes_of_user()  # a user namespace has its own count
        values[resource.RLIMIT_DATA] = limits.memory_bytes
        values[resource.RLIMIT_AS] = max(MIN_ADDRESS_SPACE_BYTES, 4 * limits.memory_bytes)
        values[resource.RLIMIT_NPROC] = limits.processes + other_processes + SPARE_PROCESSES
    rlimits = []
    for number, value in values.items():
        soft, hard = _inherited_limit(number)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        if (soft, hard) != (value, value):
            rlimits.append((number, value, value))
    return rlimits


@functools.cache
def _inherited_limit(number: int) -> tuple[int, int]:
    """Return the soft and the hard limit of this process, which its fork servers inherit when they are started."""
    return resource.getrlimit(number)


def _processes_of_user() -> int:
    """Return the number of processes and threads of this user; 0 as root, where each bot has its own uid."""
    if is_root():
        return 0
    count, uid = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return count
