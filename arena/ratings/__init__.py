"""Ratings: pure functions from results to TrueSkill ratings, independent of the order of the results.

>>> ratings = rate_results([(("a", "b"), (1, 2)), (("b", "a", "c"), (1, 1, 3))])
>>> ratings["a"].mu > ratings["b"].mu > ratings["c"].mu
True
"""

from __future__ import annotations

from arena.ratings.environment import BETA, MU, SIGMA
from arena.ratings.rated_results import FittedField, fit_counted, rate_results
from arena.ratings.rating import Rating
from arena.ratings.results import Result

__all__ = ["BETA", "MU", "SIGMA", "FittedField", "Rating", "Result", "fit_counted", "rate_results"]
