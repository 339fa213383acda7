"""A tournament that plays until it is decided, simulated: bots of known strengths, through the code that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.base.enums import ClaimKind, StopReason
from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.base.until import Until, check_until, is_number
from arena.ratings.decided import Decision, MadeClaim, Pair
from arena.ratings.distributions import Floats, normal_cdf
from arena.ratings.light_fit import MATCHES, SPREAD, PairTotals
from arena.tournament.formats.deciding import Deciding

Integers = NDArray[np.int64]

MAX_BOTS, MAX_STRENGTH = 1000, 1e30
OUTCOMES = np.array([(1.0, 0.0), (0.75, 0.5), (0.5, 0.0), (0.5, 1.0), (0.25, 0.5), (0.0, 0.0)])
"""The possible outcomes of an encounter of two matches: the share of points, and of ties."""

QUADRATURE = 41
FIXED_STEP = 0.02
"""The relative precision to which the length of the fixed schedule is found."""

MAX_FIXED_ENCOUNTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongClaim:
    """A claim that does not hold.

    Attributes:
        bot: the number of the bot that is claimed to be better; of bots claimed to be equal, one of them.
        rival: the other one.
        claim: "better" or "equal".
        difference: the true difference of their strengths.
    """

    bot: int
    rival: int
    claim: ClaimKind
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUntil:
    """What became of a simulated tournament.

    Attributes:
        fixed_matches: the length of the shortest fixed schedule, with equally many encounters of each pair, that
            decides as many pairs in the same world by one look at its end; None if it would take too many.
        looks: how often results were examined.
    """

    matches: int
    fixed_matches: int | None
    wrong_claims: list[WrongClaim]
    claims: int
    decided: bool
    stopped_because: StopReason
    looks: int


def simulate_until(
    strengths: Sequence[float],
    *,
    decided: str = "groups",
    error: float = 0.05,
    draw_probability: float = 0.0,
    opening_spread: float = 0.0,
    rng: int | np.random.Generator = 0,
    indifference: float = 0.5,
    min_encounters: int = 2,
    max_matches: int | None = None,
) -> SimulatedUntil:
    """Play a field of known strengths until it is decided, through the code that decides and pairs in tournaments.

    Args:
        strengths: of the bots, in points of mu.
        decided: what is to be decided: "groups", "order", "first" or "top N".
        error: the chance that any claim is wrong.
        draw_probability: that two equal bots draw.
        opening_spread: how much more the encounters of two bots differ than chance makes them: the standard deviation,
            in points of mu, of what an opening is worth to one of them in both matches. The expected points stay.
        rng: the seed, or a generator.
        indifference: bots closer than this many points of mu are equal.
        min_encounters: every pair first plays these.
        max_matches: end after this many matches.

    Raises:
        UsageError: if a value is not accepted.
    """
    _check(strengths, draw_probability, opening_spread)
    until = Until(
        decided=decided,
        error=error,
        min_encounters=min_encounters,
        indifference=indifference,
        max_matches=max_matches,
    )
    check_until(until, len(strengths))
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise UsageError(f"rng = {shortened_text(repr(rng))}: expected a seed from 0, or a generator") from error
    world = World(strengths, draw_probability, opening_spread, generator)
    return play_until(world, until)


def _check(strengths: Sequence[float], draws: float, spread: float) -> None:
    row = np.asarray(strengths, dtype=object)
    if row.ndim != 1 or not 2 <= len(row) <= MAX_BOTS:
        shown = shortened_text(repr(strengths))
        raise UsageError(f"strengths = {shown}: expected 2 to {MAX_BOTS} numbers, one for each bot")
    for number, strength in enumerate(row):
        if not is_number(strength, -MAX_STRENGTH, MAX_STRENGTH):
            shown = shortened_text(repr(strength))
            raise UsageError(f"strengths[{number}] = {shown}: expected a number, in points of mu")
    for name, value, high in (("draw_probability", draws, 0.99), ("opening_spread", spread, 1000.0)):
        if not is_number(value, 0, high):
            raise UsageError(f"{name} = {shortened_text(repr(value))}: expected a number from 0 to {high:g}")


class World:
    """A simulated world, in which the encounters of each pair are a fixed sequence, whatever else is played.

    Only counts of outcomes are drawn: for more encounters of a pair than known, from the chances of each outcome; for
    fewer, at random from the known ones, without replacement.
    """

    def __init__(
        self,
        strengths: Sequence[float],
        draw_probability: float,
        opening_spread: float,
        generator: np.random.Generator,
        advantages: Floats | None = None,
    ) -> None:
        """Begin; ``advantages[i, j]``: of bot i against bot j beyond their strengths; antisymmetric."""
        self.strengths = np.asarray(strengths, dtype=float)
        self._rows, self._columns = np.triu_indices(len(self.strengths), 1)
        difference = self.strengths[self._rows] - self.strengths[self._columns]
        if advantages is not None:
            difference = difference + advantages[self._rows, self._columns]
        self._chances = _chances_of_outcomes(difference, draw_probability, opening_spread)
        self._generator = generator
        self._known = np.zeros((1, len(difference)), dtype=np.int64)
        self._counts = np.zeros((1, len(difference), len(OUTCOMES)), dtype=np.int64)

    def totals(self, encounters: Floats) -> PairTotals:
        """Return the totals of the first encounters of each pair; ``encounters[i, j]``: how many of bots i and j."""
        numbers = np.rint(encounters[self._rows, self._columns]).astype(np.int64)
        counts = self._first(numbers)
        self._known = np.concatenate([self._known, numbers[None]])
        self._counts = np.concatenate([self._counts, counts[None]])
        points, ties = counts @ OUTCOMES[:, 0], counts @ OUTCOMES[:, 1]
        squares = counts @ OUTCOMES[:, 0] ** 2
        totals = PairTotals.empty(len(self.strengths))
        for matrix, upper, lower in (
            (totals.encounters, numbers, numbers),
            (totals.points, points, numbers - points),
            (totals.squares, squares, numbers - 2 * points + squares),
            (totals.ties, ties, ties),
        ):
            matrix[self._rows, self._columns], matrix[self._columns, self._rows] = upper, lower
        return totals

    def _first(self, numbers: Integers) -> Integers:
        """Return how often each outcome occurs among the first encounters of each pair."""
        pairs = np.arange(len(numbers))
        below = np.where(self._known <= numbers, self._known, -1).argmax(0)
        above = np.where(self._known >= numbers, self._known, np.iinfo(np.int64).max).argmin(0)
        is_within = self._known[above, pairs] >= numbers
        start, counts = self._known[below, pairs], self._counts[below, pairs]
        further = self._generator.multinomial(numbers - start, self._chances)
        if is_within.any():
            known = self._counts[above, pairs] - counts
            further[is_within] = self._drawn(known[is_within], (numbers - start)[is_within])
        return np.asarray(counts + further)

    def _drawn(self, outcomes: Integers, numbers: Integers) -> Integers:
        """Draw that many of known encounters, without replacement."""
        drawn = np.zeros_like(outcomes)
        left, numbers = outcomes.sum(1), numbers.copy()
        for outcome in range(outcomes.shape[1]):
            left = left - outcomes[:, outcome]
            drawn[:, outcome] = self._generator.hypergeometric(outcomes[:, outcome], left, numbers)
            numbers -= drawn[:, outcome]
        return drawn

    def wrong(self, claims: dict[Pair, MadeClaim], indifference: float) -> list[WrongClaim]:
        """Return the claims that do not hold."""
        wrong = []
        for pair, claim in sorted(claims.items()):
            bot, rival = claim.ordered(pair)
            difference = float(self.strengths[bot] - self.strengths[rival])
            holds = abs(difference) <= indifference + 1e-9 if claim.better is None else difference > 0
            if not holds:
                wrong.append(WrongClaim(bot=bot, rival=rival, claim=claim.kind, difference=difference))
        return wrong


def _chances_of_outcomes(difference: Floats, draw_probability: float, opening_spread: float) -> Floats:
    """Return how likely each outcome of an encounter is for each pair: by Gauss-Hermite quadrature over openings.

    Strengths are stretched so that the points that are expected of a match do not depend on the spread of openings.
    """
    wider = sqrt(1 + (opening_spread / SPREAD) ** 2)
    margin = wider * SPREAD * NormalDist().inv_cdf((1 + draw_probability) / 2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE)
    shifted = wider * difference[:, None] + opening_spread * nodes[None, :]
    win, loss = normal_cdf((shifted - margin) / SPREAD), normal_cdf((-shifted - margin) / SPREAD)
    tie = np.maximum(1 - win - loss, 0.0)
    by_outcome = (win**2, 2 * win * tie, 2 * win * loss, tie**2, 2 * tie * loss, loss**2)
    chances = np.stack([each @ weights for each in by_outcome], axis=1) / weights.sum()
    return np.asarray(chances / chances.sum(1, keepdims=True))


def play_until(world: World, until: Until) -> SimulatedUntil:
    """Play in a world until it is decided, and find the fixed schedule that decides as much."""
    size = len(world.strengths)
    deciding, looks = _played(world, until)
    look = deciding.look
    still_open = len(look.open) if look is not None else 0
    settled = (len(look.needed) if look is not None else 0) - still_open
    encounters = _fixed_encounters(world, until, settled)
    pairs = size * (size - 1) // 2
    return SimulatedUntil(
        matches=_matches(deciding),
        fixed_matches=None if encounters is None else int(MATCHES * pairs * encounters),
        wrong_claims=world.wrong(deciding.decision.claims, until.indifference),
        claims=len(deciding.decision.claims),
        decided=still_open == 0,
        stopped_because=deciding.reason or StopReason.MATCHES,
        looks=looks,
    )


def _played(world: World, until: Until) -> tuple[Deciding, int]:
    """Play in a world until it is decided, and return the decisions and how many batches that took."""
    size, looks = len(world.strengths), 0
    deciding = Deciding(until, size, range(size), combinations(range(size), 2))
    while (batch := deciding.advance()).any():
        deciding.played = deciding.played + batch
        deciding.totals = world.totals(deciding.played)
        looks += 1
    return deciding, looks


def _fixed_encounters(world: World, until: Until, pairs: int) -> int | None:
    """Return the fewest encounters of each pair after which a single look decides that many pairs of the verdict."""

    def decides(encounters: int) -> bool:
        size = len(world.strengths)
        everybody = encounters * (1.0 - np.eye(size))
        look = Decision(until, range(size)).look(world.totals(everybody), is_once=True)
        return len(look.needed) - len(look.open) >= pairs

    few, enough = 0, 1
    while not decides(enough):
        few, enough = enough, 2 * enough
        if enough > MAX_FIXED_ENCOUNTERS:
            return None
    while enough - few > max(1, FIXED_STEP * few):
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return enough


def expected_matches(until: Until, strengths: Sequence[float], runs: int, spread: float | None) -> list[int]:
    """Return how many matches simulated tournaments take, the fewest first.

    Args:
        strengths: of the bots, in points of mu.
        runs: how many tournaments.
        spread: if not None, draw other strengths for each run, normal with this standard deviation.
    """
    matches = []
    for number in range(runs):
        generator = np.random.default_rng([number, len(strengths)])
        field = strengths if spread is None else generator.normal(0.0, spread, len(strengths)).tolist()
        matches.append(_matches(_played(World(field, 0.0, 0.0, generator), until)[0]))
    return sorted(matches)


def _matches(deciding: Deciding) -> int:
    return int(MATCHES * deciding.played.sum() / 2)
