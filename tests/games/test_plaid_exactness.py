"""Plaid's ties and order are those of the true sums, not of floating point."""

import math
from decimal import Decimal, getcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games import make_game, surds
from arena.games.plaid import PlaidState

getcontext().prec = 80


def one_row(widths, height):
    """A finished sheet of one row of rectangles with these widths; seats 0 and 1 own them in turn."""
    game = make_game("plaid", width=sum(widths), height=height, lines=len(widths) - 1)
    places = tuple(sum(widths[:k]) for k in range(1, len(widths)))
    state = PlaidState(places, ())
    assert game.is_over(state)
    return game, state


def float_sum(widths, height):
    return sum(math.sqrt(w * w + height * height) for w in widths)


def decimal_sum(widths, height):
    return sum(Decimal(w * w + height * height).sqrt() for w in widths)


def test_ties_and_orders_are_those_of_the_true_sums_whatever_floats_say():
    """Diagonals 13√10 + 17√10 against 15√10 + 15√10: both 30√10."""
    game, state = one_row([13, 27, 37, 27], height=39)
    assert float_sum([13, 37], 39) != float_sum([27, 27], 39)
    assert decimal_sum([13, 37], 39) == pytest.approx(decimal_sum([27, 27], 39), rel=Decimal("1e-70"))
    assert game.ranks(state) == (1, 1)
    assert game.scores(state)[0] == game.scores(state)[1] == float(30 * Decimal(10).sqrt())
    game, state = one_row([2, 5, 16, 14, 21, 23, 25, 24], height=1000)
    zero, one = [2, 16, 21, 25], [5, 14, 23, 24]
    assert float(decimal_sum(zero, 1000)) == float(decimal_sum(one, 1000))
    assert decimal_sum(zero, 1000) < decimal_sum(one, 1000)
    assert game.scores(state)[0] == game.scores(state)[1]
    assert game.ranks(state) == (2, 1)


RADICANDS = st.lists(st.integers(1, 5000), min_size=1, max_size=12)


@given(RADICANDS, RADICANDS)
def test_sums_compare_as_decimals_of_80_digits_do(left, right):
    exact_left, exact_right = (sum(Decimal(n).sqrt() for n in numbers) for numbers in (left, right))
    is_tie = surds.sum_of_roots(left) == surds.sum_of_roots(right)
    assert is_tie == (abs(exact_left - exact_right) < Decimal("1e-60"))
    assert surds.is_less(surds.sum_of_roots(left), surds.sum_of_roots(right)) == (
        not is_tie and exact_left < exact_right
    )


def test_sums_that_agree_to_twenty_places_are_told_apart():
    """√(n-1) + √(n+1) < 2√n, by concavity, here by 2.5e-25; numerals above 64 binary places are needed."""
    n = 10**16
    assert surds.is_less({n - 1: 1, n + 1: 1}, {n: 2})
    assert not surds.is_less({n: 2}, {n - 1: 1, n + 1: 1})


@given(RADICANDS)
def test_the_reported_score_is_the_nearest_float(numbers):
    expected = float(sum(Decimal(n).sqrt() for n in numbers))
    assert surds.nearest_float(surds.sum_of_roots(numbers)) == expected
    assert surds.float_sum_of_roots(numbers) == expected


@given(st.integers(1, 10**6))
def test_squarefree_parts_are_squarefree_and_multiply_back(number):
    squarefree, root = surds.squarefree_part(number)
    assert squarefree * root * root == number
    assert all(squarefree % (d * d) for d in range(2, math.isqrt(squarefree) + 1))
