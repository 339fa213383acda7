"""What the launcher is told: from a bot, a level and limits to a plan. All policy is here.

A plan is a map of JSON types: ``command``, ``environment`` and ``directory``; ``scratch``, the directory that is
removed with the bot; ``other_uid``; ``control_groups``; ``mounts``; ``rlimits``; ``no_new_privs``; ``landlock``;
``seccomp`` and ``seccomp_at``, the descriptor in which a wrapping program expects the filter.
"""

from __future__ import annotations

import functools
import os
import resource
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.enums import FaultKind, IsolationLevel
from arena.errors import BotError, UsageError
from arena.isolation.bubblewrap import SECCOMP_DESCRIPTOR, bubblewrap_command
from arena.isolation.control_groups import find_parent_groups, group_specs
from arena.isolation.interpreters import arena_interpreter
from arena.isolation.landlock import ABI_WITH_SCOPES, DEVICES, ZERO, landlock_abi, landlock_rules
from arena.isolation.process_tag import process_tag
from arena.isolation.readable_paths import (
    existing_system,
    paths_behind_closed_directories,
    readable_paths,
    refused_program,
    user_base,
)
from arena.isolation.seccomp import assemble_filter
from arena.records import MEBIBYTE, Bot, Limits

TAG_VARIABLE = "ARENA_BOT"
"""The environment variable that every bot is launched with; it tells whose the bot is."""

EXTERNAL_GAME_VARIABLE = "ARENA_GAME"
"""The environment variable that tells ``arena.botkit`` where a game from outside the package is: ``module=place``."""

SHARED_MEMORY = "/dev/shm"
"""Where POSIX shared memory and semaphores are, those of Python's ``multiprocessing`` among them."""

MIN_ADDRESS_SPACE_BYTES = 4096 * MEBIBYTE
"""Java and Node reserve gigabytes of addresses that they never use."""


SPARE_PROCESSES = 32
"""RLIMIT_NPROC counts everything the user runs, and other bots come and go: it is the last resort, behind the watch."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """A level that this machine has been found to give.

    Attributes:
        level: how much is kept from bots.
        groups: whether control groups hold the sum of memory and processes.
        user_namespace: whether an ordinary user's bots get file systems of their own, which takes a user namespace.
        builds: whether it is for builds. Compilers change the modes of files, and where neither another uid nor a view
            of its own keeps a program from those of other people, only bots are kept from it.
    """

    level: IsolationLevel = IsolationLevel.NONE
    groups: bool = False
    user_namespace: bool = False
    builds: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The level as records show it: "landlock" or "landlock+cgroup"."""
        return f"{self.level}+cgroup" if self.groups else self.level


def is_root() -> bool:
    """Tell whether the arena runs as root; bots then run under uids of their own."""
    return os.geteuid() == 0


