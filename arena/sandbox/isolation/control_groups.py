"""Control groups: exact limits on the memory and process count of a bot with all it starts, and its CPU time.

Version 1 has a hierarchy for each controller, version 2 a single one. A bot gets groups of its own wherever this
process may create them; elsewhere limits apply to each process.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.base.records import Limits
from arena.sandbox.isolation.call_list import CallList, StepError
from arena.sandbox.isolation.fork_server import remove_control_group
from arena.sandbox.isolation.launch_spec import GroupSpec
from arena.sandbox.isolation.procfs import is_dead, process_tag

DELEGATED_VARIABLE = "ARENA_DELEGATED"
"""Set by a unit with ``Delegate=yes``: the control group of this process is its own to divide."""

_numbers = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentGroups:
    """Where groups can be created, by controller; in version 1 "cpuacct" is optional.

    ``starts_inside``: whether processes can be started in a group.
    """

    version: int
    directories: dict[str, str]
    starts_inside: bool = False


@functools.lru_cache(maxsize=1)
def find_parent_groups() -> ParentGroups | None:
    """Find where this process may create groups that limit memory and processes, by creating one."""
    found = next(filter(_can_create_groups, itertools.chain(_version_2(), _version_1())), None)
    if found is None or found.version == 1:
        return found
    return replace(found, starts_inside=can_start_inside(f"{found.directories['memory']}/{_name_of_trial()}"))


def can_start_inside(directory: str) -> bool:
    """Create a group of version 2, and return whether a process can be started in it: from Linux 5.7 on.

    Containers may refuse clone3(2), which does it.
    """
    with contextlib.suppress(OSError, StepError), CallList() as calls:
        os.mkdir(directory)
        try:
            group = calls.keep_open(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            os.waitpid(calls.start(0, group), 0)
            return True
        finally:
            remove_control_group(directory)
    return False


def _name_of_trial() -> str:
    return f"arena-bot-{process_tag()}-{next(_numbers)}"


def divide_delegated_group() -> bool:
    """Move this process into a group below the one it was given, so that bots get theirs beside it; return if it was.

    A group of version 2 that has processes can't divide its memory among groups below it. It must be called before
    ``find_parent_groups``, and before this process starts others.
    """
    path = _groups_of_this_process().get("")
    mount_points = [mount_point for kind, mount_point, _ in _mounts() if kind == "cgroup2"]
    if not os.environ.pop(DELEGATED_VARIABLE, "") or path is None or not mount_points:
        return False
    own = Path(mount_points[0] + path)
    try:
        (own / "arena").mkdir(exist_ok=True)
        (own / "arena" / "cgroup.procs").write_text(str(os.getpid()))
        (own / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        return False  # the probe of the isolation levels finds out
    return True


def group_specs(parents: ParentGroups, limits: Limits, name: str) -> list[GroupSpec]:
    """Return the groups of one bot; the next bot may have new ones of the same name."""
    memory, processes = str(limits.memory_bytes), str(limits.processes)

    # A process that joins a group waits until no process of the machine is starting or ending, which takes 8 to 15 ms
    # where none was moved before. A thread that moves itself need not, but version 2 moves none without its process.
    # There a process need not that is started in the group, or two of them, for a warm bot has another one before it.
    join_file = "tasks" if parents.version == 1 else "cgroup.procs"
    if parents.starts_inside and limits.processes > 1:
        join_file = ""

    def group(controller: str, settings: dict[str, str], optional_settings: dict[str, str]) -> GroupSpec:
        return {
            "directory": f"{parents.directories[controller]}/{name}",
            "join_file": join_file,
            "settings": settings,
            "optional_settings": optional_settings,
        }

    if parents.version == 2:
        settings = {"memory.max": memory, "memory.oom.group": "1", "pids.max": processes}
        return [group("memory", settings, {"memory.swap.max": "0"})]
    groups = [
        group("memory", {"memory.limit_in_bytes": memory}, {"memory.memsw.limit_in_bytes": memory}),
        group("pids", {"pids.max": processes}, {}),
    ]
    if "cpuacct" in parents.directories:
        groups.append(group("cpuacct", {}, {}))
    return groups


def count_breaches(groups: Sequence[GroupSpec]) -> dict[str, int]:
    """Return by limit what the kernel has counted: kills for ``memory_bytes``, refused forks for ``processes``."""
    counts = {"memory_bytes": 0, "processes": 0}
    for group in groups:
        for file, key, limit in (
            ("memory.events", "oom_kill", "memory_bytes"),
            ("memory.oom_control", "oom_kill", "memory_bytes"),
            ("pids.events", "max", "processes"),
        ):
            counts[limit] += _counter(Path(group["directory"], file), key)
    return counts


def _counter(path: Path, key: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


def remove_stale_groups() -> None:
    """Remove the groups of arena processes that were killed together with their fork servers."""
    parents = find_parent_groups()
    if parents is None:
        return
    for directory in set(parents.directories.values()):
        for group in Path(directory).glob("arena-bot-*"):
            if is_dead(group.name.split("-")[2]):
                remove_control_group(str(group))


def _groups_of_this_process() -> dict[str, str]:
    """Return the path of this process's group by controller; the single hierarchy of version 2 has an empty name."""
    paths: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = path
    return paths


def _mounts() -> Iterator[tuple[str, str, set[str]]]:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, mount_point, kind, options, *_ = line.split()
            if kind in ("cgroup", "cgroup2"):
                yield kind, mount_point, set(options.split(","))


def _version_2() -> Iterator[ParentGroups]:
    """Yield this process's group and those above it that delegate memory and pids to their children."""
    path = _groups_of_this_process().get("")
    for kind, mount_point, _ in _mounts():
        if kind != "cgroup2" or path is None:
            continue
        own = Path(mount_point + path)
        for directory in (own, *own.parents):
            if not str(directory).startswith(mount_point):
                break
            with contextlib.suppress(OSError):
                if {"memory", "pids"} <= set((directory / "cgroup.subtree_control").read_text().split()):
                    yield ParentGroups(version=2, directories={"memory": str(directory), "pids": str(directory)})


def _version_1() -> Iterator[ParentGroups]:
    """Yield this process's groups, with the accounting of CPU time and without it."""
    paths = _groups_of_this_process()
    directories: dict[str, str] = {
        controller: mount_point + paths[controller].rstrip("/")
        for kind, mount_point, options in _mounts()
        for controller in ("memory", "pids", "cpuacct")
        if kind == "cgroup" and controller in options and controller in paths
    }
    if {"memory", "pids"} <= set(directories):
        yield ParentGroups(version=1, directories=directories)
        without_accounting = {controller: directories[controller] for controller in ("memory", "pids")}
        yield ParentGroups(version=1, directories=without_accounting)


def _can_create_groups(parents: ParentGroups) -> bool:
    """Return whether groups with limits can be created; only launching a bot shows whether it can join them."""
    groups = group_specs(parents, Limits(), _name_of_trial())
    try:
        for group in groups:
            Path(group["directory"]).mkdir()
            for file, value in group["settings"].items():
                Path(group["directory"], file).write_text(value)
    except OSError:
        return False
    finally:
        for group in groups:
            with contextlib.suppress(OSError):
                Path(group["directory"]).rmdir()
    return True
