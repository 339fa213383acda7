"""What time and processor each bot used in a tournament, on its turn and off it; a pure function of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class BotTimes:
    """The times of one bot, all its matches together.

    Attributes:
        bot: name@version.
        matches: how many.
        actions: how many it was asked for and gave.
        wall_seconds: on its own clock.
        cpu_seconds: CPU time on turn, children included.
        off_turn_cpu_seconds: CPU time while others were to act.
        longest_seconds: its longest action.
    """

    bot: str
    matches: int = 0
    actions: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    off_turn_cpu_seconds: float = 0.0
    longest_seconds: float = 0.0


def bot_times(records: Iterable[Mapping[str, Any]]) -> list[BotTimes]:
    """Return the times of every bot, the busiest off turn first."""
    found: dict[str, BotTimes] = {}
    for record in records:
        times = [found.setdefault(bot, BotTimes(bot)) for bot in record["bots"]]
        for line, seat in zip(times, record["seats"], strict=True):
            line.matches += 1
            line.wall_seconds += seat["wall_seconds"]
            line.cpu_seconds += seat["cpu_seconds"]
            line.off_turn_cpu_seconds += seat["off_turn_cpu_seconds"]
        for (actor, _), seconds in zip(record["actions"], record["wall_seconds"], strict=True):
            if seconds is not None:
                times[actor].actions += 1
                times[actor].longest_seconds = max(times[actor].longest_seconds, seconds)
    return sorted(found.values(), key=lambda line: (-line.off_turn_cpu_seconds, line.bot))
