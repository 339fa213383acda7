"""Which options ``arena check`` tries a bot with."""

import pytest

from arena.conformance.variants import bounds_of, odd_options

BOUNDS = {
    "plusminus": ([{"grid_first": 2}], [{"size": 100}]),
    "plaid": (
        [{"players": 60}, {"width": 1}, {"width": 1000}, {"height": 1}, {"height": 1000}, {"lines": 1}],
        [],
    ),
    "coprimality": ([{"players": 64}, {"size": 100}, {"max_grids": 1}, {"max_grids": 1000}], []),
    "differences": ([{"scoring": "once"}], [{"size": 100}]),
    "multiplication": ([{"size": 7}], [{"size": 99}]),
}
"""From the tables of options: the bounds, or the nearest value that fits the other options.

A sheet of 60 by 60 can be shared equally by 60 players, and by none of 61 to 64. With one mark for each row and column
of 100, the legal actions of a match are 100² + 99² + …: more than 20,000.
"""


@pytest.mark.parametrize("game", BOUNDS)
def test_every_option_is_tried_at_its_bounds(game):
    assert bounds_of(game) == BOUNDS[game]


@pytest.mark.parametrize("game", BOUNDS)
def test_what_is_tried_in_every_seat_is_not_tried_twice(game):
    bounds = bounds_of(game)
    assert not [options for options in odd_options(game) if options in bounds.tried + bounds.left_out]
