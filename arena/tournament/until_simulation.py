"""A tournament that plays until it is decided, simulated: bots of known strengths, through the code that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, isfinite, sqrt
from statistics import NormalDist

import numpy as np

from arena.base.enums import ClaimKind, StopReason
from arena.base.errors import UsageError
from arena.base.until import Until, check_decided
from arena.ratings.decided import Decision, MadeClaim, Pair
from arena.ratings.distributions import Floats
from arena.ratings.light_fit import MATCHES, SPREAD, PairTotals
from arena.tournament.formats.deciding import Deciding

MAX_BOTS = 1000
FIRST_ENCOUNTERS = 16
FIXED_STEP = 0.02
"""How closely the length of the fixed schedule is found."""

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
        matches: that were played.
        fixed_matches: of the smallest fixed schedule, with equally many encounters of each pair, that decides as many
            of the pairs in the same world, looked at once, at its end; None if it would take too many.
        wrong_claims: the claims that do not hold.
        claims: how many claims were made.
        decided: whether everything was decided.
        stopped_because: why it ended.
        looks: how often results were looked at.
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
    _check(strengths, error, draw_probability, opening_spread, indifference)
    until = Until(
        decided=decided,
        error=error,
        min_encounters=min_encounters,
        indifference=indifference,
        max_matches=max_matches,
    )
    check_decided(until, len(strengths))
    world = World(strengths, draw_probability, opening_spread, np.random.default_rng(rng))
    return play_until(world, until)


def _check(strengths: Sequence[float], error: float, draws: float, spread: float, indifference: float) -> None:
    if not 2 <= len(strengths) <= MAX_BOTS or not all(isfinite(strength) for strength in strengths):
        raise UsageError(f"strengths: expected 2 to {MAX_BOTS} numbers, one for each bot")
    limits = (
        ("error", error, 0.0, 0.5),
        ("draw_probability", draws, -inf, 0.99),
        ("opening_spread", spread, -inf, 1000.0),
        ("indifference", indifference, 0.0, 100.0),
    )
    for name, value, low, high in limits:
        if not low < value <= high or value < 0:
            raise UsageError(f"{name} = {value!r}: expected a number from {max(low, 0.0):g} to {high:g}")


class World:
    """A simulated world, in which the encounters of each pair are a fixed sequence, whatever else is played.

    Attributes:
        strengths: of the bots.
    """

    def __init__(
        self,
        strengths: Sequence[float],
        draw_probability: float,
        opening_spread: float,
        generator: np.random.Generator,
        advantages: Floats | None = None,
    ) -> None:
        """Begin.

        Args:
            strengths: of the bots.
            draw_probability: that two equal bots draw.
            opening_spread: see ``simulate_until``.
            generator: of the results.
            advantages: of the bot of a row against that of a column beyond their strengths; antisymmetric.
        """
        self.strengths = np.asarray(strengths, dtype=float)
        size = len(self.strengths)
        self._rows, self._columns = np.triu_indices(size, 1)
        difference = self.strengths[self._rows] - self.strengths[self._columns]
        if advantages is not None:
            difference = difference + advantages[self._rows, self._columns]
        wider = sqrt(1 + (opening_spread / SPREAD) ** 2)
        self._difference = difference * wider
        self._margin = wider * SPREAD * NormalDist().inv_cdf((1 + draw_probability) / 2)
        self._opening_spread = opening_spread
        self._generator = generator
        self._sums = np.zeros((3, len(difference), 1))

    def totals(self, encounters: Floats) -> PairTotals:
        """Return what the first encounters of each pair come to.

        Args:
            encounters: how many, by the numbers of the bots; symmetric.
        """
        count = encounters[self._rows, self._columns].astype(np.intp)
        while self._sums.shape[2] <= count.max():
            self._sums = np.concatenate([self._sums, self._sums[:, :, -1:] + self._more()], axis=2)
        points, squares, ties = self._sums[:, np.arange(len(count)), count]
        totals = PairTotals.empty(len(self.strengths))
        totals.encounters[:] = encounters
        for matrix, upper, lower in (
            (totals.points, points, count - points),
            (totals.squares, squares, count - 2 * points + squares),
            (totals.ties, ties, ties),
        ):
            matrix[self._rows, self._columns], matrix[self._columns, self._rows] = upper, lower
        return totals

    def _more(self) -> Floats:
        """Return sums over further encounters: of points, of their squares and of ties."""
        shape = (len(self._difference), max(FIRST_ENCOUNTERS, self._sums.shape[2] - 1))
        opening = self._opening_spread * self._generator.standard_normal(shape) if self._opening_spread else 0.0
        points, ties = np.zeros(shape), np.zeros(shape)
        for _ in range(int(MATCHES)):
            performance = SPREAD * self._generator.standard_normal(shape) + opening + self._difference[:, None]
            is_tie = np.abs(performance) <= self._margin if self._margin else np.zeros(shape, dtype=bool)
            points += np.where(is_tie, 0.5, performance > 0) / MATCHES
            ties += is_tie / MATCHES
        return np.cumsum(np.stack([points, points**2, ties]), axis=2)

    def wrong(self, claims: dict[Pair, MadeClaim], indifference: float) -> list[WrongClaim]:
        """Return the claims that do not hold."""
        wrong = []
        for (a, b), claim in sorted(claims.items()):
            bot, rival = (b, a) if claim.better == b else (a, b)
            difference = float(self.strengths[bot] - self.strengths[rival])
            holds = abs(difference) <= indifference + 1e-9 if claim.better is None else difference > 0
            if not holds:
                kind = ClaimKind.EQUAL if claim.better is None else ClaimKind.BETTER
                wrong.append(WrongClaim(bot=bot, rival=rival, claim=kind, difference=difference))
        return wrong


def play_until(world: World, until: Until) -> SimulatedUntil:
    """Play in a world until it is decided, and find the fixed schedule that decides as much."""
    size = len(world.strengths)
    course = Deciding(until, size, range(size), combinations(range(size), 2))
    looks = 0
    while (batch := course.advance()).any():
        course.played = course.played + batch
        course.totals = world.totals(course.played)
        looks += 1
    look = course.look
    still_open = len(look.open) if look is not None else 0
    wanted = (len(look.needed) if look is not None else 0) - still_open
    encounters = _fixed_encounters(world, until, wanted)
    pairs = size * (size - 1) // 2
    return SimulatedUntil(
        matches=int(MATCHES * course.played.sum() / 2),
        fixed_matches=None if encounters is None else int(MATCHES * pairs * encounters),
        wrong_claims=world.wrong(course.decision.claims, until.indifference),
        claims=len(course.decision.claims),
        decided=still_open == 0,
        stopped_because=course.reason or StopReason.MATCHES,
        looks=looks,
    )


def _fixed_encounters(world: World, until: Until, wanted: int) -> int | None:
    """Return the fewest encounters of each pair after which a single look decides so many pairs of the verdict."""

    def decides(encounters: int) -> bool:
        size = len(world.strengths)
        everybody = encounters * (1.0 - np.eye(size))
        look = Decision(until, range(size)).look(world.totals(everybody), is_once=True)
        return len(look.needed) - len(look.open) >= wanted

    few, enough = 0, 1
    while not decides(enough):
        few, enough = enough, 2 * enough
        if enough > MAX_FIXED_ENCOUNTERS:
            return None
    while enough - few > max(1, FIXED_STEP * few):
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return enough
