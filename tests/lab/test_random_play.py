"""What random play is like: exactly, by every line of play, by kernels, and how often intervals have the truth."""

from functools import cache

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels.loading import kernel_of
from arena.lab.measures import formulas
from arena.lab.measures.exact_values import Value, random_play
from arena.lab.measures.measure import Cluster, share_of
from arena.lab.measures.report import survey_quality
from arena.lab.measures.skill_ladder import Step, Strength, at_random, encounter, greedy, self_play
from arena.lab.measures.survey import Plan
from arena.lab.solving.limits import Limits
from tests import needs
from tests.lab.games import plain_value

needs_compiler = needs.program("cc", "gcc", "clang")

REPETITIONS, MATCHES = 200, 200


def numbering():
    """Return multiplication from when all marks stand."""
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
    """The values that plain recursion finds, in place of those of a table."""

    def __init__(self, game):
        self._game = game
        self.of = cache(lambda state: Value(*plain_value(game, state)))

    def after(self, state):
        return tuple(self.of(self._game.apply(state, action)) for action in self._game.legal_actions(state))


def truths(game, values):
    """Return the means of random play by name, from every line of play."""
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
    """Return the points that greedy play takes from random play, in both seats."""
    zero = sum(
        chance * points_of(game.ranks(states[-1])) for chance, states in lines(game, [furthest_ahead, any_action])
    )
    one = sum(
        chance * points_of(game.ranks(states[-1])) for chance, states in lines(game, [any_action, furthest_ahead])
    )
    return (zero + 1 - one) / 2


def coverage(game, repetitions=REPETITIONS):
    """Return by name in which share of repetitions an interval of ``MATCHES`` observations has the truth."""
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
