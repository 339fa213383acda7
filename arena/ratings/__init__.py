"""Ratings: pure functions from results to TrueSkill ratings, independent of the order of the results.

>>> from arena.ratings import rate_results
>>> ratings = rate_results([(("a", "b"), (1, 2)), (("b", "a", "c"), (1, 1, 3))])
>>> ratings["a"].mu > ratings["b"].mu > ratings["c"].mu
True

Standings of tournaments are rated by ``fit_encounters`` (``field_fit.py``), whose errors need more than ratings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the table below for type checkers; a test compares them
    from arena.ratings.environment import BETA as BETA
    from arena.ratings.environment import MU as MU
    from arena.ratings.environment import SIGMA as SIGMA
    from arena.ratings.environment import Rating as Rating
    from arena.ratings.rated_results import FittedField as FittedField
    from arena.ratings.rated_results import fit_counted as fit_counted
    from arena.ratings.rated_results import rate_results as rate_results
    from arena.ratings.result_arrays import Result as Result

_MODULE_OF = {
    **dict.fromkeys(("BETA", "MU", "SIGMA"), "arena.ratings.environment"),
    **dict.fromkeys(("FittedField", "fit_counted", "rate_results"), "arena.ratings.rated_results"),
    "Rating": "arena.ratings.environment",
    "Result": "arena.ratings.result_arrays",
}

__all__ = [*_MODULE_OF]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker would take it for a promise that every name exists

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: what rates takes 0.3 s to import."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'arena.ratings' has no attribute {name!r}")
        return getattr(import_module(_MODULE_OF[name]), name)
