"""Solvers against what is not theirs: all lines of play written out, the samples of the designer, published numbers."""

import ctypes
import random

import pytest

from arena.games import make_game
from arena.games.kernels.loading import solver_of
from tests import needs
from tests.lab import brute_force

pytestmark = needs.program("cc", "gcc", "clang")

PARTIAL_PERMUTATIONS = [2, 7, 34, 209, 1546, 13327, 130922, 1441729, 17572114, 234662231, 3405357682, 53334454417]
"""Of sets of 1, 2, … elements: sequence A002720 of the OEIS."""


def table_of(game, state):
    """Return the kernel in a state, and its table of what can follow; None if it needs none."""
    kernel = solver_of(game)
    kernel.set_state(state)
    plan = kernel.table_plan()
    if plan is None:
        return None, None
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    assert kernel.fill(values)
    return kernel, values


def looked_up(game, table, state):
    kernel = solver_of(game)
    kernel.set_state(state)
    root, values = table
    return kernel.look_up(root, values and ctypes.addressof(values))


@pytest.mark.slow
def test_coprimality_is_worth_what_all_paths_say():
    for size in range(3, 10):
        for grids in (1, 2, 5):
            game = make_game("coprimality", size=size, max_grids=grids)
            assert solver_of(game).solve().outcome == brute_force.coprimality(size, grids)


SAMPLES = [
    ("plusminus", {"size": 8}, ("+-+-+-+", "++-++-+"), (1, 8, 4, 2, 3, 5, 6, 7), 4 - 5),
    ("differences", {"size": 9}, None, (5, 9, 7, 4, 1, 6, 2, 3, 8), 5 - 7),
    ("differences", {"size": 9, "scoring": "once"}, None, (5, 9, 7, 4, 1, 6, 2, 3, 8), 2 - 6),
]


@pytest.mark.parametrize(("name", "options", "signs", "heights", "margin"), SAMPLES, ids=str)
def test_the_samples_of_the_designer_end_as_he_says(name, options, signs, heights, margin):
    """The last mark, whichever it is, is found in a table of all that can follow from half of the marks."""
    game = make_game(name, **options)
    first = game.initial_state()
    first = first if signs is None else first._replace(predictions=signs)
    columns = random.Random(1).sample(range(len(heights)), len(heights) // 2)
    table = table_of(game, first._replace(heights=[0 if k in columns else row for k, row in enumerate(heights)]))
    for column in columns:
        marked = tuple(0 if k == column else row for k, row in enumerate(heights))
        assert looked_up(game, table, first._replace(heights=marked)) == [((margin > 0) - (margin < 0), margin)]


def test_as_many_states_are_counted_as_was_published():
    for size, states in enumerate(PARTIAL_PERMUTATIONS[1:], 2):
        assert solver_of(make_game("differences", size=size)).needs().states == states
    for size in range(2, 10):
        pairs, states = 4 ** (size - 1), PARTIAL_PERMUTATIONS[size - 1]
        needs_ = solver_of(make_game("plusminus", size=size)).needs()
        assert needs_.states == pairs * states + pairs - 1
