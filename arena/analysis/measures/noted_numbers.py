"""Numbers that bots report: the means of notes that are maps of numbers, by bot, ply and phase of the match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from arena.base.records import MatchRecord
from arena.base.text import shortened_text

PHASES = 3
"""The parts of equal length of a match after its opening: beginning, middle and end."""
MAX_KEYS = 24
"""The most numbers of a bot; those that come first count."""
MAX_PLY = 2000
"""Later plies count as this one."""
MAX_NUMBER = 1e300
"""The largest number of either sign; means of larger ones would overflow."""


@dataclass(slots=True)
class Mean:
    """A mean that grows; None without a value."""

    count: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.count += 1
        self.total += value

    @property
    def value(self) -> float | None:
        """The mean."""
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class NotedNumber:
    """What a bot has reported under a key.

    Attributes:
        bot: ``name@version``.
        phases: the means of the beginning, the middle and the end of its matches.
        plies: the mean by ply, counted from 1 as in notes.
    """

    bot: str
    key: str
    all: Mean = field(default_factory=Mean)
    least: float = float("inf")
    most: float = float("-inf")
    phases: tuple[Mean, ...] = field(default_factory=lambda: tuple(Mean() for _ in range(PHASES)))
    plies: dict[int, Mean] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Return what tables have of it."""
        beginning, middle, end = (mean.value for mean in self.phases)
        return {
            "bot": self.bot,
            "number": self.key,
            "actions": self.all.count,
            "mean": self.all.value,
            "beginning": beginning,
            "middle": middle,
            "end": end,
            "least": self.least,
            "most": self.most,
        }

    def add(self, value: float, ply: int, phase: int) -> None:
        """Count a number."""
        self.all.add(value)
        self.least, self.most = min(self.least, value), max(self.most, value)
        self.phases[phase].add(value)
        self.plies.setdefault(min(ply, MAX_PLY), Mean()).add(value)


def noted_numbers(records: Iterable[MatchRecord], bots: Iterable[str] | None = None) -> list[NotedNumber]:
    """Return what bots have reported, by bot and in the order of keys; of some bots (``name@version``), or all.

    Other values in a note, and notes that are no maps, do not count. Callers make sure that the reader may
    see the notes of these bots.
    """
    labels = None if bots is None else frozenset(bots)
    numbers: dict[str, dict[str, NotedNumber]] = {}
    for record in records:
        length = max(len(record.actions) - record.opening_plies, 1)
        for ply, note in record.notes.for_operator():
            bot = record.bots[record.actions[ply][0]]
            if labels is not None and bot not in labels:
                continue
            phase = min(max(ply - record.opening_plies, 0) * PHASES // length, PHASES - 1)
            lines = numbers.setdefault(bot, {})
            for key, value in _numbers_in(note):
                if key in lines or len(lines) < MAX_KEYS:
                    lines.setdefault(key, NotedNumber(bot, key)).add(value, ply + 1, phase)
    return [lines[key] for _, lines in sorted(numbers.items()) for key in sorted(lines)]


def _numbers_in(note: Any) -> Iterator[tuple[str, float]]:
    if isinstance(note, dict):
        for key, value in islice(note.items(), MAX_KEYS):
            if type(value) in (int, float) and abs(value) <= MAX_NUMBER:  # True is no number here, nor is NaN
                yield shortened_text(str(key)), float(value)
