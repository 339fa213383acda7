from fractions import Fraction
from functools import cache
from itertools import islice

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import playouts
from arena.games.kernels.loading import kernel_of
from arena.games.kernels.playouts import PlayoutMargin, playout_margin, playouts_by_rules, random_playouts
from arena.games.kernels.slips import encounters_by_rules, least_states, may_be_solved, slip_encounters
from arena.lab.measures import formulas
from arena.lab.measures.exact_values import Value, random_play
from arena.lab.measures.measure import Cluster, share_of
from arena.lab.measures.report import survey_quality
from arena.lab.measures.skill_ladder import Step, Strength, at_random, encounter, greedy, self_play
from arena.lab.measures.survey import Plan
from arena.lab.solving.limits import Limits
from arena.tournament.openings import openings
from tests import needs
from tests.lab.games import after, plain_value

needs_compiler = needs.program("cc", "gcc", "clang")

REPETITIONS, MATCHES = 200, 200


def numbering():
    game = make_game("multiplication", size=7)
    state = game.initial_state()
    for place in (1, 2, 3, 4, 5, 6, 0):
        state = game.apply(state, (place + 1, (3 * place) % 7 + 1))
    game.initial_state = lambda: state
    return game


SMALL = {
    "differences": lambda: make_game("differences", size=4, scoring="once"),
    "plusminus": lambda: make_game("plusminus", size=3),
    "plaid": lambda: make_game("plaid", width=5, height=4, lines=4),
    "coprimality": lambda: make_game("coprimality", size=4),
    "multiplication": numbering,
}
"""Small games whose every line of play can be seen."""


def lines(game, choose, state=None, chance=1.0, before=()):
    """Yield the states of every line of play and its probability; ``choose`` has what each seat takes equally often."""
    state = game.initial_state() if state is None else state
    seat = game.seat_to_act(state)
    if seat is None:
        yield chance, (*before, state)
        return
    actions = choose[seat](game, state)
    for action in actions:
        yield from lines(game, choose, game.apply(state, action), chance / len(actions), (*before, state))


def any_action(game, state):
    return game.legal_actions(state)


def furthest_ahead(game, state):
    seat = game.seat_to_act(state)
    leads = {}
    for action in game.legal_actions(state):
        scores = game.scores(game.apply(state, action))
        leads.setdefault(scores[seat] - scores[1 - seat], []).append(action)
    return leads[max(leads)]


def points_of(ranks):
    return 0.5 if ranks[0] == ranks[1] else float(ranks[0] < ranks[1])


class PlainValues:
    def __init__(self, game):
        self._game = game
        self.of = cache(lambda state: Value(*plain_value(game, state)))

    def after(self, state):
        return tuple(self.of(self._game.apply(state, action)) for action in self._game.legal_actions(state))


def truths(game, values):
    totals = dict.fromkeys(NAMES, 0.0)
    plies = decisions = 0.0
    for chance, states in lines(game, [any_action, any_action]):
        scores, ranks = game.scores(states[-1]), game.ranks(states[-1])
        counts = [len(game.legal_actions(state)) for state in states[:-1]]
        found = [points_of(ranks), ranks[0] == ranks[1], abs(scores[0] - scores[1])]
        found += [len(counts), sum(counts), counts.count(1)]
        judged = [judge(game, values, state) for state in states[:-1]]
        judged = [one for one in judged if one is not None]
        found += [sum(column) for column in zip(*judged, strict=True)] if judged else [0, 0, 0]
        for name, value in zip(NAMES, found, strict=True):
            totals[name] += chance * value
        plies, decisions = plies + chance * len(counts), decisions + chance * len(judged)
    per = dict.fromkeys(NAMES[4:6], plies) | dict.fromkeys(NAMES[6:], decisions)
    return {name: total / per.get(name, 1.0) for name, total in totals.items() if per.get(name, 1.0)}


NAMES = (
    "points of seat 0",
    "draws",
    "margin of the first",
    "actions in a match",
    "legal actions",
    "forced actions",
    "actions that keep the outcome",
    "only one action keeps it",
    "margin that a random action loses",
)


def judge(game, values, state):
    """Return for a choice that is not lost: the share that keeps the outcome, whether only one does, what is lost."""
    sign = 1 if game.seat_to_act(state) == 0 else -1
    after = [(sign * outcome, sign * margin) for outcome, margin in values.after(state)]
    best = max(after)
    if len(after) < 2 or best[0] < 0:
        return None
    keeping = sum(outcome == best[0] for outcome, _ in after)
    return keeping / len(after), keeping == 1, best[1] - sum(margin for _, margin in after) / len(after)


