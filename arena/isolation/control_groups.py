"""Control groups: exact limits on the memory and the number of processes of a bot with all it starts, and its CPU time.

Version 1 has a tree for each controller, version 2 one for all. A bot gets a group of its own wherever this process may
make one; where it may not, limits are per process and the sum is watched (``arena.monitoring.resource_monitor``).
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.isolation.fork_server import remove_control_group
from arena.isolation.process_tag import is_dead, process_tag
from arena.records import Limits

_names = itertools.count()


@dataclass(frozen=True, slots=True)
class ParentGroups:
    """A directory in which groups can be made.

    Attributes:
        version: 1 or 2.
        directories: by controller; the same one for all in version 2. In version 1 "cpuacct" is there if it can be had.
    """

    version: int
    directories: dict[str, str]


@functools.lru_cache(maxsize=1)
def find_parent_groups() -> ParentGroups | None:
    """Find where this process may make groups that limit memory and processes; tried out, not guessed."""
    for home in (*_version_2(), *_version_1()):
        if _works(home):
            return home
    return None


def group_specs(home: ParentGroups, limits: Limits) -> list[dict[str, Any]]:
    """Return the groups of one bot as the launcher takes them."""
    name = f"arena-bot-{process_tag()}-{next(_names)}"
    memory, processes = str(limits.memory_bytes), str(limits.processes)
    if home.version == 2:
        settings = {"memory.max": memory, "memory.oom.group": "1", "pids.max": processes}
        return [_group_spec(home, "memory", name, settings, {"memory.swap.max": "0"})]
    specs = [
        _group_spec(home, "memory", name, {"memory.limit_in_bytes": memory}, {"memory.memsw.limit_in_bytes": memory}),
        _group_spec(home, "pids", name, {"pids.max": processes}, {}),
    ]
    if "cpuacct" in home.directories:
        specs.append(_group_spec(home, "cpuacct", name, {}, {}))
    return specs


def _group_spec(
    home: ParentGroups, controller: str, name: str, settings: dict[str, str], optional_settings: dict[str, str]
) -> dict[str, Any]:
    """Return one group; ``optional_settings`` is left out where the kernel keeps no account of swap."""
    directory = f"{home.directories[controller]}/{name}"
    return {"directory": directory, "settings": settings, "optional_settings": optional_settings}


def count_breaches(groups: list[dict[str, Any]]) -> dict[str, int]:
    """Return how often a bot's groups have stopped it: ``memory`` counts kills, ``processes`` refused forks."""
    counts = {"memory": 0, "processes": 0}
    for group in groups:
        directory = Path(group["directory"])
        for file, key, kind in (
            ("memory.events", "oom_kill", "memory"),
            ("memory.oom_control", "oom_kill", "memory"),
            ("pids.events", "max", "processes"),
        ):
            counts[kind] += _counter(directory / file, key)
    return counts


def _counter(path: Path, key: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


def remove_stale_groups() -> None:
    """Remove the groups of processes that were killed together with their launchers."""
    home = find_parent_groups()
    if home is None:
        return
    for directory in set(home.directories.values()):
        for group in Path(directory).glob("arena-bot-*"):
            if is_dead(group.name.split("-")[2]):
                remove_control_group(str(group))


def _group_paths_of_this_process() -> dict[str, str]:
    """Return this process's group by controller; the one tree of version 2 under an empty name."""
    paths: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = path
    return paths


def _mounts() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the type, the place and the options of every control group file system."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, options, *_ = line.split()
            if kind in ("cgroup", "cgroup2"):
                yield kind, place, set(options.split(","))


def _version_2() -> Iterator[ParentGroups]:
    """Yield the own group and those above it that hand memory and pids down to their children."""
    path = _group_paths_of_this_process().get("")
    for kind, place, _ in _mounts():
        if kind != "cgroup2" or path is None:
            continue
        own = Path(place + path)
        for directory in (own, *own.parents):
            if not str(directory).startswith(place):
                break
            with contextlib.suppress(OSError):
                if {"memory", "pids"} <= set((directory / "cgroup.subtree_control").read_text().split()):
                    yield ParentGroups(2, {"memory": str(directory), "pids": str(directory)})


def _version_1() -> Iterator[ParentGroups]:
    paths = _group_paths_of_this_process()
    found: dict[str, str] = {
        controller: place + paths[controller].rstrip("/")
        for kind, place, options in _mounts()
        for controller in ("memory", "pids", "cpuacct")
        if kind == "cgroup" and controller in options and controller in paths
    }
    if {"memory", "pids"} <= set(found):
        yield ParentGroups(1, found)
        yield ParentGroups(1, {controller: found[controller] for controller in ("memory", "pids")})


def _works(home: ParentGroups) -> bool:
    """Tell whether groups with limits can be made; whether a bot can be put in is found out by launching one."""
    groups = group_specs(home, Limits())
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
