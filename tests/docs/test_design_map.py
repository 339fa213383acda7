"""The list of modules in arena/DESIGN.md: each module once, in its room, in a few words."""

import ast
import re
from pathlib import Path

import pytest

from arena.games import GAMES

PACKAGE = Path(__file__).parents[2] / "arena"
DESIGN = (PACKAGE / "DESIGN.md").read_text(encoding="utf-8")
MAP = DESIGN.partition("\n## The modules\n")[2].partition("\n## ")[0]
ROOMS = re.findall(r"^\*\*`([\w/]+)/`\*\*:\n(.*?)\.$", MAP, re.MULTILINE | re.DOTALL)


def entries():
    """Yield the path and the description of each module, as the page has them."""
    for room, modules in ROOMS:
        directory = "" if room == "arena" else f"{room}/"
        for entry in " ".join(modules.split()).split("; "):
            name, _, description = entry.partition(" – ")
            yield directory + name.strip("`"), description


def modules():
    """Return the paths of all modules; a package's ``__init__.py`` is described with its room, above the list."""
    paths = (path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts and path.name != "__init__.py")
    return sorted(str(path.relative_to(PACKAGE)) for path in paths)


def test_every_paragraph_is_a_room():
    assert len(ROOMS) == MAP.count("**`")


def test_every_module_is_listed_once_and_nothing_else():
    assert sorted(path for path, _ in entries()) == modules()


def test_a_room_is_in_the_order_of_the_alphabet():
    for room, listed in ROOMS:
        names = [name for name in re.findall(r"`(\w+)\.py` –", listed) if name != "__main__"]
        assert names == sorted(names), room


def test_a_module_is_described_in_ten_words_at_most():
    for path, description in entries():
        assert 1 <= len(description.split()) <= 10, path


OF_THEIR_OWN = {"conformance/test_check.py", "report/test_notebook.py"}
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
    named = re.findall(r"`(.+?)`|(its file|this list|a golden transcript)", places)
    assert len(named) == int(count)
    expected = set(tables_of_games()) - OF_THEIR_OWN
    assert {name.replace("GAMES", "games/__init__.py") for name, _ in named} >= expected
    assert len(expected) >= 7
