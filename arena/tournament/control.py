"""How a run of a tournament is stopped from outside, between matches, without an exception.

A program that keeps tournaments going gives ``run_tournament`` a ``RunControl``. To pause, or to correct something
under the director's lock, it lets the run stop, does what is to be done, and runs the tournament again: a run that was
stopped continues like one that was killed, but nothing that had begun is lost.
"""

from __future__ import annotations

from enum import Enum, auto

from arena.tournament.rounds import TournamentRounds
from arena.tournament.turns import Turns


class Order(Enum):
    """What a run is to do."""

    PLAY = auto()
    """Continue."""
    DRAIN = auto()
    """Play all matches that are scheduled, and no further round."""
    STOP = auto()
    """Begin no match any more: those that are being played end and are recorded, and the run ends."""
    ABANDON = auto()
    """Record nothing any more, and end: what has no record is played by another run. It is asked before each record."""


class RunControl:
    """What whoever keeps a tournament going asks of a run. Subclasses override ``order``.

    Attributes:
        turns: who sits out rounds of a ladder, kept from run to run; None if the results alone say who is paired.
    """

    turns: Turns | None = None
    _rounds: TournamentRounds | None = None  # of the last run: the next one of a ladder need not count them again

    def order(self) -> Order:
        """Return what the run is to do.

        It is called in the thread of the run, before each round, and whenever results have come in or a quarter of a
        second has passed, but only between matches by an executor that plays in this process; and before results are
        recorded. It should return within milliseconds. ``STOP`` holds for the rest of the run.
        """
        return Order.PLAY
