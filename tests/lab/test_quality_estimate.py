from dataclasses import replace
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.lab.measures.formulas import draws_and_margins, first_seat, length_and_branching, played_profile
from arena.lab.measures.measure import (
    Cluster,
    Estimate,
    Kind,
    Unit,
    between,
    difference,
    ends_text,
    estimate_text,
    exactly,
    mean_of,
    share_of,
)
from arena.lab.measures.skill_ladder import at_random
from tests.lab.quality_games import UNEQUAL, played_at_random, table_game


def ones(successes, n):
    return [Cluster(1.0)] * successes + [Cluster(0.0)] * (n - successes)


# R. G. Newcombe, Statistics in Medicine 17, 1998, 857-872, table I, method 3.
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_shares_have_the_interval_that_newcombe_prints(successes, n, low, high):
    estimate = share_of(ones(successes, n))
    assert (estimate.value, estimate.n) == (pytest.approx(successes / n), n)
    assert (estimate.low, estimate.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


# The same, 873-890, table II, method 10.
@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((48, 80), (56, 70), 0.0524, 0.3339),
        ((3, 10), (9, 10), 0.1705, 0.8090),
        ((2, 7), (6, 7), 0.0582, 0.8062),
        ((0, 29), (5, 56), -0.0381, 0.1926),
        ((0, 20), (0, 10), -0.1611, 0.2775),
        ((0, 10), (10, 10), 0.6075, 1.0),
    ],
)
def test_differences_have_the_interval_that_newcombe_prints(one, other, low, high):
    found = difference(share_of(ones(*one)), share_of(ones(*other)))
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_mean_has_the_interval_of_students_sleep_data():
    # Cushny and Peebles, as in W. S. Gosset, Biometrika 6, 1908; R's t.test says 0.7001142 to 2.4598858.
    hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    estimate = mean_of([Cluster(one) for one in hours])
    assert estimate.value == pytest.approx(1.58)
    assert (estimate.low, estimate.high) == (pytest.approx(0.7001142, abs=1e-6), pytest.approx(2.4598858, abs=1e-6))


def test_observations_that_repeat_each_other_say_no_more_than_one_and_what_never_varied_has_an_interval():
    alone = share_of(ones(81, 263))
    repeated = share_of([Cluster(5.0, 5)] * 81 + [Cluster(0.0, 5)] * 182)
    assert repeated.n == 263
    assert (repeated.low, repeated.high) == (pytest.approx(alone.low, abs=1e-3), pytest.approx(alone.high, abs=1e-3))
    halves = share_of([Cluster(0.5)] * 100)
    assert (halves.value, halves.low) == (0.5, pytest.approx(0.5 * 100 / 103.8416, abs=1e-5))
    assert share_of([Cluster(1.0, 4)]).low < 0.3
    assert share_of([]) is share_of([Cluster(0.0, 0)]) is mean_of([Cluster(1.0)]) is None


def test_bounds_have_no_difference_and_ends_that_differ_are_not_shown_as_equal():
    assert difference(between(-1, None), exactly(2.0)) is None
    found = difference(exactly(2.0), exactly(-1.0))
    assert (found.value, found.low, found.high, found.kind) == (-3.0, -3.0, -3.0, Kind.EXACT)
    assert found.lies_below(0)
    assert not found.lies_above(0)
    narrow = Estimate(value=1.1, low=1.0961, high=1.1009, n=200)
    assert estimate_text(narrow, Unit.COUNT) == "1.1 [1.096, 1.101]"
    assert ends_text(replace(narrow, low=0.90212, high=0.90249), Unit.SHARE) == "[90.21, 90.25]"
    assert ends_text(replace(narrow, low=3.0, high=3.0), Unit.COUNT) == "[3, 3]"
    assert ends_text(mean_of([Cluster(12.0)] * 9), Unit.COUNT) == "(all equal)"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_a_share_lies_in_its_interval_and_that_between_none_and_all(pairs):
    clusters = [Cluster(float(min(pair)), max(pair)) for pair in pairs]
    estimate = share_of(clusters)
    if any(one.size for one in clusters):
        assert 0 <= estimate.low <= estimate.value + 1e-12
        assert estimate.value - 1e-12 <= estimate.high <= 1


def truths(game, state=0, chance=1.0, plies=0, choices=0, forced=0):
    actions = game.legal_actions(state)
    if not actions:
        zero, one = game.scores(state)
        yield chance, (zero > one) + (zero == one) / 2, abs(zero - one), plies, choices, forced
    for action in actions:
        share, count = chance / len(actions), len(actions)
        yield from truths(game, game.apply(state, action), share, plies + 1, choices + count, forced + (count == 1))


def expected(game):
    ends = list(truths(game))
    means = [sum(end[0] * end[place] for end in ends) for place in range(1, 6)]
    points, margin, plies, choices, forced = means
    draws = sum(chance for chance, of_first, *_ in ends if of_first == 0.5)
    of_matches = {
        "points of seat 0": points,
        "draws": draws,
        "margin of the first": margin,
        "actions in a match": plies,
    }
    return of_matches | {"legal actions": choices / plies, "forced actions": forced / plies}


def coverage(repetitions):
    # Matches of unequal length, so that positions are clusters, and results of three kinds.
    game = table_game((*UNEQUAL[:5], (0, (4, 7, 8)), (0, (7, 5, 8)), UNEQUAL[7], (None, (2, 2))))
    truth = expected(game)
    hits = dict.fromkeys(truth, 0)
    for repetition in range(repetitions):
        rngs = [Random(1000 * repetition + number) for number in range(100)]
        matches = {"random": played_profile(played_at_random(game, at_random(game), rngs), 2)}
        rows = (*first_seat(matches, 2), *draws_and_margins(matches), *length_and_branching(matches))
        for row in rows:
            hits[row.name] += row.estimate.low <= truth[row.name] <= row.estimate.high
    return {name: count / repetitions for name, count in hits.items()}


# J. A. Hanley and A. Lippman-Hand, JAMA 249, 1983: what is possible if nothing goes wrong in n of n.
@pytest.mark.parametrize(("n", "share"), [(10, 0.259), (20, 0.139), (30, 0.095), (100, 0.0295)])
def test_of_equal_observations_it_is_said_how_many_others_may_differ(n, share):
    found = mean_of([Cluster(12.0)] * n)
    assert (found.value, found.n, found.differing) == (12.0, n, pytest.approx(share, abs=5e-4))
    assert mean_of([Cluster(12.0)] * n + [Cluster(13.0)]).differing is None
    assert share_of([Cluster(1.0)] * n).differing is None
    assert difference(found, found).differing == found.differing


@pytest.mark.slow
def test_intervals_have_the_truth_in_95_of_100_simulated_repetitions():
    shares = coverage(300)  # of six numbers, of which one alone may be off by chance
    assert 0.93 <= fmean(shares.values()) <= 0.97, shares


@pytest.mark.soak
def test_each_interval_has_the_truth_in_95_of_100_simulated_repetitions():
    shares = coverage(3000)
    assert all(0.94 <= share <= 0.96 for share in shares.values()), shares
