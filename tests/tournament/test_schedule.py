import json
import subprocess
import sys
import tracemalloc
from collections import Counter, deque
from itertools import combinations, count, islice, permutations
from math import comb
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import simulate_until
from arena.analysis.measures.balance import schedule_balance, seatings_of
from arena.base.definition import Definition, GameChoice
from arena.base.errors import DefinitionError, UsageError
from arena.base.records import Bot, ScheduledMatch
from arena.base.seeds import pick_below
from arena.base.until import Until
from arena.games import make_game
from arena.ratings.decided import Decision
from arena.ratings.light_fit import SPREAD, PairTotals, fit
from arena.tournament import openings as openings_module
from arena.tournament.formats.deciding import Deciding
from arena.tournament.formats.format import FORMATS, Field
from arena.tournament.openings import RandomOpenings, openings
from arena.tournament.schedule import SeatPlanner, rotations, schedule, steps
from arena.tournament.until_simulation import World, play_until
from tests.games.variants import VARIANTS
from tests.lab.games import after


def definition(entrants=4, encounters=3, games=(("differences", {}),), plies=2, rng_seed=1):
    bots = tuple(Bot(name=f"bot{k}", version="1", command=("x",), directory="/") for k in range(entrants))
    choices = []
    for name, options in games:
        game = make_game(name, **options)
        choices.append(GameChoice(game=name, options=game.options, players=game.players))
    fields = {"encounters": encounters, "opening_plies": plies, "rng_seed": rng_seed}
    return Definition(name="t", games=tuple(choices), entrants=bots, **fields)


@given(st.integers(2, 12), st.integers(2, 4))
def test_a_round_robin_has_every_pairing_once(entrants, players):
    names = tuple(map(str, range(max(entrants, players))))
    field = Field(bots=names, names=names, players=players, settings=FORMATS["round-robin"].Settings())
    entrants = field.entrants
    pairings = [pairing for upcoming in FORMATS["round-robin"](field).rounds() for pairing in upcoming.pairings]
    assert len(pairings) == comb(entrants, players)
    assert len({frozenset(pairing) for pairing in pairings}) == len(pairings)
    assert all(len(set(pairing)) == players for pairing in pairings)


def test_rotations_put_everybody_in_every_seat_once():
    assert rotations((4, 5, 6)) == [(4, 5, 6), (5, 6, 4), (6, 4, 5)]
    assert SeatPlanner().order((4, 2)) == (4, 2)


@settings(deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**63 - 1))
def test_every_encounter_is_one_opening_in_all_rotations(entrants, encounters, rng_seed):
    matches = list(schedule(definition(entrants, encounters, rng_seed=rng_seed)))
    assert [line.match for line in matches] == list(range(1, len(matches) + 1))
    assert len(matches) == comb(entrants, 2) * 2 * encounters
    by_encounter = {}
    for line in matches:
        by_encounter.setdefault(line.encounter, []).append(line)
    for lines in by_encounter.values():
        assert len({(line.opening, line.opening_actions, line.game) for line in lines}) == 1
        assert sorted(line.seats for line in lines) == sorted(rotations(lines[0].seats))
    seats = Counter((entrant, seat) for line in matches for seat, entrant in enumerate(line.seats))
    assert len(set(seats.values())) == 1


def test_a_long_schedule_stays_out_of_memory():
    """Kept pairs of 150 bots took 3 MB."""
    coming = schedule(definition(entrants=150, encounters=1, plies=1))
    first = next(coming)
    tracemalloc.start()
    try:
        last = deque(coming, maxlen=1)[0]
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (first.match, last.match) == (1, 150 * 149)
    assert peak_bytes < 1_000_000


def test_games_are_played_in_turn_with_seeds_that_follow_from_the_definition():
    matches = list(schedule(definition(2, 2, (("differences", {}), ("plaid", {})))))
    assert [line.game for line in matches] == [0, 0, 1, 1, 0, 0, 1, 1]
    first, second, other = (list(schedule(definition(rng_seed=seed))) for seed in (1, 1, 2))
    assert first == second
    assert len({line.rng_seed for line in first}) == len(first)
    assert not {line.rng_seed for line in first} & {line.rng_seed for line in other}


@pytest.mark.parametrize("variant", VARIANTS)
def test_openings_are_legal_and_leave_everybody_in_the_match(variant):
    name, options = VARIANTS[variant]
    game = make_game(name, **options)
    for opening in islice(openings(game, 2, rng_seed=3), 20):
        state = game.initial_state()
        for action in opening:
            assert action in game.legal_actions(state)
            state = game.apply(state, action)
        assert not game.is_over(state)
        assert game.seats_out(state) == ()


def test_openings_differ_eliminate_nobody_and_end_no_match():
    """Plusminus has four openings of two plies."""
    drawn = list(islice(openings(make_game("plusminus"), 2, rng_seed=1), 8))
    assert len(set(drawn[:4])) == 4
    assert len(drawn) == 8
    # on four by four, nine random numbers often cost a seat its place
    game = make_game("coprimality", players=3, size=4)
    for opening in islice(openings(game, 9, rng_seed=3), 20):
        assert game.seats_out(after(game, opening)) == ()
    with pytest.raises(DefinitionError, match="opening_plies = 9"):
        next(openings(make_game("differences"), 9, rng_seed=1))


def test_when_there_are_no_new_openings_they_are_not_looked_for_again(monkeypatch):
    """Plusminus has four openings: the fifth takes 200 tries, and the 995 after it one each."""
    picked = []

    def pick(limit, *parts):
        picked.append(parts)
        return pick_below(limit, *parts)

    monkeypatch.setattr("arena.tournament.openings.pick_below", pick)
    list(islice(openings(make_game("plusminus"), 2, rng_seed=1), 1000))
    assert len(picked) < 2 * (1000 + 4 * 200)


