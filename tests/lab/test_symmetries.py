"""A symmetric first action, and the symmetric rest of a match, give every seat the same score."""

import random

import pytest

from arena.games import make_game
from arena.lab.symmetries import symmetries_of, up_to_symmetry

GAMES = [
    ("differences", {"size": 6}, 3),
    ("differences", {"size": 5, "scoring": "once"}, 3),
    ("multiplication", {"size": 7}, 1),
    ("multiplication", {"size": 10, "players": 3}, 1),
    ("coprimality", {"size": 5}, 1),
    ("coprimality", {"size": 4, "players": 3}, 1),
    ("plusminus", {"size": 4}, 0),
    ("plaid", {"width": 6, "height": 6, "lines": 5}, 0),
]


@pytest.mark.parametrize(("name", "options", "count"), GAMES, ids=str)
def test_a_mirrored_match_has_the_same_scores(name, options, count):
    game = make_game(name, **options)
    maps = symmetries_of(game, name)
    assert len(maps) == count
    rng = random.Random(5)
    for mirror in maps * 20:
        state = mirrored = game.initial_state()
        while not game.is_over(state):
            action = rng.choice(game.legal_actions(state))
            state, mirrored = game.apply(state, action), game.apply(mirrored, mirror(action))
            assert game.scores(state) == game.scores(mirrored)
        assert game.is_over(mirrored)


def test_one_of_each_class_is_kept():
    game = make_game("differences", size=3)
    squares = game.legal_actions(game.initial_state())
    assert up_to_symmetry(game, "differences", squares) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    game = make_game("coprimality", size=4)
    assert up_to_symmetry(game, "coprimality", [(1, 3), (2, 4)]) == [(1, 3)]
