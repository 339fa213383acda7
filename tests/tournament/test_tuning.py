import random
from collections import Counter
from math import exp, log
from statistics import median
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.definition import Definition, GameChoice
from arena.base.enums import FaultKind
from arena.base.errors import DefinitionError, UsageError
from arena.base.records import Bot, Fault
from arena.tournament.experiments import base_definition, check_start, scores_of, trials_definition
from arena.tournament.schedule import schedule
from arena.tournament.tuning import (
    TuningPlan,
    TuningVerdict,
    check_parameters,
    default_args,
    filled_args,
    final_test,
    parse_parameter,
    tune,
)


def tuned(strength, *params, seed=1, **plan):
    made = TuningPlan(parameters=tuple(map(parse_parameter, params)), rng_seed=seed, **plan)
    rng = random.Random(seed)

    def play(upcoming):
        variants, encounters = upcoming.variants, upcoming.encounters_each
        chances = {values: 1 / (1 + exp(strength(made.start) - strength(values))) for values in variants}
        return [
            [sum(rng.random() < chances[values] for _ in range(2)) / 2 for _ in range(encounters * times)]
            for values, times in variants.items()
        ]

    return tune(made, play)


def near_300(values):
    return -0.5 * (log(float(values[0])) - log(300)) ** 2


def test_the_best_value_is_found_and_tested():
    found = [tuned(near_300, "rollouts=10..1000@50", seed=seed) for seed in range(5)]
    assert 230 < median(int(result.values[0]) for result in found) < 390  # the best by factors of up to 1.3
    for result in found:
        assert near_300(result.values) > 0.1 * near_300(("50",))  # nine tenths of what can be gained
        assert result.verdict is TuningVerdict.BETTER
        assert result.test.low > 0.5


def test_an_optimum_beside_the_middle_is_not_drawn_to_it():
    found = [
        float(tuned(lambda values: -10 * (float(values[0]) - 0.7) ** 2, "c=0.0..1.0", seed=k).values[0])
        for k in range(12)
    ]
    assert abs(sum(found) / 12 - 0.7) < 0.02


def test_a_final_test_that_was_begun_keeps_its_values():
    made = TuningPlan(parameters=(parse_parameter("c=0.0..1.0"),), encounters=8, rounds=1)
    asked = []

    def play(upcoming):
        asked.append(upcoming.variants)
        return [[0.5] * 10 for _ in upcoming.variants]

    assert tune(made, play, ("0.123",)).values == ("0.123",)
    assert asked[-1] == {("0.123",): 1}


def test_two_parameters_are_tuned_together():
    def strength(values):
        a, b = map(float, values)
        return -8 * (a - 0.7) ** 2 - 8 * (b - 0.2 - 0.5 * (a - 0.7)) ** 2

    gains = [strength(tuned(strength, "a=0.0..1.0", "b=0.0..1.0", seed=k, encounters=400).values) for k in range(5)]
    assert min(gains) > 0.25 * strength(("0.5", "0.5"))


def rounds_asked_for(*params, score=lambda _: 0.5, **plan):
    asked = []

    def play(upcoming):
        number, variants, encounters = upcoming.number, upcoming.variants, upcoming.encounters_each
        asked.append((number, list(variants.elements() if number <= made.rounds else variants), encounters))
        return [[score(values)] * encounters * times for values, times in variants.items()]

    made = TuningPlan(parameters=tuple(map(parse_parameter, params)), **plan)
    return tune(made, play), asked


def test_the_first_round_has_one_variant_in_each_part_of_each_range():
    _, asked = rounds_asked_for("a=0.0..1.0", "b=0.0..1.0", encounters=40, rounds=2)
    variants = asked[0][1]
    for axis in (0, 1):
        assert sorted(int(20 * float(values[axis])) for values in variants) == list(range(20))
    assert sorted(variants) != sorted(zip(*map(sorted, zip(*variants, strict=True)), strict=True))  # not in step


def test_rounds_are_drawn_where_results_are_best_and_the_result_meets_the_start_in_the_last():
    result, asked = rounds_asked_for(
        "a=0.0..1.0", score=lambda values: float(float(values[0]) > 0.8), encounters=160, rounds=4, test_encounters=9
    )
    assert [number for number, _, _ in asked] == [1, 2, 3, 4, 5]
    assert asked[-1] == (5, [result.values], 9)
    means = [sum(float(value) for (value,) in variants) / len(variants) for _, variants, _ in asked]
    assert means[0] == pytest.approx(0.5, abs=0.05)
    assert means[3] > 0.8
    assert result.test.score == 1.0
    assert len({values for _, variants, _ in asked for values in variants}) > 150  # of 161, some rounded to the same


