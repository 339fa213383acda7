"""The strength of bots: what an action keeps, against brute force over all lines of play, and the shares of it."""

import random
import time

import pytest

from arena.games import make_game
from arena.lab.kernels.loading import has_solver
from arena.lab.limits import Limits
from arena.lab.oracle import Oracle
from arena.lab.strength.decisions import Decision, decision_of
from arena.lab.strength.measuring import Measuring, Plan
from arena.lab.strength.strength import strength_of
from tests.best_play import brute_force

TINY = [
    ("plusminus", {"size": 3, "grid_first": 2}),
    ("plaid", {"width": 4, "height": 4, "lines": 3}),
    ("coprimality", {"size": 3, "max_grids": 2}),
    ("differences", {"size": 4}),
]


def unbuilt_oracle(game, name, within_seconds=None):
    """Return an oracle that builds no kernel: it does so only if it has all the time in the world."""
    return Oracle(game, name, Limits(deadline=time.monotonic() + 3600.0), within_seconds=within_seconds)


@pytest.mark.parametrize(("name", "options"), TINY)
def test_a_decision_keeps_what_brute_force_says(name, options):
    game = make_game(name, **options)
    oracle, value = unbuilt_oracle(game, name), brute_force(game)
    draw = random.Random(7)
    seen = set()
    for _ in range(12):
        state = game.initial_state()
        while not game.is_over(state):
            legal = list(game.legal_actions(state))
            values = {value(game.apply(state, action)) for action in legal}
            chosen = draw.choice(legal)
            kept = value(game.apply(state, chosen))
            expected = Decision(
                value=None if len(values) == 1 else kept == value(state),
                outcome=None if len({outcome for outcome, _ in values}) == 1 else kept[0] == value(state)[0],
            )
            sent = list(chosen) if isinstance(chosen, tuple) else chosen  # as records have it
            assert decision_of(game, oracle, state, sent) == expected
            seen.add(expected.value)
            state = game.apply(state, chosen)
    assert seen == {None, True, False}


def test_an_action_in_another_spelling_is_not_known():
    game = make_game("differences", size=4)
    oracle = unbuilt_oracle(game, "differences")
    assert decision_of(game, oracle, game.initial_state(), "c4") == Decision(is_known=False)


def test_without_exact_values_a_decision_is_not_known():
    game = make_game("plaid", width=40, height=39, lines=30)
    oracle = unbuilt_oracle(game, "plaid", within_seconds=0.01)
    assert decision_of(game, oracle, game.initial_state(), ("v", 1)) == Decision(is_known=False)


def test_kernels_are_asked_for_the_games_of_the_package():
    assert has_solver(Measuring("multiplication", {"size": 7}, Plan(matches=0, positions=0)).game)


KEPT = Decision(value=True, outcome=True)
LOST = Decision(value=False, outcome=None)
FREE = Decision()
UNKNOWN = Decision(is_known=False)


def test_shares_are_of_decisions_alone():
    found = strength_of([[KEPT, LOST, FREE], [UNKNOWN, KEPT], [KEPT]])
    assert (found.positions, found.without_choice, found.not_known) == (6, 1, 1)
    assert (found.value.decisions, found.outcome.decisions) == (4, 3)
    assert found.value.share.value == 3 / 4
    assert found.outcome.share.value == 1


def test_wilsons_interval_where_each_position_stands_alone():
    """15 of 20: 0.531 to 0.888 (E. B. Wilson 1927; the usual worked example)."""
    share = strength_of([[KEPT]] * 15 + [[LOST]] * 5).value.share
    assert (round(share.low, 3), round(share.high, 3)) == (0.531, 0.888)


def test_positions_of_one_match_count_as_one_observation():
    apart = strength_of([[KEPT]] * 30 + [[LOST]] * 30).value.share
    together = strength_of([[KEPT] * 10] * 3 + [[LOST] * 10] * 3).value.share
    assert together.n == 6
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_without_positions_there_is_no_share():
    found = strength_of([])
    assert (found.positions, found.value.share, found.outcome.share) == (0, None, None)
