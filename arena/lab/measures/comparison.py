"""Two variations of a game side by side: which differences are more than chance, and what each means to a player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

from arena.lab.measures.estimate import Estimate, Kind, difference
from arena.lab.measures.measure import Row
from arena.lab.measures.report import QualityReport, estimate_json

SHARE, POWER, LEVEL = 0.6, 0.8, 0.05
"""If 60 of 100 prefer one, enough votes say so with this probability; if 50 do, with the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A number of two variations.

    Attributes:
        key: of the measure.
        row: the number of the first one.
        other: that of the second one.
        change: how much larger the second one is; None if one is known by bounds alone.
    """

    key: str
    row: Row
    other: Row
    change: Estimate | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference does not contain zero."""
        return self.change is not None and (self.change.lies_above(0) or self.change.lies_below(0))

    def meaning(self) -> str:
        """Return what a clear difference means to a player; empty without one, or where nothing is known of it."""
        if not self.is_clear or self.change is None:
            return ""
        return MEANINGS.get(self.row.name, ("", ""))[self.change.lies_above(0)]


def needed_votes() -> int:
    """Return how many votes a test of one half needs to notice a share with the wanted power.

    >>> needed_votes()
    194
    """
    at_chance = NormalDist().inv_cdf(1 - LEVEL / 2) * 0.5
    at_share = NormalDist().inv_cdf(POWER) * sqrt(SHARE * (1 - SHARE))
    return ceil(((at_chance + at_share) / (SHARE - 0.5)) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two variations of a game.

    Attributes:
        option: whose values they are.
        values: of the option.
        reports: of both.
    """

    option: str
    values: tuple[Any, Any]
    reports: tuple[QualityReport, QualityReport]

    def differences(self) -> list[Difference]:
        """Return the numbers that both have, in order."""
        return list(_pairs(*self.reports))

    def conclusion(self) -> str:
        """Return what is known, and what only votes would show."""
        sampled = [one for one in self.differences() if one.change is not None and one.change.kind is Kind.SAMPLED]
        return (
            f"Of {len(sampled)} sampled differences about {ceil(0.05 * len(sampled))} would be marked by chance alone."
            f" Which is more fun: not known without votes ({needed_votes()} for {POWER:.0%} power at 60:40)."
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {
            "option": self.option,
            "values": list(self.values),
            "profiles": [report.to_json() for report in self.reports],
            "differences": [
                {
                    "measure": one.key,
                    "name": one.row.name,
                    "at": one.row.at,
                    "change": None if one.change is None else estimate_json(one.change),
                    "is_clear": one.is_clear,
                    "meaning": one.meaning(),
                }
                for one in self.differences()
            ],
            "conclusion": self.conclusion(),
        }


def _pairs(one: QualityReport, other: QualityReport) -> Iterator[Difference]:
    for first, second in zip(one.measures, other.measures, strict=True):
        for row in first.rows:
            found = second.row(row.name, row.at)
            if found is not None:
                change = difference(row.estimate, found.estimate)
                yield Difference(key=first.key, row=row, other=found, change=change)


MEANINGS = {
    "margin of seat 0": ("best play is better for seat 1", "best play is better for seat 0"),
    "points of seat 0": ("seat 0 gets less between equals", "seat 0 gets more between equals"),
    "draws": ("fewer matches end in a draw", "more matches end in a draw"),
    "margin of the first": ("matches are closer", "matches are less close"),
    "won by seat 0": ("fewer openings are won for seat 0", "more openings are won for seat 0"),
    "drawn": ("fewer openings are still open", "more openings are still open"),
    "lost by seat 0": ("fewer openings are lost for seat 0", "more openings are lost for seat 0"),
    "actions that keep the outcome": ("one has to choose with more care", "more actions are good enough"),
    "only one action keeps it": (
        "one action alone saves less often",
        "one action alone saves more often",
    ),
    "margin that a random action loses": ("mistakes cost less", "mistakes cost more"),
    "part of a match before it is decided": ("matches are decided earlier", "matches stay open for longer"),
    "open after half of it": ("matches are decided earlier", "matches stay open for longer"),
    "decided before it begins": ("fewer matches go as best play would", "more matches go as best play would"),
    "won matches that were lost once": ("fewer comebacks", "more comebacks"),
    "changes of the visible lead": ("the lead changes less often", "the lead changes more often"),
    "winners behind at half time, if scores differ": (
        "who leads at half time wins more often",
        "who leads at half time wins less often",
    ),
    "points of the stronger": ("skill counts less", "skill counts more"),
    "doublings that take 55 % or more": ("there is less to learn", "there is more to learn"),
    "of these keep the outcome": ("fewer good ways to begin", "more good ways to begin"),
    "of these keep the margin": ("fewer good ways to begin", "more good ways to begin"),
    "two matches begin differently": ("matches begin more alike", "matches begin more differently"),
    "actions in a match": ("matches are shorter", "matches are longer"),
    "legal actions": ("there is less to look at", "there is more to look at"),
    "forced actions": ("one has a choice more often", "one has a choice less often"),
}
"""By the name of a number: what it means to a player if it is smaller, and if it is larger."""
