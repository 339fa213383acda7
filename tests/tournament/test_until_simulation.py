"""Playing until it is decided, in simulated worlds: what it claims, what that costs, and what it refuses."""

import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from arena import simulate_until
from arena.base.errors import UsageError
from arena.base.until import Until
from arena.ratings.decided import Decision
from arena.ratings.light_fit import SPREAD, PairTotals, fit
from arena.tournament.formats.deciding import Deciding
from arena.tournament.until_simulation import World, play_until

RUNS = 20
FIELDS = {"far apart": [0, 3, 6, 9], "equal": [0.0] * 6, "two clusters": [-4, -4, -4, 4, 4, 4]}
FIELDS |= {"just not equal": [0, 0.52, 1.04, 1.56]}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.slow
def test_claims_are_seldom_wrong(name):
    """More than 4 wrong runs of 20 have a probability of 0.3 % where 5 % are wrong (the binomial distribution)."""
    kinds = ({}, {"draw_probability": 0.6}, {"opening_spread": 6.0}, {"draw_probability": 0.3, "opening_spread": 3.0})
    runs = [simulate_until(FIELDS[name], rng=number, **kinds[number % 4]) for number in range(RUNS)]
    assert all(run.decided for run in runs)
    assert sum(bool(run.wrong_claims) for run in runs) <= 4
    reasons = {run.stopped_because for run in runs}
    assert reasons == {"decided"} if name == "far apart" else name == "just not equal" or reasons == {"equal"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("spread", 0.6), ("equal", 1.5)])
def test_it_plays_less_than_the_fixed_schedule_that_decides_as_much(name, most):
    normal = np.random.default_rng(1)
    fields = [4 * normal.standard_normal(12) if name == "spread" else np.zeros(12) for _ in range(10)]
    runs = [simulate_until(field, rng=number) for number, field in enumerate(fields)]
    assert sum(run.matches for run in runs) <= most * sum(run.fixed_matches for run in runs)


def test_the_top_takes_less_than_the_order_and_a_budget_ends_it():
    field = [0, 1, 2, 3, 9]
    first, order = (simulate_until(field, decided=decided) for decided in ("first", "order"))
    assert first.decided and first.claims == 4 and first.matches < order.matches
    assert simulate_until(field, decided="top 2").claims >= 6
    bounded = simulate_until([0, 0, 0, 0], max_matches=500)
    assert (bounded.decided, bounded.stopped_because, bounded.matches) == (False, "max_matches", 500)


def test_bots_too_far_apart_to_tell_anything_meet_only_at_first():
    world = World(8.0 * np.arange(5), 0.0, 0.0, np.random.default_rng(0))
    course = Deciding(Until(), 5, range(5), combinations(range(5), 2))
    while (batch := course.advance()).any():
        course.played = course.played + batch
        course.totals = world.totals(course.played)
    assert course.played[0, 4] == Until().min_encounters < course.played[0, 1]


@pytest.mark.slow
def test_a_field_of_more_than_200_bots_does_not_begin_with_a_round_robin():
    bots = 240
    everybody = [(a, b) for a in range(bots) for b in range(a + 1, bots)]
    course = Deciding(Until(min_encounters=1), bots, range(bots), everybody)
    begun = course.advance()
    assert begun.max() == 1 and begun.sum() / 2 < len(everybody) / 10
    world = World(np.linspace(0, 30, bots), 0.0, 0.0, np.random.default_rng(2))
    for _ in range(4):
        course.played = course.played + course.advance()
        course.totals = world.totals(course.played)
    for indifference, reason in ((0.5, "max_matches"), (100, "equal")):
        until = Until(min_encounters=1, indifference=indifference, max_matches=3500)
        bounded = Deciding(until, bots, range(bots), everybody)
        while (batch := bounded.advance()).any():
            bounded.played = bounded.played + batch
            bounded.totals = world.totals(bounded.played)
        assert (bounded.reason, bounded.played.sum(), bounded.is_begun) == (reason, 3500, True)
    assert course.look is not None and np.corrcoef(course.look.ranking, -np.arange(bots))[0, 1] > 0.9


