import json
from dataclasses import replace
from random import Random

import pytest

from arena.games import make_game
from arena.lab.measures import formulas
from arena.lab.measures.answers import Comparison, VoteCount, answers_of, variation_sentences
from arena.lab.measures.exact_values import BestPlay, NoValuesError, exact_values, opening_balance
from arena.lab.measures.measure import Cluster, Kind, Measure, Row, Unit, exactly, share_of
from arena.lab.measures.report import QualityReport, survey_quality
from arena.lab.measures.simulation import TreeSearch, decides_among_others, simulate
from arena.lab.measures.skill_ladder import Step, Strength, board_of, encounter, simple_strategies
from arena.lab.measures.survey import Plan, boards_of
from arena.lab.solving.limits import Limits
from tests.games.reference import reference_of
from tests.lab.games import PATH, game_of
from tests.lab.quality_games import COIN, EDGE, MIRROR, ONE_ACTION, played_at_random, table_game

FEW = Plan(encounters=60, doublings=1)


def report_of(positions, plan=FEW):
    return survey_quality(game_of(positions), PATH, plan, Limits())


def number(report, measure, name, at=""):
    return report.measure(measure).row(name, at).estimate


def has(estimate, truth):
    return estimate.low <= truth <= estimate.high


def test_an_edge_of_the_first_seat_a_mirror_draw_and_a_game_without_a_choice_are_found():
    report = report_of(EDGE)
    assert number(report, "value", "margin of seat 0", "players 2").value == 1
    assert has(number(report, "first_seat", "points of seat 0", "random"), 2 / 3)
    assert number(report, "first_seat", "points of seat 0", "best play").low > 0.9
    assert number(report, "openings", "won by seat 0", "after 1 random action").value == pytest.approx(2 / 3)
    assert number(report, "choice", "actions that keep the outcome").value == pytest.approx(2 / 3)
    assert number(report, "choice", "margin that a random action loses").value == pytest.approx(1 - (1 + 1 - 1) / 3)
    assert number(report, "first_actions", "of these keep the outcome").value == 2
    report = report_of(MIRROR)
    assert number(report, "value", "margin of seat 0", "players 2").value == 0
    assert has(number(report, "first_seat", "points of seat 0", "random"), 0.75)
    assert has(number(report, "draws_and_margins", "draws", "random"), 0.5)
    assert number(report, "draws_and_margins", "draws", "best play").low > 0.9
    assert number(report, "openings", "drawn", "after 1 random action") == exactly(1.0, 2)
    assert number(report, "openings", "drawn", "after 2 random actions").value == 0.5
    assert number(report, "choice", "only one action keeps it", "ply 2").low > 0.9
    report = report_of(ONE_ACTION)
    assert report.measure("choice").rows == ()
    assert number(report, "length", "forced actions", "random").value == 1
    assert number(report, "length", "legal actions", "random").value == 1
    assert number(report, "decided", "decided before it begins").value == 1
    assert number(report, "depth", "doublings that take 55 % or more", "of 1").value == 0
    assert number(report, "first_actions", "two matches begin differently", "random").value == 0


@pytest.mark.slow(sample=True)
def test_a_report_has_eleven_measures_and_no_number_without_an_interval():
    shown = survey_quality(make_game("differences", size=3), "differences", FEW, Limits()).to_json()
    assert [one["number"] for one in shown["measures"]] == list(range(1, 12))
    rows = [row for one in shown["measures"] for row in one["rows"]]
    assert len(rows) > 60
    for row in rows:
        assert None not in (row["value"], row["low"], row["high"]), row
        assert row["low"] <= row["value"] <= row["high"], row
        assert row["n"] >= 1, row
        assert row["kind"] == "exact" or row["n"] >= 2, row


class Clock:
    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def test_a_survey_ends_in_time_and_says_so():
    clock = Clock(step=0.01)
    plan = Plan(encounters=10_000, doublings=2, within_seconds=60.0)
    report = survey_quality(make_game("differences", size=3), "differences", plan, Limits(clock=clock))
    assert clock.now < 66
    assert "The time was up" in report.measure("depth").note
    assert 0 < number(report, "depth", "points of the stronger", "greedy against random").n < 10_000


