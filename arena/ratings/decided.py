"""What encounters have decided about a field; claims that stay true although results were looked at again and again.

1. Strengths and their errors come from a light fit (``light_fit.py``).
2. Group-sequential bounds for looks at geometric distances: an error is spent in proportion to a power of the
   information (Kim and DeMets, Biometrika 74, 1987), late looks have the same bound, early ones a wider one.
3. A pair is decided when one bot is better for certain, or when both are certainly closer than the indifference. The
   error is divided among the claims that are still to be made, once for each kind of claim (Holm, Scandinavian Journal
   of Statistics 6, 1979); bounds of one level are crossed by those of a higher one, so that a share may grow from look
   to look (Maurer and Bretz, Statistics in Biopharmaceutical Research 5, 2013). A claim stands once it is made.

How often this errs, and what it costs, is measured by ``benchmarks/decided.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.base.enums import ClaimKind
from arena.base.until import Until
from arena.ratings.distributions import Floats
from arena.ratings.light_fit import MATCHES, Fit, PairTotals, fit

GROWTH = 1.25
"""By how much the encounters of an undecided bot grow from look to look."""

BETTER_LOOKS = 4.0
EQUAL_LOOKS = 3.0
"""How many independent looks all looks at a difference are worth."""

EARLY = 0.6
"""The power of the information that the error spent so far grows with."""

SHARE_OF_KIND = 0.5
"""Of the error, for all claims of a kind: that a bot is better, that bots are equal."""

FIELD_MATCHES = 300
"""Of a bot against its whole field: by then a rival that it only happens to beat shows."""

CLEARLY_MORE = 1.5
CONTRADICTION = 2.5
"""Standard errors."""

RANKING_DECIMALS = 9


class Bounds(NamedTuple):
    """How many standard errors decide.

    Attributes:
        better: how far apart bots must be, at late looks.
        equal: how far within the indifference the difference must be.
    """

    better: float
    equal: float
    is_once: bool

    @classmethod
    def of(cls, better_share: float, equal_share: float, is_once: bool) -> Bounds:
        """Return the bounds for shares of the error."""
        normal = NormalDist()
        better_looks, equal_looks = (1.0, 1.0) if is_once else (BETTER_LOOKS, EQUAL_LOOKS)
        better = normal.inv_cdf(1 - better_share / better_looks / 2)
        return cls(better, normal.inv_cdf(1 - equal_share / equal_looks), is_once)

    def apart(self, error: Floats, indifference: float) -> Floats:
        """Return how many standard errors apart bots have to be, given the standard errors."""
        late = 2 * (self.equal * error / indifference) ** 2
        early = 0.0 if self.is_once else 2 * EARLY * np.log(np.maximum(late, 1.0))
        return np.asarray(np.sqrt(self.better**2 + early))


def _inflation(bound: Floats | float, freedom: Floats) -> Floats:
    """Return by how much a bound grows where errors are estimated from few encounters (Student's t, to first order)."""
    return np.asarray(1 + (np.square(bound) + 1) / (4 * np.maximum(freedom, 1.0)))


Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Two bots about which the verdict still needs a claim.

    Attributes:
        bots: their numbers, the stronger one first.
        difference: the difference of their strengths.
        encounters: about how many more encounters of the two would decide.
    """

    bots: Pair
    difference: float
    error: float
    encounters: float


@dataclass(frozen=True, slots=True)
class Look:
    """What is known after a look.

    Attributes:
        ranking: the numbers of the bots, the strongest first.
        needed: the pairs that the verdict is about.
        open: those of them that are not decided.
        telling: what an encounter of two bots says about their difference, by their numbers.
    """

    ranking: tuple[int, ...]
    needed: tuple[Pair, ...]
    open: tuple[OpenPair, ...]
    telling: Floats


@dataclass(frozen=True, slots=True)
class MadeClaim:
    """A claim about two bots.

    Attributes:
        better: the number of the better one; None if they are equal.
        error: the share of the error that it has.
    """

    better: int | None
    error: float

    @property
    def kind(self) -> ClaimKind:
        """What is claimed."""
        return ClaimKind.EQUAL if self.better is None else ClaimKind.BETTER

    def ordered(self, pair: Pair) -> Pair:
        """Return the two bots that it is about, the better one first."""
        return (pair[1], pair[0]) if self.better == pair[1] else pair


@dataclass(slots=True)
class Decision:
    """The claims about a field so far, look after look.

    Attributes:
        active: the numbers of the bots in the table.
        claims: by pair, the smaller number first.
        contradicted: pairs whose points against each other differ from what both score against the field, as where
            three bots beat each other in a circle: they are measured against the field.
    """

    until: Until
    active: Sequence[int]
    claims: dict[Pair, MadeClaim] = field(default_factory=dict)
    contradicted: set[Pair] = field(default_factory=set)
    _start: Floats | None = None

    @property
    def field_encounters(self) -> int:
        """How many encounters of each pair measure a bot against its whole field."""
        return ceil(FIELD_MATCHES / (MATCHES * len(self.active)))

    def _counted(self, totals: PairTotals) -> PairTotals:
        """Return totals in which pairs that contradict the field count as little as others, and note new ones."""
        fewest = np.where(totals.encounters > 0, totals.encounters, np.inf).min(1)  # of a bot with one of its rivals
        enough = np.maximum(self.field_encounters, np.maximum(fewest[:, None], fewest[None, :]))
        share = np.minimum(1.0, enough / np.maximum(totals.encounters, 1.0))
        often = np.triu(share < 1 / CLEARLY_MORE)
        if often.any():
            alone = fit(totals.scaled(share), self._start).contradictions(totals)
            for a, b in np.argwhere(often & (np.abs(alone) > CONTRADICTION)).tolist():
                self.contradicted.add(_key(self.active[a], self.active[b]))
        places = {bot: place for place, bot in enumerate(self.active)}
        factor = np.ones(share.shape)
        for a, b in self.contradicted:
            pair = [places[a], places[b]], [places[b], places[a]]
            factor[pair] = share[pair]
        return totals.scaled(factor) if self.contradicted else totals

    def about(self, a: int, b: int) -> MadeClaim | None:
        """Return the claim about two bots."""
        return self.claims.get(_key(a, b))

    def look(self, totals: PairTotals, *, is_once: bool = False) -> Look:
        """Make every claim that holds now.

        Args:
            totals: the totals of all encounters so far, by the numbers of bots.
            is_once: whether this is the only look ever, as after a fixed schedule.
        """
        active_totals = self._counted(totals.of(self.active))
        light_fit = fit(active_totals, self._start)
        self._start = light_fit.strengths
        rounded = np.round(light_fit.strengths, RANKING_DECIMALS)
        order = sorted(range(len(self.active)), key=lambda k: (-rounded[k], k))
        index_pairs = needed_pairs(self.until, order)
        pairs = [(self.active[a], self.active[b]) for a, b in index_pairs]
        measured = _Measured.of(index_pairs, light_fit, active_totals)
        bounds = self._claim(pairs, measured, is_once)
        remaining = measured.encounters(bounds, self.until)
        still_open = tuple(
            OpenPair(pair, float(measured.difference[k]), float(measured.error[k]), float(remaining[k]))
            for k, pair in enumerate(pairs)
            if self.about(*pair) is None
        )
        telling = np.zeros(totals.encounters.shape)
        telling[np.ix_(self.active, self.active)] = light_fit.telling
        return Look(tuple(self.active[k] for k in order), tuple(pairs), still_open, telling)

    def _claim(self, pairs: Sequence[Pair], measured: _Measured, is_once: bool) -> Bounds:
        """Make claims until no more follow, each of which leaves more of the error to the others; return the bounds."""
        while True:
            standing_claims = [claim for pair in pairs if (claim := self.about(*pair)) is not None]
            equals = sum(claim.better is None for claim in standing_claims)
            budget = SHARE_OF_KIND * self.until.error
            better_share = budget / max(len(pairs) - len(standing_claims) + equals, 1)
            equal_share = budget / max(len(pairs) - equals, 1)
            bounds = Bounds.of(better_share, equal_share, is_once)
            is_better, is_equal = measured.better(bounds, self.until), measured.equal(bounds, self.until)
            new = [k for k, pair in enumerate(pairs) if self.about(*pair) is None and (is_better[k] or is_equal[k])]
            for k in new:
                better = pairs[k][0 if measured.difference[k] > 0 else 1]
                claim = MadeClaim(better, better_share) if is_better[k] else MadeClaim(None, equal_share)
                self.claims[_key(*pairs[k])] = claim
            if not new:
                return bounds


@dataclass(frozen=True, slots=True)
class _Measured:
    """The differences of the pairs that a verdict is about, with their standard errors.

    Attributes:
        difference: of the strengths, shape (pairs,).
        freedom: degrees of freedom of the error, at least.
        telling: what an encounter of the two says about the difference.
    """

    difference: Floats
    error: Floats
    freedom: Floats
    telling: Floats

    @classmethod
    def of(cls, pairs: Sequence[Pair], light_fit: Fit, totals: PairTotals) -> _Measured:
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        encounters = totals.encounters.sum(1)
        return cls(
            light_fit.strengths[first] - light_fit.strengths[second],
            light_fit.errors(first, second),
            np.maximum(encounters[first] + encounters[second] - 2, 1.0),
            light_fit.telling[first, second],
        )

    def _apart(self, bounds: Bounds, until: Until) -> Floats:
        """Return how far apart bots must be so that one is better."""
        needed = bounds.apart(self.error, until.indifference)
        return needed * self.error * _inflation(needed, self.freedom)

    def _margin(self, bounds: Bounds) -> Floats:
        """Return how far a difference may be from its estimate, to either side."""
        return bounds.equal * self.error * _inflation(bounds.equal, self.freedom)

    def better(self, bounds: Bounds, until: Until) -> NDArray[np.bool_]:
        """Return where one of the bots is better."""
        return np.abs(self.difference) > self._apart(bounds, until)

    def equal(self, bounds: Bounds, until: Until) -> NDArray[np.bool_]:
        """Return where the bots are equal; an order is looked for twice as closely before."""
        margin = self._margin(bounds)
        is_within = np.abs(self.difference) + margin < until.indifference
        return np.asarray(is_within & (margin < _widest_margin(until)))

    def encounters(self, bounds: Bounds, until: Until) -> Floats:
        """Return about how many more encounters of each pair alone would decide, if their difference is as it seems."""
        gap = np.abs(self.difference)
        to_better = self._apart(bounds, until) / np.maximum(gap, 1e-9)
        to_equal = self._margin(bounds) / np.maximum(np.minimum(until.indifference - gap, _widest_margin(until)), 1e-9)
        times_information = np.minimum(to_better, to_equal) ** 2
        return np.asarray(np.maximum(times_information - 1, 0.0) / (self.error**2 * self.telling))


def _widest_margin(until: Until) -> float:
    """Return how far a difference may be from its estimate where bots are called equal."""
    return until.indifference / (2 if until.decided == "order" else 1)


def _key(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def needed_pairs(until: Until, order: Sequence[int]) -> list[Pair]:
    """Return the pairs that a verdict is about, given the bots in the order of their strengths."""
    if until.top is None:
        return list(pairwise(order))
    return [(a, b) for a in order[: until.top] for b in order[until.top :]]