def rows_of(play, game):
    named = {"": play}
    return (
        *formulas.first_seat(named, game.players),
        *formulas.draws_and_margins(named),
        *formulas.length_and_branching(named),
    )


@pytest.mark.parametrize("name", SMALL)
def test_random_play_is_known_exactly_from_all_states(name):
    game = SMALL[name]()
    truth = truths(game, PlainValues(game))
    found = {row.name: row for row in rows_of(formulas.SelfPlay(random_play(game, lambda: None), "table"), game)}
    assert len(found) == 6
    for at, row in found.items():
        assert row.estimate.value == row.estimate.low == pytest.approx(truth[at]), at
        assert (row.estimate.kind, row.known) == ("exact", "table")


@needs_compiler
@pytest.mark.parametrize("name", ["differences", "plusminus", "plaid", "coprimality"])
def test_playouts_of_a_kernel_have_the_truth_in_their_intervals(name):
    game = SMALL[name]()
    truth = truths(game, PlainValues(game))
    profile = kernel_of(game).profile(5, 0, 10_000)
    profile.include(kernel_of(game).profile(5, 10_000, 10_000))
    for row in rows_of(formulas.SelfPlay(profile, "kernel"), game):
        low, high = row.estimate.low, row.estimate.high
        assert (row.estimate.n, row.known) == (20_000, "kernel")
        assert low - (high - low) / 2 - 1e-9 <= truth[row.name] <= high + (high - low) / 2 + 1e-9, row.name
        assert high - low < 0.1


@pytest.mark.slow
@needs_compiler
def test_random_play_is_exact_on_a_small_board_and_millions_of_playouts_on_a_larger_one():
    few = Plan(encounters=10, doublings=0)
    for size, known, n in ((4, "table", 209), (7, "kernel", 100_000)):
        report = survey_quality(make_game("differences", size=size), "differences", few, Limits())
        drawn = report.measure("draws_and_margins").row("draws", "random")
        assert (drawn.known, drawn.estimate.n) == (known, n)
        assert report.measure("draws_and_margins").row("draws", "greedy").known == ""


@pytest.mark.slow
def test_without_a_kernel_random_play_is_simulated_on_the_rules(monkeypatch):
    monkeypatch.setattr("arena.lab.measures.survey.kernel_of", lambda _: KernelError("no compiler"))
    few = Plan(encounters=10, doublings=0, within_seconds=20.0)
    report = survey_quality(make_game("differences", size=7), "differences", few, Limits())
    drawn = report.measure("draws_and_margins").row("draws", "random")
    assert (drawn.known, drawn.estimate.n) == ("", 10)


def encounter_truth(game):
    zero = sum(
        chance * points_of(game.ranks(states[-1])) for chance, states in lines(game, [furthest_ahead, any_action])
    )
    one = sum(
        chance * points_of(game.ranks(states[-1])) for chance, states in lines(game, [any_action, furthest_ahead])
    )
    return (zero + 1 - one) / 2


def coverage(game, repetitions=REPETITIONS):
    values = PlainValues(game)
    truth = truths(game, values) | {"greedy against random": encounter_truth(game)}
    hits = dict.fromkeys(truth, 0)
    random = Strength(name="random", strategy=at_random(game))
    step = Step(Strength(name="greedy", strategy=greedy(game)), random)
    for repetition in range(repetitions):
        seeds = [(repetition, number) for number in range(MATCHES)]
        matches = [self_play(game, random, seed, lambda: None) for seed in seeds]
        taken = [encounter(game, step, seed, lambda: None) for seed in seeds]
        rows = rows_of(formulas.played_profile(matches, 2), game)
        rows += tuple(row for row in formulas.choice([formulas.valued(one, values) for one in matches]) if not row.at)
        found = {row.name: row.estimate for row in rows}
        found["greedy against random"] = share_of([Cluster(points) for points in taken])
        for name, estimate in found.items():
            hits[name] += estimate.low - 1e-9 <= truth[name] <= estimate.high + 1e-9
    return {name: count / repetitions for name, count in hits.items()}


@pytest.mark.soak
@pytest.mark.parametrize("name", SMALL)
def test_intervals_have_the_truth_in_95_of_100_samples_of_random_play(name):
    """What is the same in all matches is always right."""
    shares = coverage(SMALL[name]())
    assert len(shares) == 10
    assert all(0.92 <= share <= 0.98 or share == 1 for share in shares.values()), shares


