"""The samples worked out by the designer (shared by his texts: the grid, the lists and the scores)."""

import pytest

from arena.games import make_game
from arena.games.differences import DifferencesState
from arena.games.plaid import PlaidState


def heights_of(drawing):
    rows = [line.split() for line in drawing.strip().splitlines()]
    size = len(rows)
    return tuple(next(size - r for r in range(size) if rows[r][c] in "*x") for c in range(size))


PLUSMINUS = heights_of("""
    . * . . . . . .
    . . . . . . . *
    . . . . . . * .
    . . . . . * . .
    . . * . . . . .
    . . . . * . . .
    . . . * . . . .
    * . . . . . . .
""")

DIFFERENCES = heights_of("""
    . x . . . . . . .
    . . . . . . . . x
    . . x . . . . . .
    . . . . . x . . .
    x . . . . . . . .
    . . . x . . . . .
    . . . . . . . x .
    . . . . . . x . .
    . . . . x . . . .
""")


@pytest.mark.parametrize("grid_first", [1, 2])
def test_plusminus_sample_comes_out_when_played_action_by_action(grid_first):
    game = make_game("plusminus", size=8, grid_first=grid_first)
    state = game.initial_state()
    for zero, one in zip("+-+-+-+", "++-++-+", strict=True):
        assert game.seat_to_act(state) == 0
        state = game.apply(state, zero)
        assert game.seat_to_act(state) == 1
        state = game.apply(state, one)
    for number, (x, y) in enumerate(enumerate(PLUSMINUS, 1)):
        assert game.seat_to_act(state) == (number + grid_first - 1) % 2
        state = game.apply(state, (x, y))
    assert game.is_over(state)
    assert (game.scores(state), game.ranks(state)) == ((4, 5), (2, 1))


@pytest.mark.parametrize(("scoring", "scores"), [("distinct", (5, 7)), ("once", (2, 6))])
def test_differences_sample(scoring, scores):
    game = make_game("differences", size=9, scoring=scoring)
    state = DifferencesState(DIFFERENCES)
    assert game.scores(state) == scores
    assert game.ranks(state) == (2, 1)


def test_plaid_example_gives_player_two_the_rectangles_listed():
    """h = 8, v = 7, three players: player 2 owns (2,1) (5,1) (8,1) (3,2) (6,2) (1,3), counted from the top left."""
    game = make_game("plaid", players=3, width=36, height=45, lines=15)
    places_x, places_y = (1, 3, 6, 10, 15, 21, 28), (1, 3, 6, 10, 15, 21, 28, 36)
    widths, heights = [1, 2, 3, 4, 5, 6, 7, 8], [9, 8, 7, 6, 5, 4, 3, 2, 1]  # heights from the top row down
    owned = {(2, 1), (5, 1), (8, 1), (3, 2), (6, 2), (1, 3)}
    number = {(x, y): (y - 1) * 8 + x - 1 for y in range(1, 10) for x in range(1, 9)}
    assert {square for square in number if square[1] <= 2 and number[square] % 3 == 1} | {(1, 3)} == owned
    expected = [0.0, 0.0, 0.0]
    for (x, y), i in number.items():
        expected[i % 3] += (widths[x - 1] ** 2 + heights[y - 1] ** 2) ** 0.5
    state = PlaidState(places_x, places_y)
    assert game.is_over(state)
    assert game.scores(state) == pytest.approx(expected, rel=1e-12)


def test_turns_of_coprimality_and_the_first_jump_of_multiplication_are_those_of_the_designer():
    """2 by seat 0, 3 by seat 1, 4 and 5 by seat 0, 6 and 7 by seat 1, 8 to 11 by seat 0 (three seats: by the third)."""
    for players, expected in ((2, [0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1]), (3, [0, 1, 2, 2, 0, 0, 1, 1, 1, 1, 2, 2])):
        game = make_game("coprimality", players=players, size=14)
        state = game.initial_state()
        seats = []
        for x in range(2, 14):  # straight along the top border: neighbours are consecutive, so always coprime
            seats.append(game.seat_to_act(state))
            state = game.apply(state, (x, 14))
        assert seats == expected
    game = make_game("multiplication", players=3, size=10)
    state = game.initial_state()
    for x in range(1, 11):
        assert game.seat_to_act(state) == (x - 1) % 3
        state = game.apply(state, (x, x))
    assert game.seat_to_act(state) == 0
    state = game.apply(state, (10, 10))  # from (1, 1): nine columns times nine rows
    assert game.scores(state) == (81, 0, 0)
    assert game.seat_to_act(state) == 1