@pytest.mark.slow
def test_without_a_limit_of_time_a_report_does_not_depend_on_how_fast_the_machine_is():
    game = make_game("plusminus", size=3)
    few = Plan(encounters=10, doublings=0)
    fast, slow = (
        json.dumps(survey_quality(game, "plusminus", few, Limits(clock=Clock(step))).to_json()) for step in (0.0, 1e6)
    )
    assert fast == slow
    assert '"kind": "exact"' in fast


def test_a_board_without_exact_values_says_why(monkeypatch):
    game = make_game("plaid", width=60, height=60, lines=4, players=3)
    report = survey_quality(game, "plaid", Plan(encounters=10, doublings=0, within_seconds=0.05), Limits())
    assert report.measure("openings").note.startswith("Not known: a game for 3 has no value")
    assert report.measure("choice").rows == ()
    monkeypatch.setattr("arena.lab.measures.exact_values.has_all_values", lambda *_: False)
    with pytest.raises(NoValuesError, match="there is no table of 10,026,362,492 states"):
        exact_values(make_game("plaid", width=20, height=20), "plaid", Limits())


def test_openings_that_are_too_many_are_drawn(monkeypatch):
    game = make_game("plusminus", size=2)
    values = exact_values(game, "plusminus", Limits())
    exact = opening_balance(game, values, 3, range(400), lambda: None)
    assert [(row.estimate.kind, row.estimate.value) for row in exact] == [
        (Kind.EXACT, share) for share in (0.25, 0.5, 0.25)
    ]
    monkeypatch.setattr("arena.lab.measures.exact_values.MAX_ENUMERATED", 3)
    for row, truth in zip(opening_balance(game, values, 3, range(400), lambda: None), exact, strict=True):
        assert row.estimate.kind is Kind.SAMPLED
        assert has(row.estimate, truth.estimate.value)


def test_a_search_finds_the_only_good_action_and_more_playouts_find_it_more_often():
    game = table_game(
        ((0, (1, 2, 3, 4)), (1, (5, 6)), (1, (6, 5)), (1, (5, 5)), (1, (6, 5)), (None, (1, 0)), (None, (0, 1)))
    )
    good = [0] * 2
    for place, playouts in enumerate((4, 64)):
        search = TreeSearch(game, playouts, lambda: None)
        good[place] = sum(search.choose(0, None, Random(seed)) == 2 for seed in range(40))
    assert good[1] == 40 > good[0]


def test_simple_strategies_do_what_their_sentences_say():
    game = make_game("differences", size=5)
    strategies, board = simple_strategies(game), board_of(game)
    state = game.apply(game.initial_state(), (1, 2))
    rng = Random(0)
    assert strategies["mirror"](state, (1, 2), rng) == (5, 4)
    assert strategies["copy"](state, (1, 2), rng) == (2, 1)
    assert board.from_border(strategies["border"](state, (1, 2), rng)) == 0
    assert (board.reflected(("v", 2)), board.copied(("h", 3)), board.from_border(("v", 4))) == (("v", 3), ("v", 3), 1)
    assert (board.reflected("+"), board.copied("-"), board.reflected(7)) == ("-", "-", None)
    assert board_of(make_game("plusminus", size=3)) is not None
    assert set(simple_strategies(game_of(EDGE))) == {"random", "greedy"}
    ends = table_game(((0, (1, 2, 3)), (None, (0, 0)), (None, (5, 1)), (None, (9, 8))))
    assert simple_strategies(ends)["greedy"](0, None, rng) == 1, "furthest ahead"


