"""The wall and CPU time that each bot used, on its turn and off it; a pure function of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, exp, log

from arena.base.records import MatchRecord

STEPS = 50
"""Steps of the logarithmic scale on which times are counted, for each factor e: times are exact to 2 %."""


@dataclass(slots=True)
class BotTimes:
    """The times of one bot, all its matches together.

    Attributes:
        bot: name@version.
        matches: the number of its matches.
        actions: the number of its own actions, without those of openings.
        wall_seconds: wall time on its clock.
        cpu_seconds: CPU time on turn, children included.
        off_turn_cpu_seconds: CPU time while others were to act.
        longest_seconds: its longest action.
        counted: the number of actions by time, on a logarithmic scale.
    """

    bot: str
    matches: int = 0
    actions: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    off_turn_cpu_seconds: float = 0.0
    longest_seconds: float = 0.0
    counted: Counter[int] = field(default_factory=Counter, repr=False, compare=False)

    def add(self, seconds: float) -> None:
        """Count an action."""
        self.actions += 1
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.counted[ceil(STEPS * log(max(seconds, 1e-9)))] += 1

    @property
    def mean_seconds(self) -> float | None:
        """The mean time of its actions."""
        return self.wall_seconds / self.actions if self.actions else None

    @property
    def p99_seconds(self) -> float | None:
        """The 99th percentile of the time of its actions."""
        remaining = 0.99 * self.actions
        for step, count in sorted(self.counted.items()):
            remaining -= count
            if remaining <= 0:
                return min(exp(step / STEPS), self.longest_seconds)
        return None

    @property
    def mean_ms(self) -> float | None:
        """The mean time of its actions."""
        return _ms(self.mean_seconds)

    @property
    def p99_ms(self) -> float | None:
        """The 99th percentile of the time of its actions."""
        return _ms(self.p99_seconds)

    @property
    def longest_ms(self) -> float:
        """Its longest action."""
        return 1000 * self.longest_seconds


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def bot_times(records: Iterable[MatchRecord]) -> list[BotTimes]:
    """Return the times of every bot, the busiest off turn first."""
    times_of: dict[str, BotTimes] = {}
    for record in records:
        times = [times_of.setdefault(bot, BotTimes(bot)) for bot in record.bots]
        for line, seat in zip(times, record.seats, strict=True):
            line.matches += 1
            line.wall_seconds += seat.wall_seconds
            line.cpu_seconds += seat.cpu_seconds
            line.off_turn_cpu_seconds += seat.off_turn_cpu_seconds
        for (actor, _), seconds in zip(record.actions, record.wall_seconds, strict=True):
            if seconds is not None:
                times[actor].add(seconds)
    return sorted(times_of.values(), key=lambda line: (-line.off_turn_cpu_seconds, line.bot))
