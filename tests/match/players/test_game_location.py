from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from arena.base.errors import DefinitionError, GameError
from arena.base.records import Bot, Fault
from arena.games import make_game
from arena.match.players.diagnosis import Failure, hint_for
from arena.match.players.game_location import check_readable_game, find_external_game
from arena.match.single_match import play_match
from arena.tournament.definition import make_definition
from tests import mistaken_games
from tests.conftest import BOTS

GREEDY, MINIMAL = str(BOTS / "greedy"), str(BOTS / "minimal")
SOURCE = Path(mistaken_games.__file__).read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    find_external_game.cache_clear()  # other tests have had files of the same names
    known = set(sys.modules)

    def write_files(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
        return tmp_path

    yield write_files
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in sys.modules[name].__file__:
            del sys.modules[name]


def test_a_game_in_one_file_and_a_game_in_a_package_can_be_read(write):
    write(located_alone=SOURCE)
    check_readable_game("located_alone:Counting")
    check_readable_game("tests.mistaken_games:Counting")
    check_readable_game("differences")
    check_readable_game("arena.games.differences:Differences")


@pytest.mark.parametrize(
    "line", ["import located_helper", "from located_helper import GOAL", "import json, located_helper as helper"]
)
def test_a_file_that_imports_one_beside_it_is_named_before_the_first_match(write, line):
    write(located_helper="GOAL = 3\n", located_game=f"{SOURCE}\n{line}\n")
    with pytest.raises(GameError) as caught:
        check_readable_game("located_game:Counting")
    assert str(caught.value) == (
        "the game 'located_game:Counting' is at fault: its module imports 'located_helper' from beside it, which bots"
        f" can't read; make both one package (located_game.py:{SOURCE.count(chr(10)) + 2})"
    )
    with pytest.raises(GameError, match="imports 'located_helper'"):
        play_match("located_game:Counting", GREEDY, MINIMAL)


def test_a_tournament_of_such_a_game_is_refused_only_if_a_bot_needs_the_rules(write):
    write(located_helper="GOAL = 3\n", located_game=f"{SOURCE}\nimport located_helper\n")
    with pytest.raises(DefinitionError, match="the game 'located_game:Counting' is at fault: its module imports"):
        make_definition("t", "located_game:Counting", {"a": GREEDY, "b": MINIMAL})
    make_definition("t", "located_game:Counting", {"a": MINIMAL, "b": MINIMAL})


def test_a_module_without_a_file_is_named(monkeypatch):
    module = type(sys)("located_nowhere")
    exec(SOURCE, module.__dict__)
    monkeypatch.setitem(sys.modules, "located_nowhere", module)
    assert make_game("located_nowhere:Counting").players == 2
    with pytest.raises(GameError, match="its module is no file that bots could read; put it into a file of its own"):
        check_readable_game("located_nowhere:Counting")


@pytest.mark.skipif(os.geteuid() != 0, reason="bots of others than root run as the same user")
def test_a_file_that_only_its_owner_may_read_is_named(write):
    directory = write(located_private=SOURCE)
    (directory / "located_private.py").chmod(0o600)
    with pytest.raises(GameError, match="its module may not be read by bots, which run as another user: chmod"):
        check_readable_game("located_private:Counting")


TRACEBACK = """\
Traceback (most recent call last):
  File "/bots/b/bot.py", line 7, in <module>
    run(choose)
  File "/bots/b/bot.py", line 4, in choose
    return game.apply(state, 1)
  File "{file}", line 41, in apply
    return table[3]
{below}KeyError: 3
"""


def hint(below=""):
    bot = Bot(name="b", version="1", command=("python3", "bot.py"), directory="/bots/b")
    fault = Fault(seat=0, kind="exit", ply=2, detail="exit status 1")
    stderr = TRACEBACK.format(file=mistaken_games.__file__, below=below)
    return hint_for(Failure(bot, fault, stderr, game="tests.mistaken_games:ApplyRaises"))


def test_a_bot_that_ended_in_the_rules_points_at_the_game():
    assert hint() == (
        "the rules of tests.mistaken_games:ApplyRaises raised KeyError at mistaken_games.py, line 41: 3; unless the"
        " program called them with an action that is not legal, the game is at fault:"
        " arena check --rules tests.mistaken_games:ApplyRaises"
    )


def test_a_bot_that_ended_in_its_own_code_does_not():
    assert hint('  File "/bots/b/bot.py", line 9, in callback\n    return table[3]\n').startswith(
        "the program raised KeyError at bot.py, line 9"
    )
