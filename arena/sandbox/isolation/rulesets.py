"""Landlock rulesets of bots that have ended, for later launches of the same bots. Standard library only.

A ruleset holds what is granted by the files themselves (inodes), not by their names. What all launches of a bot need is
put into one once. Each launch adds what is there for it alone: files of its process in /proc, its file systems, its
control group. A process has what was granted when it was restricted, and nothing that is added later (landlock(7)).

So one bot at a time has a ruleset, and the next one when all that was added for it is gone: its process has been
reaped, and with it its file systems; its group has been removed, and so has a scratch directory on the disk. No path
leads to these files any more, and as long as the ruleset holds them, the kernel gives their place to no others: what
the last bot was granted is nothing to the next one.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from arena.sandbox.isolation.call_list import CallList
from arena.sandbox.isolation.sandbox_calls import add_ruleset

if TYPE_CHECKING:
    from arena.sandbox.isolation.launch_spec import LandlockRules, LaunchSpec

MAX_USES = 32
"""The most launches by one ruleset, which keeps the rules of each: a long one restricts a process more slowly."""

MAX_SPARE = 16
"""The most rulesets that are kept, for all bots together."""

_spare: list[Ruleset] = []


_pins: dict[str, int] = {}
"""Open files by their paths in /proc: there the kernel makes a new inode for a name that it has not kept in memory."""


class Ruleset:
    """A ruleset with the rules that last, and its descriptor, ``file``."""

    def __init__(self, landlock: LandlockRules) -> None:
        self._key = _key(landlock)
        self._uses = 0
        self._is_reusable = True
        for path, _ in landlock["lasting"]:
            if path.startswith("/proc/") and path not in _pins:
                with contextlib.suppress(OSError):
                    _pins[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
        with CallList() as calls:
            self.file, _ = add_ruleset(calls, landlock)
            calls.make_here()

    def is_for(self, landlock: LandlockRules) -> bool:
        """Return whether it has the lasting rules of a launch, made from the files that are there now."""
        return self._key == _key(landlock)

    def use(self, spec: LaunchSpec) -> None:
        """Note a launch, which adds its own rules."""
        self._uses += 1
        self._is_reusable &= self._uses < MAX_USES and _ends_with_the_bot(spec)

    def give_back(self, *, is_all_gone: bool) -> None:
        """Keep it for the next launch if the bot was reaped and all that was made for it is gone; else close it."""
        if is_all_gone and self._is_reusable:
            _spare.append(self)
        else:
            self.close()
        if len(_spare) > MAX_SPARE:
            _spare.pop(0).close()

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)


def leave_rulesets() -> None:
    """Leave the spare rulesets to the process of which this one is a copy."""
    while _spare:
        _spare.pop().close()


def take_ruleset(spec: LaunchSpec) -> Ruleset | None:
    """Return a ruleset that no bot has, for a launch; None if the launch needs none."""
    landlock = spec["landlock"]
    if landlock is None:
        return None
    index = next((index for index, ruleset in enumerate(_spare) if ruleset.is_for(landlock)), None)
    ruleset = Ruleset(landlock) if index is None else _spare.pop(index)
    ruleset.use(spec)
    return ruleset


def _key(landlock: LandlockRules) -> list[Any]:
    return [landlock["handled"], landlock["lasting"], landlock["own"], landlock["stamp"]]


def _ends_with_the_bot(spec: LaunchSpec) -> bool:
    """Return whether all that a launch adds was made for it, or is of its process."""
    created = {group["directory"] for group in spec["control_groups"]} | {spec["scratch"]}
    mounts = spec["mounts"]
    mounted = (*mounts["private"], *mounts["replace"]) if mounts is not None else ()
    rules = spec["landlock"]["rules"] if spec["landlock"] is not None else []
    return all(
        path.startswith("/proc/self/")
        or path in created
        or any(path == mount_point or path.startswith(f"{mount_point}/") for mount_point in mounted)
        for path, _ in rules
    )