@pytest.mark.parametrize(
    ("encounters", "rounds", "points", "each"), [(200, 4, 50, 1), (240, 4, 30, 2), (400, 4, 50, 2), (7, 2, 4, 1)]
)
def test_as_many_encounters_are_played_as_were_asked_for(encounters, rounds, points, each):
    """200 = 4 · 50 · 1, 240 = 4 · 30 · 2; 7 in two rounds are 8."""
    _, asked = rounds_asked_for("a=0.0..1.0", "b=0.0..1.0", encounters=encounters, rounds=rounds)
    assert {(len(variants), count) for _, variants, count in asked[:rounds]} == {(points, each)}


def test_a_value_that_is_drawn_often_counts_often():
    """Of 40 draws from 1..30 in equal factors, 1 has about log(1.5) / log(30) = 12 %, and 20 has 1.4 %."""
    result, asked = rounds_asked_for("n=1..30@30", encounters=40, rounds=1)
    drawn = asked[0][1]
    assert len(drawn) == len(result.trials) >= 38  # without the start
    assert 4 <= drawn.count(("1",)) <= 6
    assert drawn.count(("20",)) <= 1
    assert 4 <= int(result.values[0]) <= 7  # nothing is better than another: the middle, √30 = 5.5


DIFFERENCES = Definition(name="", games=(GameChoice(game="differences", options={"size": 6}, players=2),), entrants=())


def test_each_trial_has_an_opening_of_its_own_and_no_round_those_of_another():
    bots = [Bot(name=name, version="1", command=("x",), directory="/", digest="d" * 64) for name in "abc"]
    base = base_definition(bots[0], DIFFERENCES)
    lines = list(schedule(trials_definition(base, 1, 4, bots, encounters=2, drawn=[3, 1])))
    assert len(lines) == 16  # (3 + 1) draws, 2 encounters, 2 matches
    assert [line.opening for line in lines] == [number for number in range(8) for _ in range(2)]
    assert [max(line.seats) for line in lines[::2]] == [1, 1, 1, 2] * 2
    with pytest.raises(DefinitionError, match=r"trials.drawn: expected a number from 1 for each variant"):
        list(schedule(trials_definition(base, 1, 4, bots, encounters=2, drawn=[3, 0])))
    with pytest.raises(DefinitionError, match=r"trials.drawn"):
        list(schedule(trials_definition(base, 1, 4, bots, encounters=2, drawn=[3])))
    seeds = [trials_definition(base, number, 4, bots, encounters=3).rng_seed for number in range(1, 6)]
    assert len(set(seeds)) == 5


def test_the_start_does_not_meet_itself_and_is_all_of_a_range_of_one_value():
    _, asked = rounds_asked_for("a=1..3@2", encounters=40, rounds=2)
    assert {values for _, variants, _ in asked for values in variants} == {("1",), ("3",)}
    result = tune(TuningPlan(parameters=(parse_parameter("a=1..2@1"),), rounds=1, encounters=1), lambda *_: [[1.0]])
    assert result.plan.start == ("1",)


@pytest.mark.slow
def test_where_there_is_nothing_to_gain_it_hardly_ever_says_that_there_is():
    verdicts = Counter(tuned(lambda _: 0.0, "a=0.0..1.0", seed=k, encounters=60).verdict for k in range(60))
    assert verdicts[TuningVerdict.OPEN] >= 53  # 57 are expected at 95 %


def test_it_plays_the_same_rounds_again_from_the_same_results():
    assert tuned(near_300, "rollouts=10..1000@50") == tuned(near_300, "rollouts=10..1000@50")


