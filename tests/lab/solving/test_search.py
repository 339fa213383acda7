"""A search that is stopped anywhere has bounds that are true, and says that it is exact only when it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games import make_game
from arena.lab.solving.limits import Limits
from arena.lab.solving.search import Search
from arena.lab.solving.worth import HIGHEST, LOWEST, Known, Outcome, value_of, value_of_margin, worth_between
from tests.lab import games
from tests.lab.solving.test_retrograde import SMALL, trees


def value(game, state):
    outcome, margin = games.plain_value(game, state)
    ranks = {1: (1, 2), 0: (1, 1), -1: (2, 1)}[outcome]
    return value_of((margin, 0), ranks)


class Ticking:
    """A clock that reaches the deadline when it has been read a number of times."""

    def __init__(self, times):
        self.left = times

    def __call__(self):
        self.left -= 1
        return 0.0 if self.left >= 0 else 1.0


@pytest.mark.slow(only=("plaid, one line short", "plaid, pie"), sample=True)
@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_bounds_of_an_interrupted_search_hold_the_value(name, options):
    game = make_game(name, **options)
    start = game.initial_state()
    truth = value(game, start)
    for times in range(12):
        search = Search(game, Limits(deadline=1.0, clock=Ticking(times)))
        found = search.bounds(start)
        assert found.low <= truth <= found.high
        if found.low == found.high:
            break
        search.limits = Limits()
        again = search.bounds(start)  # what was learned so far is still true
        assert again.low == again.high == truth


@given(trees(2), st.integers(-3, 3), st.integers(1, 4))
def test_a_narrow_question_has_a_true_answer(positions, alpha, width):
    game = games.game_of(positions)
    low, high = value_of_margin(alpha), value_of_margin(alpha + width)
    search = Search(game, Limits())
    found = search.bounds(0, low, high)
    truth = value(game, 0)
    assert found.low <= truth <= found.high
    assert found.low >= high or found.high <= low or found.low == found.high
    exact = search.bounds(0)
    assert exact.low == exact.high == truth


@given(trees(2))
def test_without_room_for_a_table_the_value_is_the_same(positions):
    game = games.game_of(positions)
    found = Search(game, Limits(memory_bytes=0)).bounds(0)
    assert found.low == found.high == value(game, 0)


def test_worth_says_what_the_bounds_say_also_of_a_match_longer_than_the_search_looks_ahead():
    game = games.game_of((), games.Endless)
    found = Search(game, Limits()).bounds(0)
    assert (found.low, found.high, found.depth) == (LOWEST, HIGHEST, 200)
    exact = worth_between(value_of((3, 5), (2, 1)), value_of((3, 5), (2, 1)), Known.TABLE)
    assert (exact.margin, exact.outcome, exact.low, exact.high) == (-2, Outcome.LOSS, -2, -2)
    bounds = worth_between(value_of_margin(1), value_of_margin(4), Known.SEARCH)
    assert (bounds.margin, bounds.outcome, bounds.low, bounds.high) == (None, Outcome.WIN, 1, 4)
    half = worth_between(LOWEST, 0, Known.PROVED)
    assert (half.margin, half.outcome, half.low, half.high) == (None, None, None, 0)
    nothing = worth_between(LOWEST, HIGHEST, Known.SEARCH)
    assert (nothing.margin, nothing.outcome, nothing.low, nothing.high) == (None, None, None, None)
    by_ranks = worth_between(value_of((3, 5), (1, 2)), HIGHEST, Known.SEARCH, ranks_follow_scores=False)
    assert (by_ranks.outcome, by_ranks.low) == (Outcome.WIN, None)
    narrow = value_of((1.0, 1.0), (1, 2))  # a win by less than nine decimals
    worth = worth_between(narrow, narrow, Known.TABLE)
    assert (worth.margin, worth.outcome) == (0, Outcome.WIN)
