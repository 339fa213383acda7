"""Ladder: open-ended; each round pairs the entrants whose matches are most informative.

1. An entrant plays if its rating is uncertain, with a sigma of at least 0.7 of the widest, or if it has waited three
   rounds. So new entrants catch up, and nobody is starved.
2. It meets the rivals that are nearest when every strength is drawn at random from its rating (Thompson sampling):
   close matches are the most informative, and uncertain ratings are explored. In simulated fields of 50 bots this took
   a quarter fewer matches than a round robin to the same order.
3. Ratings are the TrueSkill fit of all results so far.
4. Entrants may come at any time; one that is taken out of the file, has withdrawn or is disqualified is not paired
   any more.
5. If it is supervised, slow entrants are suspended from rounds so that nobody exceeds a time quota, and so are
   entrants behind void matches.
6. It stops after ``ladder.matches`` matches, when the widest ± 95 % interval is ``ladder.margin_95`` or narrower, or
   after ``ladder.hours`` of a run; without any of these when it is stopped. A round that has begun is played to its
   end; the last ones before ``ladder.matches`` have no more encounters than are left, in all seats and all games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Le

from arena.base.results import EntrantRating
from arena.base.seeds import derived_seed
from arena.base.text import counted, duration_text
from arena.tournament.formats.format import Field, Format, Meeting, Pairing, Round, StopLimits

if TYPE_CHECKING:  # importing ratings takes 0.3 s and 12 MiB, and reading a tournament file needs none
    from arena.ratings import Rating

UNCERTAIN = 0.7
"""The share of the widest sigma from which on an entrant plays in every round."""

MAX_ROUNDS_WAITING = 3
MAX_LEAST_CERTAIN = 16
"""The most ratings that visitors see after each round; they are written every second."""

DRAWS_ESTIMATED_EVERY = 8
"""Rounds between two estimates of the draw probability: it hardly changes, and an estimate takes several fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderSettings:
    """``[ladder]``: when it stops. Without any of these it runs until it is stopped.

    Attributes:
        matches: stop after this many matches.
        margin_95: stop when the widest interval is at most ± this many points of mu.
        hours: stop a run after this time.
    """

    matches: Annotated[int, Ge(1), Le(1_000_000_000)] | None = None
    margin_95: Annotated[float, Gt(0), Le(100)] | None = None
    hours: Annotated[float, Gt(0), Le(100_000)] | None = None


