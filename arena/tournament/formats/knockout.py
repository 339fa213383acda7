"""Knockout: the loser of a duel is out.

1. A duel is the best of ``encounters``: it ends as soon as one entrant has won more than half of them. An encounter is
   won with more than half of its points.
2. If both have won as many, the points of all encounters decide; if these are equal too, more encounters are played,
   one at a time, until one is won, at most ``knockout.tie_encounters``; then the better seed advances. So it always
   ends.
3. The draw: the best seed meets the worst, so that the two best can only meet in the final. If the number of
   entrants is no power of two, the best seeds have a bye in the first stage, and ``knockout.seeding`` is needed:
   it is "entrants" (the order of the file) or "random". Without it the draw is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le

from arena.errors import DefinitionError
from arena.ranking import competition_ranks
from arena.seeds import derived_seed
from arena.tournament.formats.format import FOR_TWO, Field, Format, Meeting, Placing, Round


@dataclass
class _Duel:
    """Two entrants of a stage, the better seed first; or one with a bye."""

    better: int
    other: int | None
    shares: list[float] = field(default_factory=list)  # of the better seed, an encounter each

    def winner(self, best_of: int, tie_encounters: int) -> int | None:
        """Return who advances; None while that is open."""
        if self.other is None:
            return self.better
        won = sum(share > 0.5 for share in self.shares)
        lost = sum(share < 0.5 for share in self.shares)
        if max(won, lost) > best_of / 2:
            return self.better if won > lost else self.other
        if len(self.shares) < best_of:
            return None
        lead = (won - lost) or (sum(self.shares) - len(self.shares) / 2)
        if abs(lead) > 1e-9:
            return self.better if lead > 0 else self.other
        return self.better if len(self.shares) >= best_of + tie_encounters else None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnockoutSettings:
    """``[knockout]``: the draw, and how tied duels are decided.

    Attributes:
        seeding: who is the better seed: "entrants" takes the order of the file. It is needed unless the number of
            entrants is a power of two; then the default is a random draw.
        tie_encounters: how many more encounters a tied duel may have before the better seed advances.
    """

    seeding: Literal["entrants", "random"] | None = None
    tie_encounters: Annotated[int, Ge(0), Le(1000)] = 3


class Knockout(Format[KnockoutSettings]):
    """Stages of duels. A round is one more encounter of every duel that is not decided yet."""

    Settings = KnockoutSettings
    players = FOR_TWO
    has_ranking = True

    def __init__(self, field: Field[KnockoutSettings]) -> None:
        super().__init__(field)
        entrants = field.entrants
        seeding = field.settings.seeding
        has_byes = entrants & (entrants - 1) != 0
        if has_byes and seeding is None:
            raise DefinitionError(
                f"knockout.seeding is missing: with {entrants} entrants the best seeds have a bye in the first stage;"
                ' expected "entrants" (the order of the file) or "random"'
            )
        order = list(range(entrants))
        if seeding != "entrants":
            order.sort(key=lambda k: derived_seed("knockout", field.rng_seed, k))
        self._seed_of = {entrant: number for number, entrant in enumerate(order)}
        slots = [order[seed] if seed < entrants else None for seed in bracket(entrants)]
        self._stage = self._duels(slots)
        self._stages_done = 0
        self._out: list[tuple[int, int]] = []  # (stage, entrant), the first to leave first

    def _duels(self, slots: Sequence[int | None]) -> list[_Duel]:
        duels = []
        for a, b in zip(slots[::2], slots[1::2], strict=True):
            present = sorted((k for k in (a, b) if k is not None), key=self._seed_of.__getitem__)
            duels.append(_Duel(present[0], present[1] if len(present) > 1 else None))
        return duels

    @property
    def encounters_per_round(self) -> int:
        """One; duels of several take several rounds."""
        return 1

    def total_pairings(self) -> int:
        """Return how many encounters there are if every duel has all of them."""
        return (self.field.entrants - 1) * self.field.encounters

    def next_round(self) -> Round | None:
        """Return one more encounter for every open duel."""
        duels = [duel for duel in self._stage if self._winner(duel) is None]
        if not duels:
            return None
        pairings = tuple((duel.better, duel.other) for duel in duels if duel.other is not None)
        waiting = tuple(winner for duel in self._stage if (winner := self._winner(duel)) is not None)
        return Round(pairings, waiting)

    def _winner(self, duel: _Duel) -> int | None:
        return duel.winner(self.field.encounters, self.field.settings.tie_encounters)

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Add an encounter of each open duel; begin the next stage when all duels are decided."""
        of = {meeting.pairing: meeting for meeting in meetings}
        for duel in self._stage:
            if duel.other is not None and (meeting := of.get((duel.better, duel.other))) is not None:
                duel.shares.append(meeting.share(duel.better))
        while len(self._stage) > 1:
            winners = [self._winner(duel) for duel in self._stage]
            if None in winners:
                return
            self._leave(winners)
            self._stage = self._duels(winners)

    def _leave(self, winners: Sequence[int | None]) -> None:
        self._stages_done += 1
        for duel, winner in zip(self._stage, winners, strict=True):
            if duel.other is not None:
                self._out.append((self._stages_done, duel.other if winner == duel.better else duel.better))

    def ranking(self) -> list[Placing]:
        """Return the entrants by the stage they reached; those who left in the same stage share a rank."""
        out = {entrant: stage for stage, entrant in self._out}
        champion = self._winner(self._stage[0]) if len(self._stage) == 1 else None
        last = self._stages_done + 1
        reached = {k: out.get(k, last + (k == champion)) for k in range(self.field.entrants)}
        order = sorted(reached, key=lambda k: (-reached[k], self._seed_of[k]))
        ranks = competition_ranks([-reached[k] for k in order])
        return [
            Placing(rank, k, {"seed": self._seed_of[k] + 1, "won_stages": min(reached[k] - 1, last)})
            for rank, k in zip(ranks, order, strict=True)
        ]

    def status(self) -> str:
        """Return how many entrants are left."""
        return f"{sum(1 + (duel.other is not None) for duel in self._stage)} of {self.field.entrants} still in"


def bracket(entrants: int) -> list[int]:
    """Return the seeds from 0 in the order of the draw, as many as the next power of two: 0 7 3 4 1 6 2 5."""
    order = [0]
    while len(order) < entrants:
        size = 2 * len(order)
        order = [seed for better in order for seed in (better, size - 1 - better)]
    return order
