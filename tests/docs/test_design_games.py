import ast
import re
from pathlib import Path

import pytest

from arena.games import GAMES

PACKAGE = Path(__file__).parents[2] / "arena"
DESIGN = (PACKAGE / "DESIGN.md").read_text(encoding="utf-8")

OF_THEIR_OWN = {"match/check/test_check.py", "analysis/text/test_notebook.py", "lab/test_random_play.py"}
"""Tables that a sixth game need not be in."""


def tables_of_games():
    """Yield the modules with a table or classes of all games, as the page names them."""
    for root in (PACKAGE, PACKAGE.parent / "tests"):
        for path in root.rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            tables = [{getattr(key, "value", None) for key in node.keys} for node in nodes if type(node) is ast.Dict]
            classes = " ".join(node.name.lower() for node in nodes if type(node) is ast.ClassDef)
            if any(keys >= set(GAMES) for keys in tables) or all(name in classes for name in GAMES):
                yield str(path.relative_to(root))


@pytest.mark.slow
def test_the_places_of_a_sixth_game_are_named_and_counted():
    (count, places) = re.search(r"^\| a sixth built-in game \| (\d+), .*?: (.*) \|$", DESIGN, re.MULTILINE).groups()
    named = re.findall(r"`(.+?)`|(its file)", places)
    assert len(named) == int(count)
    expected = set(tables_of_games()) - OF_THEIR_OWN
    assert {name.replace("GAMES", "games/__init__.py") for name, _ in named} >= expected
    assert len(expected) >= 7
