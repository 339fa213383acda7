"""From results to ratings in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from arena.base.errors import expect
from arena.base.until import is_number
from arena.ratings.environment import BETA, MU, SIGMA, Rating
from arena.ratings.result_arrays import EncounterArrays, Result
from arena.ratings.set_fit import SetFit

MAX_DRAW_ROUNDS = 6
"""Fits in which the draw probability is matched to the results."""


class FittedField(NamedTuple):
    """Ratings by name, in alphabetical order, and the draw probability of two equal players as used."""

    ratings: dict[str, Rating]
    draw_probability: float


def rate_results(
    results: Iterable[Result],
    *,
    draw_probability: float | None = None,
    mu: float = MU,
    sigma: float = SIGMA,
    beta: float = BETA,
) -> dict[str, Rating]:
    """Rate everybody who occurs in ``results``; their order makes no difference.

    Args:
        results: names and ranks of each match; any number of players, two or more.
        draw_probability: that of two equal players; by default the one under which the ratings expect as many ties as
            there were, kept within 0.001 and 0.95. (The plain share of ties is too low in a field of unequal bots: a
            weak bot rarely ties with a strong one.)
        mu: mean of the prior.
        sigma: standard deviation of the prior.
        beta: standard deviation of a performance in one match.

    Returns:
        The rating of each name, the names in alphabetical order.

    Raises:
        UsageError: if a number is not accepted, or a result has fewer than two names, the same name
            twice, or ranks that are not whole numbers.
    """
    expect(is_number(mu), "mu", mu, "a number")
    expect(is_number(sigma) and sigma > 0, "sigma", sigma, "a number above 0")
    expect(is_number(beta) and beta > 0, "beta", beta, "a number above 0")
    is_probability = draw_probability is None or (is_number(draw_probability) and 0 <= draw_probability < 1)
    expect(is_probability, "draw_probability", draw_probability, "None, or a number of 0 or more and below 1")
    counted = Counter((tuple(names), tuple(ranks)) for names, ranks in results)
    return fit_counted(counted.items(), draw_probability=draw_probability, mu=mu, sigma=sigma, beta=beta).ratings


def fit_counted(
    counted: Iterable[tuple[Result, int]],
    *,
    draw_probability: float | None = None,
    mu: float = MU,
    sigma: float = SIGMA,
    beta: float = BETA,
    polished: bool = True,
) -> FittedField:
    """Rate everybody, as ``rate_results`` does, from distinct results and how often each occurred.

    Without ``polished`` the last sweep by the package is left out, which is quicker.
    """
    arrays = EncounterArrays.of_results(counted)
    fit = SetFit(arrays.names, arrays.results, mu, beta)
    probability = fit.tied_share() if draw_probability is None else draw_probability
    for _ in range(MAX_DRAW_ROUNDS):
        fit.run(probability, sigma)
        if draw_probability is not None:
            break
        matched = fit.matching_draw_probability()
        if abs(matched - probability) < 0.01 * probability:
            break
        probability = matched
    return FittedField(fit.polish() if polished else fit.ratings(), probability)
