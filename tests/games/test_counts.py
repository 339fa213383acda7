"""Numbers of complete action sequences, counted by the games and by an independent brute force."""

from functools import cache
from math import factorial

import pytest

from arena.games import make_game
from tests.games.reference import REFERENCE, count_sequences


def count(game, state):
    @cache
    def below(state):
        if game.is_over(state):
            return 1
        return sum(below(game.apply(state, action)) for action in game.legal_actions(state))

    return below(state)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plusminus", {"size": 2}),
        ("plusminus", {"size": 3}),
        ("plusminus", {"size": 3, "grid_first": 2}),
        ("differences", {"size": 3}),
        ("differences", {"size": 4, "scoring": "once"}),
        ("plaid", {"width": 2, "height": 2, "lines": 1}),
        ("plaid", {"width": 3, "height": 4, "lines": 2}),
        ("plaid", {"width": 4, "height": 3, "lines": 3}),
        ("plaid", {"players": 3, "width": 3, "height": 3, "lines": 2}),
        ("plaid", {"players": 3, "width": 3, "height": 4, "lines": 1}),
        ("coprimality", {"size": 3, "max_grids": 1}),
        ("coprimality", {"size": 3, "max_grids": 2}),
        ("coprimality", {"players": 3, "size": 3, "max_grids": 1}),
        ("coprimality", {"players": 3, "size": 3, "max_grids": 2}),
        ("coprimality", {"size": 4, "max_grids": 1}),
    ],
)
def test_counts_agree_with_brute_force(name, options):
    game = make_game(name, **options)
    assert count(game, game.initial_state()) == count_sequences(REFERENCE[name](**options))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_placing_marks_can_be_done_in_n_factorial_squared_ways(size):
    game = make_game("differences", size=size)
    assert count(game, game.initial_state()) == factorial(size) ** 2


def test_numbering_the_marks_of_multiplication_can_be_done_in_n_minus_one_factorial_ways():
    game = make_game("multiplication", size=7)
    state = game.initial_state()
    for square in zip(range(1, 8), (3, 1, 4, 7, 5, 2, 6), strict=True):
        state = game.apply(state, square)
    assert count(game, state) == factorial(6)