class Ladder(Format[LadderSettings]):
    """Rounds without end, or until the ratings are precise enough."""

    Settings = LadderSettings
    open_entry = True

    def __init__(self, field: Field[LadderSettings]) -> None:
        super().__init__(field)
        self._counts: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        self._round = 0
        self._last_rounds: dict[int, int] = {}
        self._rated: Mapping[str, Rating] | None = {}
        self._counts_for_draws: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
        self._draw_probability: float | None = None

    def total_encounters(self) -> int | None:
        return self._encounters_after(0)

    def _encounters_after(self, played: int) -> int | None:
        """Return how many encounters in each game follow these matches until ``ladder.matches`` are played."""
        matches = self.field.settings.matches
        return None if matches is None else -(-(matches - played) // (self.field.players * self.field.games))

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Count the results. Ratings are computed only on demand, because a resumed ladder adds thousands of rounds."""
        self._round += 1
        for meeting in meetings:
            for result in meeting.results:
                self._counts[result.bots, result.ranks] += 1
            self._last_rounds |= dict.fromkeys(meeting.pairing, self._round)
        self._rated = None
        if self._estimates_draws:
            self._counts_for_draws, self._draw_probability = self._counts.copy(), None

    @property
    def _estimates_draws(self) -> bool:
        return self._round % DRAWS_ESTIMATED_EVERY == 1

    @property
    def _ratings(self) -> Mapping[str, Rating]:
        if self._rated is None:
            self._rated = self._fitted()
        return self._rated

    def _fitted(self) -> Mapping[str, Rating]:
        """Rate everybody; the result does not depend on how often ratings were computed before."""
        from arena.ratings import fit_counted

        if self._draw_probability is None:
            fitted = fit_counted(self._counts_for_draws.items(), polished=False)
            self._draw_probability = fitted.draw_probability
            if self._estimates_draws:
                return fitted.ratings
        return fit_counted(self._counts.items(), draw_probability=self._draw_probability, polished=False).ratings

    def _present(self) -> tuple[int, ...]:
        return self.field.present(self._round + 1)

    def _waited(self, k: int) -> int:
        """Return in how many rounds since its last one an entrant has not played, although it was not absent.

        That depends on nobody else, so a late entry or a resumed ladder changes nothing.
        """
        rounds = range(self._last_rounds.get(k, 0) + 1, self._round + 1)
        if all(absence.entrant != k for absence in self.field.absences):
            return len(rounds)
        return sum(not self.field.is_absent(k, number) for number in rounds)

    def _available(self) -> list[int]:
        return [k for k in self._present() if k not in self.suspended]

    def _rating(self, k: int) -> Rating:
        from arena.ratings import MU, SIGMA, Rating

        return self._ratings.get(self.field.bots[k], Rating(MU, SIGMA))

    def _widest(self, entrants: Iterable[int]) -> float:
        return max((self._rating(k).sigma for k in entrants), default=0.0)

    def _widest_margin(self, entrants: Iterable[int]) -> float:
        from arena.ratings.environment import CONFIDENCE_95

        return CONFIDENCE_95 * self._widest(entrants)

    def next_round(self) -> Round | None:
        available = self._available()
        if len(available) < self.field.players or self._is_over(available):
            return None
        left, encounters = self._encounters_after(self._counts.total()), self.field.encounters
        most = len(available) if left is None else max(1, left // encounters)
        drawn = {k: self._drawn(k) for k in available}
        free = set(drawn)
        pairings: list[Pairing] = []
        for k in self._due():
            if len(pairings) < most and k in free and len(free) >= self.field.players:
                rivals = nsmallest(self.field.players - 1, free - {k}, key=lambda j: (abs(drawn[j] - drawn[k]), j))
                pairing = tuple(sorted((k, *rivals)))
                free -= set(pairing)
                pairings.append(pairing)
        fewer = left if left is not None and left < encounters else None
        return Round(tuple(sorted(pairings)), tuple(sorted(free)), fewer)

    def stop_limits(self) -> StopLimits:
        settings = self.field.settings
        have_all_played = all(self.field.bots[k] in self._ratings for k in self._present())
        return StopLimits(
            matches=settings.matches,
            margin_95=settings.margin_95,
            hours=settings.hours,
            widest_margin=self._widest_margin(self._present()) if have_all_played else None,
        )

    def least_certain(self) -> tuple[EntrantRating, ...]:
        from arena.ratings.environment import CONFIDENCE_95

        rated = [(bot, self._ratings[bot]) for k in self._present() if (bot := self.field.bots[k]) in self._ratings]
        return tuple(
            EntrantRating(bot=bot, mu=rating.mu, margin_95=CONFIDENCE_95 * rating.sigma)
            for bot, rating in nlargest(MAX_LEAST_CERTAIN, rated, key=lambda pair: pair[1].sigma)
        )

    def plan(self) -> str:
        settings = self.field.settings
        limits = [
            None if settings.matches is None else f"after {counted(settings.matches, 'match')}",
            None if settings.margin_95 is None else f"when the widest interval is ± {settings.margin_95:g}",
            None if settings.hours is None else f"when a run has lasted {duration_text(3600 * settings.hours)}",
        ]
        stops = [limit for limit in limits if limit is not None]
        if not stops:
            return "runs until it is stopped"
        *first, last = stops
        return "stops " + " or ".join([", ".join(first), last] if first else [last])

    def _is_over(self, available: Sequence[int]) -> bool:
        settings = self.field.settings
        if settings.matches is not None and self._counts.total() >= settings.matches:
            return True
        return settings.margin_95 is not None and self._widest_margin(available) <= settings.margin_95

    def _due(self) -> list[int]:
        waited = {k: self._waited(k) for k in self._available()}
        enough = UNCERTAIN * self._widest(waited)
        due = [k for k in waited if self._rating(k).sigma >= enough or waited[k] >= MAX_ROUNDS_WAITING]
        return sorted(due, key=lambda k: (-waited[k], -self._rating(k).sigma, k))

    def _drawn(self, k: int) -> float:
        uniform = (derived_seed("ladder", self.field.rng_seed, self._round, k) + 0.5) / 2**63
        rating = self._rating(k)
        return NormalDist(rating.mu, rating.sigma).inv_cdf(uniform)

    def status(self) -> str:
        return f"round {self._round}"
