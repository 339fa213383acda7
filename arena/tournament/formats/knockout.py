"""Knockout: the loser of a duel is out.

1. A duel is the best of ``encounters``: it ends as soon as one entrant has won more than half of them. An encounter is
   won with more than half of its points.
2. If both have won as many, the points of all encounters decide; if these are equal too, more encounters are played,
   one at a time, until one is won, at most ``knockout.tie_encounters``; then the better seed advances. So it always
   ends.
3. The draw: the best seed meets the worst, so that the two best can only meet in the final. If the number of
   entrants is no power of two, the best seeds have a bye in the first stage, and ``knockout.seeding`` is needed:
   it is "entrants" (the order of the file) or "random". Without it the draw is random.
4. Against an entrant who has withdrawn or is disqualified its rival advances without playing: a walkover. If both are
   absent, the better seed advances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Literal

from annotated_types import Ge, Le

from arena.base.errors import DefinitionError
from arena.base.results import competition_ranks
from arena.base.seeds import derived_seed
from arena.base.text import counted
from arena.tournament.formats.format import FOR_TWO, Field, Format, Meeting, Pairing, Placing, Round


class DecidedBy(StrEnum):
    """What decided a duel: a bye, a rival's absence, encounters won, points of all encounters, or the better seed."""

    BYE = "bye"
    WALKOVER = "walkover"
    ENCOUNTERS = "encounters"
    POINTS = "points"
    SEED = "seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """A duel of the bracket as it stands.

    Attributes:
        entrants: the upper and the lower one; None for an empty place beside a bye, or while the duel before is open.
        winner: who advances; None while that is open.
        decided_by: what decided it; None while it is open.
    """

    entrants: tuple[int | None, int | None]
    points: tuple[tuple[float, float], ...] = ()
    winner: int | None = None
    decided_by: DecidedBy | None = None

    @property
    def score(self) -> tuple[float, float]:
        """The encounters that each has won, a drawn one counting half."""
        upper = sum(0.5 + _sign(mine - yours) / 2 for mine, yours in self.points)
        return upper, len(self.points) - upper


def _sign(difference: float) -> int:
    return 0 if abs(difference) < 1e-9 else 1 if difference > 0 else -1


def _duels(entrants: Sequence[int | None]) -> list[Duel]:
    return [Duel(entrants=pair) for pair in zip(entrants[::2], entrants[1::2], strict=True)]


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
    has_later_stages = True

    def __init__(self, field: Field[KnockoutSettings]) -> None:
        super().__init__(field)
        self.encounters_per_round = 1  # duels of several take several rounds
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
        self._stages = [_duels(slots)]  # those whose entrants are all known
        self._round = 1  # that comes next
        self._advance()

    def total_encounters(self) -> int:
        return (self.field.entrants - 1) * self.field.encounters

    def max_encounters(self) -> int:
        return (self.field.entrants - 1) * (self.field.encounters + self.field.settings.tie_encounters)

    def plan(self) -> str:
        places = 2 * len(self._stages[0])
        byes = places - self.field.entrants
        stages = counted(places.bit_length() - 1, "stage")
        return f"{stages}, {counted(byes, 'bye')} in the first" if byes else stages

    def next_round(self) -> Round | None:
        stage = self._stages[-1]
        pairings = tuple(self._by_seed(duel) for duel in stage if duel.winner is None)
        return Round(pairings, tuple(duel.winner for duel in stage if duel.winner is not None)) if pairings else None

    def _by_seed(self, duel: Duel) -> Pairing:
        """Return the entrants of a duel, the better seed first; only one beside a bye."""
        return tuple(sorted((k for k in duel.entrants if k is not None), key=self._seed_of.__getitem__))

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Add an encounter of each open duel; begin the next stage when all duels are decided (1, 2)."""
        of = {frozenset(meeting.pairing): meeting for meeting in meetings}
        stage = self._stages[-1]
        for place, duel in enumerate(stage):
            upper, lower = duel.entrants
            if upper is not None and lower is not None and (meeting := of.get(frozenset((upper, lower)))) is not None:
                points = meeting.points(upper), meeting.points(lower)
                stage[place] = replace(duel, points=(*duel.points, points))
        self._round += 1
        self._advance()

    def _advance(self) -> None:
        while True:
            self._stages[-1] = [self._decided(duel) if duel.winner is None else duel for duel in self._stages[-1]]
            winners = [duel.winner for duel in self._stages[-1]]
            if None in winners or len(winners) == 1:
                return
            self._stages.append(_duels(winners))

    def _decided(self, duel: Duel) -> Duel:
        """Return a duel with its winner, if it has one by now."""
        better, *rivals = self._by_seed(duel)
        if not rivals:
            return replace(duel, winner=better, decided_by=DecidedBy.BYE)
        winner, decided_by = self._outcome(duel, better)
        if decided_by is None and self.field.is_absent(rivals[0], self._round):
            winner, decided_by = better, DecidedBy.WALKOVER
        elif decided_by is None and self.field.is_absent(better, self._round):
            winner, decided_by = rivals[0], DecidedBy.WALKOVER
        return replace(duel, winner=winner, decided_by=decided_by)

    def _outcome(self, duel: Duel, better: int) -> tuple[int | None, DecidedBy | None]:
        """Return who has won by the encounters so far, and how."""
        best_of, tie_encounters = self.field.encounters, self.field.settings.tie_encounters
        signs = [_sign(upper - lower) for upper, lower in duel.points]
        won, lost = signs.count(1), signs.count(-1)
        if max(won, lost) <= best_of / 2 and len(signs) < best_of:
            return None, None
        if won != lost:
            return duel.entrants[won < lost], DecidedBy.ENCOUNTERS
        lead = _sign(sum(upper - lower for upper, lower in duel.points))
        if lead:
            return duel.entrants[lead < 0], DecidedBy.POINTS
        return (better, DecidedBy.SEED) if len(signs) >= best_of + tie_encounters else (None, None)

    def stages(self) -> tuple[tuple[Duel, ...], ...]:
        """Return the bracket: every stage from the first to the final, also those whose entrants are still open.

        The winners of two neighbouring duels meet in the next stage.
        """
        stages = list(map(tuple, self._stages))
        while len(stages[-1]) > 1:
            stages.append(tuple(_duels([duel.winner for duel in stages[-1]])))
        return tuple(stages)

    def winner(self) -> int | None:
        """Return who has won the final; None before that."""
        return self._stages[-1][0].winner if len(self._stages[-1]) == 1 else None

    def ranking(self) -> list[Placing]:
        """Return the entrants by the stage they reached; those who left in the same stage share a rank."""
        reached = {
            k: number
            for number, stage in enumerate(self._stages)
            for duel in stage
            for k in duel.entrants
            if k is not None
        }
        if (champion := self.winner()) is not None:
            reached[champion] += 1
        order = sorted(reached, key=lambda k: (-reached[k], self._seed_of[k]))
        ranks = competition_ranks([-reached[k] for k in order])
        return [
            Placing(
                rank,
                k,
                {"seed": self._seed_of[k] + 1, "won_stages": reached[k]},
                self._how_won() if k == champion else "",
            )
            for rank, k in zip(ranks, order, strict=True)
        ]

    def _how_won(self) -> str:
        """Return by which rule the final was decided, if not by the encounters that were planned (2, 4)."""
        final = self._stages[-1][0]
        planned, played = self.field.encounters, len(final.points)
        more = f"{counted(played - planned, 'more encounter')} of a drawn final"
        if final.decided_by is DecidedBy.WALKOVER:
            return "by a walkover in the final"
        if final.decided_by is DecidedBy.SEED:
            return f"as the better seed, after {more}" if played > planned else "as the better seed in a drawn final"
        if final.decided_by is DecidedBy.POINTS:
            own = final.entrants.index(final.winner)
            shown = " : ".join(f"{sum(points[side] for points in final.points):g}" for side in (own, 1 - own))
            return f"by the points of a drawn final, {shown}" + (f", after {more}" if played > planned else "")
        return f"after {more}" if played > planned else ""

    def status(self) -> str:
        return f"{sum(len(self._by_seed(duel)) for duel in self._stages[-1])} of {self.field.entrants} still in"


def bracket(entrants: int) -> list[int]:
    """Return the seeds from 0 in the order of the draw, as many as the next power of two: 0 7 3 4 1 6 2 5."""
    order = [0]
    while len(order) < entrants:
        size = 2 * len(order)
        order = [seed for better in order for seed in (better, size - 1 - better)]
    return order