def test_in_an_encounter_each_seat_is_taken_in_turn_and_best_play_may_begin_late():
    game = game_of(EDGE)
    best = Strength(name="best play", strategy=BestPlay(game, exact_values(game, PATH, Limits())).choose)
    assert encounter(game, Step(best, best), (0,), lambda: None) == 0.5  # seat 0 always wins
    weak = Strength(name="random", strategy=simple_strategies(game)["random"])
    points = {encounter(game, Step(best, weak), (seed,), lambda: None) for seed in range(20)}
    assert points == {0.5, 1.0}  # it wins in seat 0, and in seat 1 when the other one errs
    game = game_of(MIRROR)
    values = exact_values(game, PATH, Limits())
    for last, draws in ((0, False), (1, True), (None, True)):
        strategy = BestPlay(game, values, last)
        chosen = {strategy.choose(1, None, Random(seed)) for seed in range(20)}
        assert (chosen == {0}) is draws  # seat 1 repeats what seat 0 did
    assert {BestPlay(game, values, 1).choose(0, None, Random(seed)) for seed in range(20)} == {0, 1}


def test_kingmaking_is_a_last_choice_that_changes_only_the_others():
    ends = ((None, (0, 1, 2)), (None, (0, 2, 1)), (None, (3, 0, 0)))
    for after, made in (((1, 2), True), ((1, 3), False)):
        game = table_game(((0, after), *ends), players=3)
        (match,) = played_at_random(game, simple_strategies(game)["random"], [Random(0)])
        assert decides_among_others(game, match) is made


@pytest.mark.parametrize(
    "options", [{"size": 3, "max_grids": 4}, {"size": 4}, {"size": 6}, {"size": 5, "players": 4, "max_grids": 3}]
)
def test_forced_eliminations_and_turns_of_the_path_are_those_of_other_rules(options):
    game, rules = make_game("coprimality", **options), reference_of("coprimality", options)
    matches = played_at_random(game, simple_strategies(game)["random"], [Random(seed) for seed in range(30)])
    forced, turned, with_eliminations = [], [], 0
    for match in matches:
        paths, known = [], len(forced)
        for ply, action in enumerate(match.actions):
            history = list(match.actions[:ply])
            grid, _, out, *_ = rules.play(history)
            if len(grid) == 1:
                paths.append(list(grid))
            paths[-1].append(action)
            if len(rules.play([*history, action])[2]) > len(out):
                others = [rules.play([*history, other])[2] for other in rules.legal(history)]
                forced.append(all(len(other) > len(out) for other in others))
        with_eliminations += len(forced) > known
        for path in paths:
            for (x, y), middle, (to_x, to_y) in zip(path, path[1:], path[2:], strict=False):
                turned.append(middle != ((x + to_x) / 2, (y + to_y) / 2))
    eliminations = formulas.eliminations(game, {"random": matches})
    if forced:
        (row,) = eliminations
        assert row.estimate.value == pytest.approx(sum(forced) / len(forced))
        assert row.estimate.n == with_eliminations
    (turns,) = formulas.turns(game.size, {"random": matches})
    assert turns.estimate.value == pytest.approx(sum(turned) / len(turned))
    assert turns.estimate.n == sum(len(match.actions) > 1 for match in matches)


def test_matches_are_decided_where_their_value_stays():
    game = game_of(COIN)
    values = exact_values(game, PATH, Limits())
    first = simple_strategies(game)["random"]
    matches = [simulate(game, [first, first], Random(seed), lambda: None) for seed in range(60)]
    rows = {row.name: row.estimate for row in formulas.decided([formulas.valued(one, values) for one in matches])}
    # Seat 1 wins from the beginning, unless its last action, the second of two, gives it away.
    won = sum(one.ranks[1] == 1 for one in matches)
    assert rows["decided before it begins"].value == pytest.approx(won / 60)
    assert rows["part of a match before it is decided"].value == pytest.approx(1 - won / 60)
    (comebacks,) = formulas.comebacks([formulas.valued(one, values) for one in matches])
    assert comebacks.estimate.value == pytest.approx(1 - won / 60)  # seat 0 had lost before it began
    leads = {row.name: row.estimate for row in formulas.visible_leads(matches, game.scores)}
    assert leads["changes of the visible lead"].value == 0  # the first lead is that of the end


