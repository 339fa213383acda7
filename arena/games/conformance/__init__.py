"""A conformance suite for games: what every game promises, checked by playing it.

>>> from arena.games import make_game
>>> check(make_game("differences", size=3), matches=2)
()

``arena check --rules module:Class`` runs the same checks, and then lets bots play.
"""

from arena.games.conformance.finding import Finding
from arena.games.conformance.suite import CHECKS, CheckResult, check, run_checks

__all__ = ["CHECKS", "CheckResult", "Finding", "check", "run_checks"]
