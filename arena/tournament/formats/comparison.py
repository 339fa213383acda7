"""The format of ``arena compare``: a bot against another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from arena.base.enums import Decision
from arena.base.errors import DefinitionError
from arena.base.results import StoredResult, points_of
from arena.ratings.result_arrays import counting
from arena.ratings.sequential import Hypotheses, SequentialTest, Verdict
from arena.tournament.formats.format import Field, Format, Meeting, Round

# Comparison: one bot against another until a sequential test has decided; see ``arena/ratings/sequential.py``.
#
# 1. Entrant 0 is the new version, entrant 1 the old one, which sits in all other seats of games for more.
# 2. A round is a batch of encounters. They count in the order of the schedule, up to the one that decides.
# 3. If the two bots always play the same matches from an opening, a duplicate encounter does not count.

BATCH = 16
"""Encounters in a round: enough to keep many workers busy, few enough that little is played in vain."""


class Comparison(Format[Hypotheses]):
    """Encounters until there is a verdict, or ``field.encounters`` have been played."""

    Settings = Hypotheses
    has_fixed_field = True

    def __init__(self, field: Field[Hypotheses]) -> None:
        super().__init__(field)
        self.encounters_per_round = BATCH
        self._played: list[tuple[StoredResult, ...]] = []
        self._scores: list[float] = []
        self._test = SequentialTest(field.settings)

    def check_field(self) -> None:
        if self.field.entrants != 2:
            raise DefinitionError(f"entrants: expected 2 in a comparison, got {self.field.entrants}")

    @property
    def verdict(self) -> Verdict:
        return self._test.verdict

    def total_encounters(self) -> int:
        return -(-self.field.encounters // self.field.games)

    def next_round(self) -> Round | None:
        """Return one more batch, or what the limit leaves of it, unless it is decided."""
        left = self.total_encounters() - len(self._played) // self.field.games
        if self.verdict.decision is not Decision.OPEN or left <= 0:
            return None
        return Round(((0, *[1] * (self.field.players - 1)),), encounters=min(left, BATCH))

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        players = self.field.players
        for meeting in meetings:
            together = groupby(meeting.results, key=attrgetter("encounter"))
            encounters = [tuple(results) for _, results in together]
            self._played += [results for results in encounters if len(results) == players]
        scores = [self._score(results) for results in self._counted()]
        if scores[: len(self._scores)] != self._scores:  # an encounter that looked like a duplicate counts after all
            self._scores, self._test = [], SequentialTest(self.field.settings)
        for score in scores[len(self._scores) :]:
            self._test.add(score)
        self._scores = scores

    def _counted(self) -> list[tuple[StoredResult, ...]]:
        openings = [tuple(result.opening_hash for result in results) for results in self._played]
        actions = [tuple(result.actions_hash for result in results) for results in self._played]
        counts = counting(openings, actions)
        return [results for results, counted in zip(self._played, counts, strict=True) if counted]

    @property
    def duplicate_encounters(self) -> int:
        """How many encounters repeated an earlier one and did not count."""
        return len(self._played) - len(self._counted())

    def status(self) -> str:
        evidence = self.verdict.evidence
        low, high = self.field.settings.bounds
        percent = 100 * evidence.los
        return f"LLR {evidence.llr:z.2f} ({low:.2f}, {high:.2f}), Elo {evidence.elo[0]:+z.0f}, LOS {percent:.1f} %"

    def _score(self, results: Sequence[StoredResult]) -> float:
        new = self.field.bots[0]
        total = sum(points_of(result.ranks, result.bots.index(new)) for result in results)
        return round(total / len(results), 9)
