"""A measure and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arena.lab.measures.estimate import Estimate


class Unit(StrEnum):
    """What a number counts."""

    SHARE = "share"
    SCORE = "score"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number of a measure.

    Attributes:
        name: what it is.
        at: of which it is: a strength, a ply, a size; empty for the whole game.
        unit: what it counts.
        estimate: the number with its interval.
        known: of the value of a board, how it is known; empty for others.
    """

    name: str
    at: str
    unit: Unit
    estimate: Estimate
    known: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One of the eleven.

    Attributes:
        key: its name for programs.
        title: its name for people.
        about: what its numbers are, in a sentence.
        rows: the numbers; empty if there are none.
        note: why there are none, or fewer than there could be; empty if there is nothing to say.
    """

    key: str
    title: str
    about: str
    rows: tuple[Row, ...] = ()
    note: str = ""

    def row(self, name: str, at: str = "") -> Row | None:
        """Return a number by its name."""
        return next((one for one in self.rows if (one.name, one.at) == (name, at)), None)


def rows_of(name: str, at: str, unit: Unit, estimate: Estimate | None, known: str = "") -> list[Row]:
    """Return a number as a list, which is empty without an estimate."""
    return [] if estimate is None else [Row(name=name, at=at, unit=unit, estimate=estimate, known=known)]
