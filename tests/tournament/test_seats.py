"""Fair seats: exact where designs exist, near it elsewhere, and a balance that shows what is unfair."""

from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis.measures.schedule import schedule_balance, seatings_of
from arena.base.records import ScheduledMatch
from arena.tournament.schedule import SeatPlanner, rotations, steps


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
    follows = Counter(
        step for _ in range(2) for group in combinations(range(6), 3) for step in steps(planner.order(group))
    )
    assert set(follows.values()) == {4}  # each pair meets in 4 groups, twice: 8 encounters, half of them each way


def test_two_players_sit_as_they_come():
    assert SeatPlanner().order((4, 2)) == (4, 2)


def line(match, seats, game=0, encounter=1):
    return ScheduledMatch(
        match=match, encounter=encounter, round=1, game=game, seats=seats, opening=0, opening_actions=(), rng_seed=match
    )


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


def test_the_audit_names_the_worst():
    """a never sits in seat 1, and b always acts right after a."""
    lines = [line(1, (0, 1, 2)), line(2, (2, 0, 1)), line(3, (0, 1, 2))]
    found = {one.kind: one for one in schedule_balance(seatings_of(lines), ["plaid"], ["a", "b", "c"])}
    assert found["in a seat"].worst in {f"{bot} in seat {seat}" for bot in "abc" for seat in (0, 1, 2)} - {
        *("a in seat 1", "b in seat 2", "c in seat 0")
    }
    assert found["acts right after"].imbalance == 1.5
    assert found["acts right after"].worst in {f"{one} after {other}" for one, other in permutations("abc", 2)}
    assert found["matches"].imbalance == 0


def test_rotations_alone_are_not_fair_and_the_balance_shows_it():
    """Rotations keep the order around the board: somebody always acts right after the same rival."""
    rotated = [line(k, seats) for k, seats in enumerate(rotations((0, 1, 2)) * 2, 1)]
    planner = SeatPlanner()
    planned = [line(k, seats) for k in range(2) for seats in rotations(planner.order((0, 1, 2)))]
    names = ["a", "b", "c"]
    imbalance = [
        {one.kind: one.imbalance for one in schedule_balance(seatings_of(lines), ["x"], names)}
        for lines in (rotated, planned)
    ]
    assert imbalance[0]["acts right after"] == 3.0
    assert imbalance[1] == {"matches": 0, "in a seat": 0, "meets": 0, "acts right after": 0}


def test_games_are_audited_one_by_one():
    lines = [line(1, (0, 1)), line(2, (1, 0)), line(3, (0, 1), game=1)]
    found = schedule_balance(seatings_of(lines), ["plaid", "differences"], ["a", "b"])
    assert [one.game for one in found].count("plaid") == 4
    assert {one.kind: one.imbalance for one in found if one.game == "differences"}["in a seat"] == 0.5
