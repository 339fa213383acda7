"""How many mistakes in rules ``arena check --rules`` finds, of those that authors make."""

from __future__ import annotations

import inspect

import pytest

from arena.base.errors import ArenaError
from arena.games import GAMES
from arena.games.conformance import check
from arena.match.check.rules import check_rules
from arena.match.check.rules_process import RulesCheck
from tests import mistaken_games
from tests.games import rule_mistakes
from tests.games.test_planted import PLANTED

MISTAKEN = [
    name
    for name, kind in vars(mistaken_games).items()
    if inspect.isclass(kind) and issubclass(kind, mistaken_games.Counting) and name != "Counting"
]
REPLACED = rule_mistakes.mistakes()
RIGHT = {f"{file.stem}:{kind}": given for file, kind, given in list(rule_mistakes.GAMES.values())[:4]}
MISSED = 0.05
"""The share that may be missed."""


def finds(path, given):
    """Return the check that fails; "" if none does."""
    try:
        steps = list(check_rules(RulesCheck(game=path, given=given, within_seconds=10.0)))
    except ArenaError as error:
        return str(error)
    return next((f"{step.check}: {step.detail}" for step in steps if not step.is_passed), "")


@pytest.mark.soak
def test_nineteen_of_twenty_mistakes_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    missed = [name for name in MISTAKEN if not check(getattr(mistaken_games, name), matches=6, call_seconds=2.0)]
    for path, (game, text) in REPLACED.items():
        (tmp_path / f"{path.partition(':')[0]}.py").write_text(text)
        found = finds(path, rule_mistakes.GAMES[game][2])
        print(path, found[:150])
        missed += [path] * (not found)
    tried = len(PLANTED) + len(MISTAKEN) + len(REPLACED)  # the planted ones have a test each
    assert tried >= 120
    assert len(missed) <= MISSED * tried, missed


@pytest.mark.soak
@pytest.mark.parametrize("path", [*GAMES, *RIGHT])
def test_games_without_mistakes_pass(path, monkeypatch):
    monkeypatch.syspath_prepend(str(rule_mistakes.ROOT / "docs" / "examples"))
    assert finds(path, RIGHT.get(path, ())) == ""