def test_boards_of_a_game_are_those_that_its_rules_have():
    assert [label for label, _ in boards_of(make_game("multiplication"), "multiplication")] == ["size 7", "size 9"]
    assert [label for label, _ in boards_of(make_game("plaid", width=9, height=6), "plaid")][-1] == "width 9, height 6"
    assert len(boards_of(make_game("differences", size=40), "differences")) == 12
    assert boards_of(game_of(EDGE), PATH)[0][0] == "players 2"


@pytest.mark.parametrize(
    ("shares", "are_clear", "sentence"),
    [
        (((0.2, 0.6), (0.6, 0.2)), [True, True], "no difference that a player would notice"),  # it depends on strength
        (((0.2, 0.5), (0.6, 0.5)), [True, False], ": more matches end in a draw (random) (1 of 2"),
    ],
)
def test_a_difference_at_some_strengths_names_them(shares, are_clear, sentence):
    reports = [replace(profile(0, 1), measures=(two_strengths(*of),)) for of in shares]
    comparison = Comparison(option="scoring", values=("a", "b"), reports=tuple(reports))
    assert [one.is_clear for one in comparison.differences()] == are_clear
    assert sentence in variation_sentences(comparison)[0]


def two_strengths(*shares):
    rows = [profile(share, 200).measures[0].rows[0] for share in shares]
    at = [replace(row, at=strength) for row, strength in zip(rows, ("random", "greedy"), strict=True)]
    return Measure(key="draws_and_margins", title="Draws", about="", rows=tuple(at))


def profile(share, n, name="draws"):
    clusters = [Cluster(1.0)] * round(share * n) + [Cluster(0.0)] * (n - round(share * n))
    row = Row(name=name, at="random", unit=Unit.SHARE, estimate=share_of(clusters))
    one = Measure(key="draws_and_margins", title="Draws", about="", rows=(row,))
    return QualityReport(game="g", options={}, plan=Plan(), measures=(one,))


def test_a_comparison_marks_what_is_more_than_chance():
    clear = Comparison(option="scoring", values=("a", "b"), reports=(profile(0.2, 200), profile(0.5, 200)))
    unclear = Comparison(option="scoring", values=("a", "b"), reports=(profile(0.5, 20), profile(0.6, 20)))
    assert [one.is_clear for one in clear.differences()] == [True]
    assert clear.differences()[0].meaning() == "more matches end in a draw"
    assert [(one.is_clear, one.meaning()) for one in unclear.differences()] == [(False, "")]
    label = ": more matches end in a draw (1 of 1 numbers differ by more than chance)."
    assert variation_sentences(clear)[0].endswith(label)
    assert clear.conclusion().endswith("not known without votes (194 for 80 % power at 60:40).")


def test_points_are_offered_only_where_scores_are_points():
    """Both boards are won by seat 0 by one; in the first, other play would have lost by three."""
    for positions, label in (
        (((0, (1, 2)), (None, (1, 0)), (None, (0, 3))), "seat 0 wins by 1 (table); a komi of 1 for seat 1"),
        (((0, (1, 2)), (None, (1, 0)), (None, (0, 1))), "seat 0 wins (table)."),
    ):
        report = survey_quality(table_game(positions), PATH, Plan(encounters=10, doublings=0), Limits())
        assert label in answers_of(report)[0].paragraphs[0]


def test_of_three_seats_the_shares_are_named_and_no_size_is_said_to_be_fair():
    game = table_game(((0, (1, 2)), (None, (0, 1, 2)), (None, (3, 3, 0))), players=3)
    report = survey_quality(game, PATH, Plan(encounters=10, doublings=0), Limits())
    assert number(report, "value", "share of seat 0", "players 3").value == 0.75
    assert "no size has a single value" in answers_of(report)[1].paragraphs[0]
    assert "at the last choice of a match, not at earlier ones" in report.measure("length").note


@pytest.mark.parametrize(("alike", "sentence"), [(1, "of 1 vote, none"), (3, "of 3 votes, none")])
def test_votes_without_a_preference_say_how_many_they_are(alike, sentence):
    count = VoteCount(preferred=(0, 0), alike=alike, earlier=0)
    assert count.sentence("scoring = once") == f"not known: {sentence} prefers one."
