"""Who entered a tournament, from definitions of any quality."""

import json

import pytest

from arena.store.home import ArenaHome
from arena.store.results.tournament_reader import Roster, roster_of
from tests.store.results.samples import definition, line


def test_a_roster_has_the_bots_and_games_of_its_tournament(tmp_path):
    with ArenaHome(tmp_path) as home:
        home.store.create_tournament(definition(name="t"), [line(1)])
        home.store.create_tournament(definition(name="u"), [line(1)])
        home.store.delete(home.store.tournament("u"))
        expected = Roster(frozenset({"a@1", "b@1"}), frozenset({"differences"}))
        assert home.store.rosters() == {1: expected, 2: expected}
        assert home.store.rosters([2, 7]) == {2: expected}


@pytest.mark.parametrize(
    "stored", ["", "[]", "{", '{"entrants": 1}', '{"entrants": [1], "games": []}', json.dumps({"entrants": []})]
)
def test_a_definition_that_can_not_be_read_has_nobody(stored):
    assert roster_of(stored) == Roster()


def test_a_game_that_is_no_name_is_left_out():
    stored = {"entrants": [{"name": "a", "version": "1"}], "games": [{"game": ["x"]}, {"game": "plaid"}]}
    assert roster_of(json.dumps(stored)) == Roster(frozenset({"a@1"}), frozenset({"plaid"}))
