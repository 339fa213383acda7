"""What a format is: it says who meets whom in the next round, from the field and the results so far.

A pairing is a group of entrants who meet; their meeting is one or more encounters, each of them one opening in all seat
rotations. A format knows nothing else: no clock, no store, no generator of random numbers with a state. Told the same
results it gives the same rounds, which is what lets the director take a tournament up again.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from arena.errors import DefinitionError
from arena.results import StoredResult, points_of

ANY_NUMBER = range(2, sys.maxsize)
FOR_TWO = range(2, 3)
"""What a format's ``players`` may be."""

Pairing = tuple[int, ...]
"""The numbers of the entrants who meet, counted from 0."""


class Round(NamedTuple):
    """Who meets whom in a round.

    Attributes:
        pairings: nobody is in two of them where the game is for two.
        byes: entrants who are still in but meet nobody in this round.
        encounters: how many of the encounters of a round are played in this one; None for all.
    """

    pairings: tuple[Pairing, ...]
    byes: tuple[int, ...] = ()
    encounters: int | None = None


class Meeting(NamedTuple):
    """The results of a pairing.

    Attributes:
        pairing: the entrants, in the seats of the first match.
        results: of all its matches, in the order of the schedule.
    """

    pairing: Pairing
    results: tuple[StoredResult, ...]

    def points(self, entrant: int) -> float:
        """Return the points of an entrant: in each match the share of rivals that it beat, a tie counting half."""
        bot = self.results[0].bots[self.pairing.index(entrant)]
        return sum(points_of(result.ranks, result.bots.index(bot)) for result in self.results)

    def share(self, entrant: int) -> float:
        """Return the points of an entrant for each match, from 0 to 1."""
        return self.points(entrant) / len(self.results)


class Placing(NamedTuple):
    """A line of the format's own table.

    Attributes:
        rank: 1 is best; equals share it.
        entrant: its number.
        values: the columns of this format, by name.
    """

    rank: int
    entrant: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Field:
    """Who takes part, and in what.

    Attributes:
        bots: the entrants as ``name@version``, in the order of the file.
        names: what tables call them.
        players: in each match.
        rng_seed: everything random follows from it.
        encounters: for each pairing.
        settings: the format's own settings, complete.
        active: the numbers of those who may be paired; all, except in a ladder that somebody has left.
    """

    bots: tuple[str, ...]
    names: tuple[str, ...]
    players: int
    rng_seed: int = 0
    encounters: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    active: frozenset[int] | None = None

    @property
    def entrants(self) -> int:
        """How many take part."""
        return len(self.bots)

    @property
    def taking_part(self) -> tuple[int, ...]:
        """The numbers of those who may be paired."""
        everybody = range(self.entrants)
        return tuple(everybody) if self.active is None else tuple(k for k in everybody if k in self.active)


class Format(ABC):
    """One tournament in this format: ``next_round`` asks who meets whom, ``add_results`` says what came of it, in turn.

    Attributes:
        players: how many players its games may have.
        needs_results: whether rounds depend on results; where they don't, ``add_results`` may be given none.
        open_entry: whether entrants may come and go while it is played.
        has_ranking: whether it ranks entrants itself, and not by ratings only.
    """

    players: ClassVar[range] = ANY_NUMBER
    needs_results: ClassVar[bool] = True
    open_entry: ClassVar[bool] = False
    has_ranking: ClassVar[bool] = False

    def __init__(self, field: Field) -> None:
        """Begin.

        Raises:
            DefinitionError: if the field does not fit the format.
        """
        self.field = field
        if len(field.taking_part) < field.players:
            raise DefinitionError(
                f"entrants: {len(field.taking_part)} of them, but a match is for {field.players} players"
            )
        if field.players not in self.players:
            raise DefinitionError(
                f"format: this one is for games of two, and a match here has {field.players} players; accepted for"
                " more are 'round-robin', 'gauntlet' and 'ladder'"
            )

    @property
    def encounters_per_round(self) -> int:
        """How many encounters a pairing plays in one round, in each game."""
        return self.field.encounters

    @abstractmethod
    def next_round(self) -> Round | None:
        """Return the round that follows, or None at the end. Asking changes nothing."""

    @abstractmethod
    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Add the results of the round that ``next_round`` returned."""

    def total_pairings(self) -> int | None:
        """Return how many pairings the whole tournament has at most; None where nobody can say."""
        return None

    def total_encounters(self) -> int | None:
        """Return how many encounters the whole tournament has at most in each game; None where nobody can say."""
        pairings = self.total_pairings()
        return None if pairings is None else pairings * self.encounters_per_round

    def should_stop(self, elapsed_seconds: float) -> bool:
        """Tell whether a run that has lasted this long ends before the next round."""
        return False

    def ranking(self) -> list[Placing] | None:
        """Return the table this format ranks by; None where only ratings do."""
        return None

    def status(self) -> str:
        """Return how it stands, in a few words, for the line of progress."""
        return ""


class FixedFormat(Format):
    """A format whose rounds are known before anything is played: a pass, which ``encounters`` repeats."""

    needs_results = False

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._rounds: Iterator[Round] | None = None
        self._next: Round | None = None

    @abstractmethod
    def rounds(self) -> Iterator[Round]:
        """Yield the rounds of a pass; a pass is one encounter of each pairing."""

    def next_round(self) -> Round | None:
        """Return the round that follows in the pass."""
        if self._rounds is None:
            self._rounds = self.rounds()
            self._next = next(self._rounds, None)
        return self._next

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Go on to the next round, whatever came of this one."""
        if self.next_round() is not None and self._rounds is not None:
            self._next = next(self._rounds, None)