@pytest.mark.parametrize("players", [3, 5, 7, 11])
def test_for_a_prime_number_everybody_follows_everybody_equally_often(players):
    """Williams' designs: after players - 1 encounters of one group each ordered pair has occurred exactly once."""
    planner = SeatPlanner()
    follows = Counter(step for _ in range(players - 1) for step in steps(planner.order(tuple(range(players)))))
    assert follows == Counter(dict.fromkeys(permutations(range(players), 2), 1))


@pytest.mark.parametrize(("players", "encounters"), [(4, 6), (6, 20), (8, 30), (9, 30)])
def test_for_other_numbers_it_comes_near(players, encounters):
    planner = SeatPlanner()
    follows = Counter(step for _ in range(encounters) for step in steps(planner.order(tuple(range(players)))))
    fair = encounters / (players - 1)
    assert all(abs(follows[pair] - fair) <= 2 for pair in permutations(range(players), 2))


def test_groups_that_share_members_are_balanced_together():
    planner = SeatPlanner()
    groups = 2 * [*combinations(range(6), 3)]
    follows = Counter(step for group in groups for step in steps(planner.order(group)))
    assert set(follows.values()) == {4}  # each pair meets in 4 groups, twice: 8 encounters, half of them each way


def line(match, seats, game=0, encounter=1):
    fields = {"round": 1, "opening": 0, "opening_actions": (), "rng_seed": match}
    return ScheduledMatch(match=match, encounter=encounter, game=game, seats=seats, **fields)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.permutations(range(4)).map(lambda order: tuple(order[:3])), min_size=1, max_size=30))
def test_the_audit_counts_what_a_plain_count_counts(seatings):
    names = ["a", "b", "c", "d"]
    lines = [line(k + 1, seats) for k, seats in enumerate(seatings)]
    found = {one.kind: one for one in schedule_balance(seatings_of(lines), ["plaid"], names)}
    played = [sum(k in seats for seats in seatings) for k in range(4)]
    assert (found["matches"].least, found["matches"].most) == (min(played), max(played))
    assert found["matches"].imbalance == pytest.approx(max(abs(n - 3 * len(seatings) / 4) for n in played))
    sits = {(k, s): sum(seats[s] == k for seats in seatings) for k in range(4) for s in range(3)}
    assert found["in a seat"].imbalance == pytest.approx(max(abs(n - played[k] / 3) for (k, _), n in sits.items()))
    meets = {pair: sum(set(pair) <= set(seats) for seats in seatings) for pair in combinations(range(4), 2)}
    assert (found["meets"].least, found["meets"].most) == (min(meets.values()), max(meets.values()))
    after = {
        (x, y): sum(y == seats[(seats.index(x) + 1) % 3] for seats in seatings if {x, y} <= set(seats))
        for x, y in permutations(range(4), 2)
        if meets[tuple(sorted((x, y)))]
    }
    worst = max(abs(n - meets[tuple(sorted(pair))] / 2) for pair, n in after.items())
    assert found["acts right after"].imbalance == pytest.approx(worst)


def test_the_audit_names_the_worst_game_by_game():
    """a never sits in seat 1, and b always acts right after a."""
    lines = [line(1, (0, 1, 2)), line(2, (2, 0, 1)), line(3, (0, 1, 2))]
    found = {one.kind: one for one in schedule_balance(seatings_of(lines), ["plaid"], ["a", "b", "c"])}
    assert found["in a seat"].worst in {f"{bot} in seat {seat}" for bot in "abc" for seat in (0, 1, 2)} - {
        *("a in seat 1", "b in seat 2", "c in seat 0")
    }
    assert found["acts right after"].imbalance == 1.5
    assert found["acts right after"].worst in {f"{one} after {other}" for one, other in permutations("abc", 2)}
    assert found["matches"].imbalance == 0
    lines = [line(1, (0, 1)), line(2, (1, 0)), line(3, (0, 1), game=1)]
    found = schedule_balance(seatings_of(lines), ["plaid", "differences"], ["a", "b"])
    assert [one.game for one in found].count("plaid") == 4
    assert {one.kind: one.imbalance for one in found if one.game == "differences"}["in a seat"] == 0.5


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


@pytest.mark.parametrize("pairs", [[(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2)]], ids=["circle", "gauntlet"])
def test_equal_bots_without_others_to_be_measured_against_end_as_equals(pairs):
    circle = 3.0 * (len(pairs) - 2) * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    reasons = []
    for seed in range(8):
        world = World([0.0, 0.0, 0.0], 0.0, 0.0, np.random.default_rng(seed), circle)
        course = Deciding(Until(indifference=1.5), 3, range(3), pairs)
        while (batch := course.advance()).any():
            course.played = course.played + batch
            course.totals = world.totals(course.played)
            assert course.played.max() < 10_000
        reasons.append(course.reason)
    assert reasons.count("equal") >= 7


@given(st.lists(st.integers(0, 12), max_size=20))
def test_an_opening_is_the_same_whenever_it_is_asked_for_and_drawn_again_only_after_many(numbers):
    drawn = []

    def draw():
        for number in count():
            drawn.append(number)
            yield (number,)

    with patch.object(openings_module, "KEPT_OPENINGS", 4):
        random_openings = RandomOpenings(draw)
        assert [random_openings.take(number) for number in numbers] == [(number,) for number in numbers]
    if numbers and max(numbers) < 4:
        assert drawn == list(range(max(numbers) + 1))