def test_the_fit_recovers_strengths_and_knows_its_error():
    """The inverse of TrueSkill's probability of a win, Φ(d / √2β): a share of 0.8 is 0.8416 standard deviations."""
    totals = PairTotals.empty(2)
    for number in range(1000):
        totals.add(0, 1, *((1.0, 0.0) if number % 10 < 6 else (0.5, 0.0) if number % 10 < 10 else (0.0, 0.0)))
    found = fit(totals)
    assert found.strengths[0] - found.strengths[1] == pytest.approx(0.8416 * SPREAD, rel=0.01)
    share_error = np.sqrt(0.6 * 0.4 * 0.25 / 1000)  # of the mean of encounters, 1 or 1/2
    slope = np.exp(-(0.8416**2) / 2) / np.sqrt(2 * np.pi) / SPREAD
    assert found.errors(np.array([0]), np.array([1]))[0] == pytest.approx(share_error / slope, rel=0.15)


def test_bots_that_repeat_themselves_are_not_played_for_ever():
    course = Deciding(Until(), 2, (0, 1), [(0, 1)])
    while (batch := course.advance()).any():
        for _ in range(int(batch[0, 1])):
            course.add(0, 1, 0.5, 0.0, is_new=course.played[0, 1] < 6)
    assert (course.reason, course.played[0, 1] < 40) == ("repeats", True)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tournament_in_any_process():
    code = "from arena import simulate_until; r = simulate_until([0, 1, 1.3, 4], rng=7); print(r.matches, r.claims)"
    here = simulate_until([0, 1, 1.3, 4], rng=7)
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [here.matches, here.claims] == json.loads(f"[{there.replace(' ', ',')}]")


def test_a_claim_stands_once_it_is_made():
    decision = Decision(Until(), (0, 1))
    totals = PairTotals.empty(2)
    for _ in range(40):
        totals.add(0, 1, 1.0, 0.0)
    assert not decision.look(totals).open
    for _ in range(200):
        totals.add(0, 1, 0.0, 0.0)
    decision.look(totals)
    assert decision.claims[0, 1].better == 0


@pytest.mark.parametrize(
    ("strengths", "keys", "message"),
    [
        ([1.0], {}, "strengths = [1.0]: expected 2 to 1000 numbers"),
        ([1.0, float("nan")], {}, "strengths[1] = nan: expected a number"),
        ([1, 10**400], {}, "strengths[1] = 1000000"),
        (None, {}, "strengths = None: expected"),
        ([1.0, 2.0], {"decided": 3}, 'decided = 3: expected "groups"'),
        ([1.0, 2.0], {"error": "a"}, "until.error = 'a': expected a number"),
        ([1.0, 2.0], {"rng": "a"}, "rng = 'a': expected"),
        ([1.0, 2.0], {"opening_spread": None}, "opening_spread = None: expected"),
        ([1.0, 2.0], {"decided": "all"}, 'decided = \'all\': expected "groups", "order", "first" or "top N"'),
        ([1.0, 2.0], {"error": 0.0}, "until.error = 0.0: expected a number from 1e-06 to 0.5"),
        ([1.0, 2.0], {"draw_probability": 1.0}, "draw_probability = 1.0: expected"),
    ],
)
def test_bad_values_are_refused(strengths, keys, message):
    with pytest.raises(UsageError) as refused:
        simulate_until(strengths, **keys)
    assert message in str(refused.value)


@pytest.mark.slow
def test_bots_that_beat_each_other_in_a_circle_are_measured_against_the_field():
    """Three equal bots, each of which beats the next by 3 points of mu, among others that are far apart."""
    strengths = [0.0, 0.0, 0.0, *np.linspace(-12, 12, 9)]
    circle = np.zeros((12, 12))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        circle[a, b], circle[b, a] = 3.0, -3.0
    worlds = [World(strengths, 0.0, 0.0, np.random.default_rng(number), circle) for number in range(12)]
    runs = [play_until(world, Until(indifference=1.5)) for world in worlds]
    assert sum(bool(run.wrong_claims) for run in runs) <= 3