@functools.cache
def can_mount() -> bool:
    """Tell whether this process has CAP_SYS_ADMIN, which a private view of the file system needs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 21 & 1)
    return False


def has_own_file_systems(isolation: Isolation) -> bool:
    """Tell whether bots have a scratch directory and a ``/dev/shm`` that are file systems of their own."""
    return isolation.level == IsolationLevel.BUBBLEWRAP or isolation.user_namespace or (is_root() and can_mount())


def make_launch_spec(bot: Bot, isolation: Isolation, limits: Limits, scratch: str) -> dict[str, Any]:
    """Return the plan for launching a bot.

    Raises:
        BotError: of kind start, if its files lead to a program elsewhere that it may not use.
        UsageError: if bots run under another uid and that one can't get to the bot's files.
    """
    environment = clean_environment(scratch)
    own = bot.own_files or (bot.directory,)
    if bot.external_game is not None:
        environment[EXTERNAL_GAME_VARIABLE] = "=".join(bot.external_game)
        own = (*own, bot.external_game[1])
    readable = readable_paths(bot.command, own, environment["PATH"])
    level = isolation.level
    if level in (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP) and (
        program := refused_program(bot.command, own, environment["PATH"])
    ):
        raise BotError(
            FaultKind.START,
            f"{bot.command[0]} leads to {program}, which a bot may not use: its links and #! lines may lead to its own"
            " files, programs of the system and the arena's own Python",
        )
    spec: dict[str, Any] = {
        "command": list(bot.command),
        "environment": environment,
        "directory": bot.directory,
        "scratch": scratch,
        "other_uid": is_root(),
        "control_groups": [],
        "mounts": _mounts(readable, scratch, limits, isolation),
        "rlimits": [],
        "no_new_privs": level != IsolationLevel.NONE,
        "landlock": None,
        "seccomp": None,
        "seccomp_at": None,
    }
    if level == IsolationLevel.NONE:
        return spec
    if isolation.groups and (home := find_parent_groups()) is not None:
        spec["control_groups"] = group_specs(home, limits)
    spec["rlimits"] = _rlimits(limits, isolation)
    if level == IsolationLevel.LANDLOCK:
        if spec["mounts"] is not None:
            spec["mounts"]["read_only"] = True
        writable = spec["mounts"]["private"] if spec["mounts"] is not None else (scratch,)
        devices = (*DEVICES, ZERO) if isolation.groups else DEVICES
        all_readable = (*existing_system(), *readable)
        spec["landlock"] = landlock_rules(landlock_abi(), all_readable, *writable, own=readable, devices=devices)
    if level in (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP):
        own_view = level == IsolationLevel.BUBBLEWRAP or spec["mounts"] is not None
        spec["seccomp"] = _filter(isolation, own_view).hex()
    if level == IsolationLevel.BUBBLEWRAP:
        spec["command"] = bubblewrap_command(
            bot.command,
            directory=bot.directory,
            readable=readable,
            scratch=scratch,
            scratch_bytes=limits.scratch_bytes,
            groups=isolation.groups,
        )
        spec["seccomp_at"] = SECCOMP_DESCRIPTOR
        spec["directory"] = "/"
    return spec


def clean_environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a bot: nothing of the operator's reaches it.

    The arena's own interpreter comes first on PATH, so that ``python3`` in a ``bot.toml`` finds ``arena.botkit``.
    """
    interpreter = str(Path(arena_interpreter()).parent)
    base = user_base()
    return {
        "PATH": os.pathsep.join([interpreter, "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        TAG_VARIABLE: process_tag(),
        **({"PYTHONUSERBASE": base} if base is not None else {}),  # Python looks for it below HOME
    }


def _filter(isolation: Isolation, own_view: bool) -> bytes:
    confined = isolation.level == IsolationLevel.BUBBLEWRAP or is_root() or landlock_abi() >= ABI_WITH_SCOPES
    return assemble_filter(
        os.uname().machine,
        may_signal=confined,
        may_change_files=own_view or is_root() or isolation.builds,
        counts_memory=isolation.groups,
        counts_disk=own_view,
    )


def _mounts(readable: tuple[str, ...], scratch: str, limits: Limits, isolation: Isolation) -> dict[str, Any] | None:
    """Return the bot's private view of the file system; None where this process may not mount."""
    private = {place: limits.scratch_bytes for place in (scratch, SHARED_MEMORY) if os.path.isdir(place)}
    view = {
        "user_namespace": isolation.user_namespace,
        # at the other levels the filter refuses System V IPC
        "own_ipc": isolation.level in (IsolationLevel.NONE, IsolationLevel.LIMITS),
        "replace": {},
        "named": [*existing_system(), *readable, scratch],
        "private": private,
    }
    if not is_root():
        return view if isolation.user_namespace else None
    closed = paths_behind_closed_directories(readable, str(Path(scratch).parent))
    if can_mount():
        replace = {
            door: [*paths, scratch] if scratch.startswith(f"{door}/") else paths for door, paths in closed.items()
        }
        return view | {"replace": replace}
    for door, paths in closed.items():
        raise UsageError(
            f"the arena runs as root, and bots under other uids: those can't enter {door}, where {[*paths, scratch][0]}"
            " is; run the arena as an ordinary user, or move it where others may read"
        )
    return None


def _rlimits(limits: Limits, isolation: Isolation) -> list[tuple[int, int, int]]:
    wanted = {
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 8 * MEBIBYTE,
        resource.RLIMIT_NICE: 0,
    }
    if not isolation.groups:
        others = 0 if isolation.user_namespace else _processes_of_user()  # a namespace is counted by itself
        wanted[resource.RLIMIT_DATA] = limits.memory_bytes
        wanted[resource.RLIMIT_AS] = max(MIN_ADDRESS_SPACE_BYTES, 4 * limits.memory_bytes)
        wanted[resource.RLIMIT_NPROC] = limits.processes + others + SPARE_PROCESSES
    found = []
    for number, value in wanted.items():
        _, hard = resource.getrlimit(number)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        found.append((number, value, value))
    return found


def _processes_of_user() -> int:
    """Return how many processes and threads this user has, for RLIMIT_NPROC counts them all; 0 for a bot's own uid."""
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
