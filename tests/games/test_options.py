"""Bad options are refused with the option, the value and what would be accepted."""

import pytest

from arena.base.errors import OptionError, UnknownNameError, UsageError
from arena.games import GAMES, make_game
from arena.games.game import IntOption

REFUSED = [
    ("plusminus", {"size": 1}, "size = 1: expected a whole number from 2 to 100"),
    ("plusminus", {"size": 8.0}, "size = 8.0: expected a whole number from 2 to 100"),
    ("plusminus", {"size": True}, "size = True: expected a whole number from 2 to 100"),
    ("plusminus", {"grid_first": 3}, "grid_first = 3: expected 1 or 2"),
    ("plusminus", {"grid_first": "1"}, "grid_first = '1': expected 1 or 2"),
    ("plusminus", {"players": 3}, "players = 3: plusminus is a game for exactly 2 players"),
    ("differences", {"players": 1}, "players = 1: differences is a game for exactly 2 players"),
    ("differences", {"scoring": "twice"}, "scoring = 'twice': expected 'distinct' or 'once'"),
    ("differences", {"sise": 8}, "sise = 8: differences has no such option; did you mean 'size'?"),
    ("coprimality", {"size": 2}, "size = 2: expected a whole number from 3 to 100"),
    ("coprimality", {"max_grids": 0}, "max_grids = 0: expected a whole number from 1 to 1000"),
    ("multiplication", {"size": 8}, "multiplication for 2 players needs 2k + 1 with k >= 3; nearest: 7 or 9"),
    ("multiplication", {"size": 5}, "multiplication for 2 players needs 2k + 1 with k >= 3; nearest: 7"),
    ("multiplication", {"players": 3}, "multiplication for 3 players needs 3k + 1 with k >= 3; nearest: 10"),
    ("multiplication", {"size": 100}, "nearest: 99"),
    ("plaid", {"width": 5, "height": 5}, "5 * 5 is not divisible by 2"),
    ("plaid", {"players": 7}, "60 * 60 is not divisible by 7"),
    ("plaid", {"width": 4, "height": 3, "lines": 6}, "a sheet of 4 by 3 has room for at most 5 lines"),
    ("plaid", {"lines": 0}, "lines = 0: expected a whole number from 1"),
    ("plaid", {"pie": 9}, "pie = 9: expected a whole number from 0 to 3"),
    ("differences", {"pie": True}, "pie = True: expected a whole number from 0 to 3"),
    ("coprimality", {"pie": 1, "players": 3}, "pie = 1: the pie rule is for two players, and players = 3; expected 0"),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_a_bad_option_is_refused_with_what_is_accepted(name, options, message):
    with pytest.raises(OptionError) as raised:
        make_game(name, **options)
    assert message in str(raised.value)
    assert isinstance(raised.value, ValueError)
    assert raised.value.option in {*options, *(option.name for option in GAMES[name].OPTIONS)}


@pytest.mark.parametrize("name", GAMES)
def test_bounds_are_accepted_and_one_beyond_is_not(name):
    fitting = {"multiplication": {"players": 2, "size": 7}, "plaid": {"players": 2, "width": 1000, "height": 1000}}
    for option in GAMES[name].OPTIONS:
        if not isinstance(option, IntOption):
            continue
        for value in (option.minimum - 1, option.maximum + 1):
            with pytest.raises(OptionError):
                make_game(name, **{option.name: value})
        if name not in fitting:
            for value in (option.minimum, option.maximum):
                assert make_game(name, **{option.name: value}).options.get(option.name, option.default) == value
    assert make_game(name, **fitting.get(name, {})).players == 2


def test_defaults_are_those_of_the_rulings_and_an_unknown_game_is_refused():
    assert make_game("plusminus").options == {"size": 8, "grid_first": 1}
    assert make_game("plaid").options == {"players": 2, "width": 60, "height": 60, "lines": 12}
    assert make_game("coprimality").options == {"players": 2, "size": 12, "max_grids": 10}
    assert make_game("differences").options == {"size": 8, "scoring": "distinct"}
    assert make_game("multiplication").options == {"players": 2, "size": 9}
    assert make_game("differences", players=2).players == 2  # it may be said of a game for two
    assert make_game("arena.games.differences:Differences", size=4).name == "differences"
    with pytest.raises(UnknownNameError, match="unknown game 'plaids': did you mean 'plaid'"):
        make_game("plaids")


@pytest.mark.parametrize(
    "path", ["nowhere.module:Game", "arena.games:Nothing", "arena.base.errors:UsageError", ":", "a:"]
)
def test_a_dotted_path_that_holds_no_game_is_refused(path):
    with pytest.raises(UsageError, match="game"):
        make_game(path)