GAMES = [
    ("differences", {"size": 4}, 1),
    ("multiplication", {"size": 7}, 8),
    ("plusminus", {"size": 3}, 2),
    ("plusminus", {"size": 3, "grid_first": 2}, 1),
    ("plaid", {"width": 6, "height": 5, "lines": 4}, 1),
    ("coprimality", {"size": 3}, 1),
]


@needs_compiler
@pytest.mark.slow(only=("plusminus-options2-2",), sample=True)
@pytest.mark.parametrize(("name", "options", "plies"), GAMES)
def test_kernels_play_the_encounters_of_the_rules(name, options, plies):
    game = make_game(name, **options)
    for opening in islice(openings(game, plies, 1), 3):
        values = {"seed": 3, "count": 30, "slips_permille": (50, 300)}
        assert slip_encounters(game, opening, **values) == encounters_by_rules(game, opening, 3, 30, (50, 300))


@needs_compiler
def test_a_kernel_and_the_rules_agree_on_what_is_too_much():
    game = make_game("multiplication", size=7)
    opening = next(openings(game, 5, 1))
    states = encounters_by_rules(game, opening, 1, 1, (50, 150)).states
    for most, fits in ((states, True), (states - 1, False)):
        assert_both_fit(game, opening, most, fits)
    # Plaid has 2 * 19 - 1 actions after an opening of one ply: 16 for each of the states would be few.
    game = make_game("plaid", width=20, height=20, lines=3)
    opening = (("v", 3),)
    states = 1 + 37
    actions = 37 + 37 * 36
    for most in (actions // 16, actions // 16 + 1):
        assert most > states
        assert_both_fit(game, opening, most, 16 * most >= actions)


def assert_both_fit(game, opening, most, fits):
    given = {"seed": 1, "count": 1, "slips_permille": (50, 150), "most_states": most}
    assert (slip_encounters(game, opening, **given) is not None) is fits
    assert (encounters_by_rules(game, opening, 1, 1, (50, 150), most) is not None) is fits


def exact(game, state, slips):
    """Return margin and outcome with best play, and the distribution of seat 0's half points: by recursion, exactly."""
    if game.is_over(state):
        first, second = game.scores(state)
        ranks = game.ranks(state)
        halves = 1 + (ranks[0] < ranks[1]) - (ranks[1] < ranks[0])
        return (halves, first - second), [Fraction(halves == k) for k in range(3)]
    seat = game.seat_to_act(state)
    after = [exact(game, game.apply(state, action), slips) for action in game.legal_actions(state)]
    worth = (max if seat == 0 else min)(value for value, _ in after)
    best = [chances for value, chances in after if value == worth]
    slip = Fraction(slips[seat], 1000)

    def mean(of):
        return [sum(chances[k] for chances in of) / len(of) for k in range(3)]

    every = mean([chances for _, chances in after])
    return worth, [(1 - slip) * good + slip * any_ for good, any_ in zip(mean(best), every, strict=True)]


@pytest.mark.slow(only=("multiplication-options1-6",))
@pytest.mark.parametrize(
    ("name", "options", "plies"),
    [
        ("differences", {"size": 4}, 1),
        ("multiplication", {"size": 7}, 6),
        ("plaid", {"width": 4, "height": 4, "lines": 3}, 1),
    ],
)
def test_shares_of_results_are_those_of_a_recursion(name, options, plies):
    """Within four standard errors of what a recursion over all lines of play gives."""
    game = make_game(name, **options)
    opening = next(openings(game, plies, 1))
    state = after(game, opening)
    count = 1500
    found = encounters_by_rules(game, opening, 9, count, (100, 400))
    worth, as_first = exact(game, state, (100, 400))
    _, as_second = exact(game, state, (400, 100))
    assert found.margin == pytest.approx(worth[1])
    shares = [sum(as_first[a] * as_second[b] for a in range(3) for b in range(3) if a + 2 - b == k) for k in range(5)]
    for counted, share in zip(found.counts, map(float, shares), strict=True):
        assert abs(counted - count * share) <= 4 * (count * share * (1 - share)) ** 0.5
    lead = float(sum(share * (k - 2) for k, share in enumerate(shares)) / 2)
    assert found.lead == pytest.approx(lead, abs=0.06)


# how many states follow an opening: counted by looking at all of them, by the rules in Python


BOARDS = [
    ("differences", {"size": 4}, (0, 1, 3)),
    ("plusminus", {"size": 3}, (0, 3, 4, 5)),
    ("plusminus", {"size": 3, "grid_first": 2}, (2, 5)),
    ("multiplication", {"size": 7}, (5, 7, 8, 9, 12)),
    ("plaid", {"width": 4, "height": 5, "lines": 3}, (0, 2)),
    ("plaid", {"width": 6, "height": 6, "lines": 4}, (1, 3)),
]


@pytest.mark.parametrize(("name", "options", "numbers"), BOARDS)
def test_states_after_an_opening_are_as_many_as_there_are(name, options, numbers):
    game = make_game(name, **options)
    for plies in numbers:
        for opening in islice(openings(game, plies, 1), 2):
            found = encounters_by_rules(game, opening, 1, 0, (0, 0)).states
            expected = least_states(game, plies)
            assert found >= expected if name == "plaid" else found == expected


def test_a_sheet_that_ends_at_its_last_line_has_as_many_as_are_said():
    """With 5 lines, and so an odd number of one kind, the rectangles of 6 by 7 can always be shared by two."""
    game = make_game("plaid", width=6, height=7, lines=5)
    assert encounters_by_rules(game, (("v", 1),), 1, 0, (0, 0)).states == least_states(game, 1) == 1 + 10 + 45 + 120


@pytest.mark.parametrize("name", ["differences", "plusminus", "multiplication", "plaid"])
def test_more_plies_than_a_match_has_are_no_fault(name):
    assert least_states(make_game(name), 1000) <= 1
    assert least_states(make_game("coprimality"), 2) is None, "they can't be counted"


@pytest.mark.parametrize(
    ("name", "options", "enough"),
    [("differences", {"size": 12}, 5), ("plaid", {}, 9), ("multiplication", {"size": 11}, 6), ("coprimality", {}, 0)],
)
def test_more_plies_leave_fewer_states_and_actions(name, options, enough):
    """Of plaid, 110 + 109 * 110 + … actions after eight plies would be too many, for which states alone are not."""
    game = make_game(name, **options)
    assert [may_be_solved(game, plies) for plies in range(enough + 2)] == [False] * enough + [True] * 2


def by_rules(monkeypatch):
    monkeypatch.setattr("arena.games.kernels.playouts.kernel_of", lambda _game: KernelError("none in this test"))


def exact_mean(game, state):
    if game.is_over(state):
        first, second = game.scores(state)
        return Fraction(first - second)
    actions = game.legal_actions(state)
    return sum(exact_mean(game, game.apply(state, action)) for action in actions) / len(actions)


@pytest.mark.parametrize("opening", [((1, 1), (2, 4)), ((2, 3),)])
def test_the_mean_is_that_of_all_lines_of_play_and_its_error_is_true(monkeypatch, opening):
    """Of 20 estimates with their errors, chi-square with 20 degrees of freedom is within 7 and 46 with p = 0.999."""
    by_rules(monkeypatch)
    monkeypatch.setattr(playouts, "PLAYOUTS_A_BATCH", 10)
    game = make_game("differences", size=4)
    expected = float(exact_mean(game, after(game, opening)))
    found = [playout_margin(game, opening, seed) for seed in range(20)]
    assert 5 <= sum(((one.mean - expected) / one.error) ** 2 for one in found) <= 50


def test_the_square_of_an_inexact_mean_is_taken_less_its_error():
    assert PlayoutMargin(mean=-3.0, error=1.0).square == 8


@needs_compiler
@pytest.mark.slow(only=("plaid-options1",), sample=True)
@pytest.mark.parametrize(
    ("name", "options"), [("multiplication", {"size": 11}), ("plaid", {"width": 8, "height": 6, "lines": 5})]
)
def test_kernels_play_on_from_an_opening_as_the_rules_do(name, options):
    game = make_game(name, **options)
    opening = [game.legal_actions(game.initial_state())[3]]
    opening.append(game.legal_actions(after(game, opening))[5])
    fast, slow = random_playouts(game, 3, 7, 40, opening), playouts_by_rules(game, 3, 7, 40, opening)
    assert (fast.played, fast.plies, fast.ranked) == (slow.played, slow.plies, slow.ranked)
    assert fast.score_sums == pytest.approx(slow.score_sums)
    assert fast.score_sums != random_playouts(game, 3, 7, 40).score_sums
    assert kernel_of(game).trace(3, 7, opening).plies[0][1] == len(game.legal_actions(after(game, opening)))
