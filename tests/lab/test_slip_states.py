"""How many states follow an opening: counted by looking at all of them, by the rules in Python."""

from itertools import islice

import pytest

from arena.games import make_game
from arena.lab.kernels.slip_states import least_states, may_be_solved
from arena.lab.kernels.slips import encounters_by_rules
from arena.tournament.openings import openings

BOARDS = [
    ("differences", {"size": 4}, (0, 1, 3)),
    ("plusminus", {"size": 3}, (0, 3, 4, 5)),
    ("plusminus", {"size": 3, "grid_first": 2}, (2, 5)),
    ("multiplication", {"size": 7}, (5, 7, 8, 9, 12)),
    ("plaid", {"width": 4, "height": 5, "lines": 3}, (0, 2)),
    ("plaid", {"width": 6, "height": 6, "lines": 4}, (1, 3)),
]


@pytest.mark.parametrize(("name", "options", "numbers"), BOARDS)
def test_states_after_an_opening_are_as_many_as_there_are(name, options, numbers):
    game = make_game(name, **options)
    for plies in numbers:
        for opening in islice(openings(game, plies, 1), 2):
            found = encounters_by_rules(game, opening, 1, 0, (0, 0)).states
            expected = least_states(game, plies)
            assert found >= expected if name == "plaid" else found == expected


def test_a_sheet_that_ends_at_its_last_line_has_as_many_as_are_said():
    """With 5 lines, and so an odd number of one kind, the rectangles of 6 by 7 can always be shared by two."""
    game = make_game("plaid", width=6, height=7, lines=5)
    assert encounters_by_rules(game, (("v", 1),), 1, 0, (0, 0)).states == least_states(game, 1) == 1 + 10 + 45 + 120


def test_where_states_cannot_be_counted_nothing_is_said():
    assert least_states(make_game("coprimality"), 2) is None


@pytest.mark.parametrize("name", ["differences", "plusminus", "multiplication", "plaid"])
def test_more_plies_than_a_match_has_are_no_fault(name):
    assert least_states(make_game(name), 1000) <= 1


@pytest.mark.parametrize(
    ("name", "options", "enough"),
    [("differences", {"size": 12}, 5), ("plaid", {}, 9), ("multiplication", {"size": 11}, 6), ("coprimality", {}, 0)],
)
def test_more_plies_leave_fewer_states_and_actions(name, options, enough):
    """Of plaid, 110 + 109 * 110 + … actions after eight plies would be too many, for which states alone are not."""
    game = make_game(name, **options)
    assert [may_be_solved(game, plies) for plies in range(enough + 2)] == [False] * enough + [True] * 2