def test_the_interval_is_as_by_hand():
    """Scores 1, 1, 0.5 … with 0 and 1 added: mean 0.65, s² = 0.1139, t(9; 0.975) = 2.2622, 2.2622 √(s²/10) = 0.2414."""
    test = final_test([1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0])
    assert (test.encounters, test.score) == (8, 0.6875)
    assert (test.low, test.high) == pytest.approx((0.65 - 0.2414, 0.65 + 0.2414), abs=1e-4)
    assert test.verdict is TuningVerdict.OPEN
    worse = final_test([0.5] * 60 + [0.0] * 20)  # mean 31 / 82, s² = 0.0528, t(81; 0.975) = 1.9897
    assert (worse.low, worse.high) == pytest.approx((0.3781 - 0.0505, 0.3781 + 0.0505), abs=1e-4)
    assert worse.verdict is TuningVerdict.WORSE
    assert final_test([1.0] * 7) is None
    assert final_test([1.0] * 100).verdict is TuningVerdict.BETTER
    assert final_test([0.0] * 100).verdict is TuningVerdict.WORSE
    assert final_test([0.5] * 100).verdict is TuningVerdict.OPEN


@pytest.mark.parametrize(
    ("text", "middle", "quarter", "start"),
    [
        ("n=0..10", "5", "2", "5"),
        ("n=1..10", "3", "2", "3"),
        ("n=1..9", "5", "3", "5"),
        ("n=1..100", "10", "3", "10"),
        ("rollouts=10..1000@50", "100", "32", "50"),
        ("c=0.5..1.5", "1", "0.75", "1"),
        ("c=0.001..0.1", "0.01", "0.003162", "0.01"),
        ("c=-1..1", "0", "0", "0"),
        ("c=-1.0..1", "0", "-0.5", "0"),
    ],
)
def test_values_are_spread_by_steps_or_by_factors(text, middle, quarter, start):
    one = parse_parameter(text)
    assert (one.value_at(0.5), one.value_at(0.25), one.text_of(one.start)) == (middle, quarter, start)


@given(st.floats(0, 1))
def test_a_share_leads_to_a_value_and_back(share):
    for text in ("c=0.5..1.5", "c=0.001..0.1", "c=-3.0..1"):
        one = parse_parameter(text)
        assert one.share_of(one.value_at(share)) == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize(
    "text",
    ["", "n", "n=1", "n=1..", "n=2..1", "n=1..1", "n=1..9@10", "n=a..b", "1n=1..2", "n=1..1e9", "n=nan..2", "a b=1..2"],
)
def test_what_is_no_range_is_refused(text):
    with pytest.raises(UsageError, match="--param "):
        parse_parameter(text)


def test_arguments_have_each_parameter_once():
    parameters = [parse_parameter("rollouts=1..9"), parse_parameter("max_depth=1..9")]
    args = default_args(parameters)
    assert args == ["--rollouts", "{rollouts}", "--max-depth", "{max_depth}"]
    check_parameters(parameters, args)
    assert filled_args([*args, "{x}", "{}"], {"rollouts": "3", "max_depth": "{rollouts}"}) == [
        "--rollouts", "3", "--max-depth", "{rollouts}", "{x}", "{}",
    ]  # fmt: skip
    for bad, names in ((args[:2], parameters), (args, [*parameters, parameters[0]]), (args, [])):
        with pytest.raises(UsageError):
            check_parameters(names, bad)


def faulty(match, *seats):
    faults = tuple(Fault(seat=seat, kind=FaultKind.START, ply=0, detail="it ended") for seat in seats)
    return SimpleNamespace(match=match, bots=("x start@1", "x 5@1"), faults=faults)


def test_a_start_that_fails_in_most_matches_is_nothing_to_compare_with():
    for records in ([faulty(1, 0), faulty(2)], [faulty(1, 1), faulty(2, 1)], [faulty(1)]):
        check_start(records, "tune 1", "x start@1")
    with pytest.raises(UsageError, match=r"x start@1 had faults in 2 of 3 matches, first in match 2 \(start\);"):
        check_start([faulty(1), faulty(2, 0), faulty(3, 1, 0)], "tune 1", "x start@1")


def test_scores_are_shares_of_the_points_of_an_encounter():
    bot = Bot(name="x", version="1", command=("x",), directory="/")
    from arena.base.results import StoredResult

    def result(encounter, ranks, actions, seat):
        bots = ("x@1", "start@1") if seat == 0 else ("start@1", "x@1")
        return StoredResult(1, encounter, "differences", bots, ranks, "o", actions)

    won = [result(1, (1, 2), "a", 0), result(1, (2, 1), "b", 1)]
    drawn = [result(2, (1, 1), "c", 0), result(2, (1, 2), "d", 1)]
    assert scores_of([*won, *drawn], [bot]) == [[1.0, 0.25]]
    assert scores_of([*won, *[one._replace(encounter=2) for one in won]], [bot]) == [[1.0]]
