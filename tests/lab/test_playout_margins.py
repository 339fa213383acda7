"""How far random playouts end apart: by a recursion over all lines of play, and the same in C as in Python."""

from fractions import Fraction

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import playouts as playout_margins
from arena.games.kernels.loading import kernel_of, load
from arena.games.kernels.playouts import PlayoutMargin, playout_margin, playouts_by_rules, random_playouts
from tests.lab.games import after


def by_rules(monkeypatch):
    monkeypatch.setattr("arena.games.kernels.playouts.kernel_of", lambda _game: KernelError("none in this test"))


def exact_mean(game, state):
    """Return the mean margin of all random lines of play."""
    if game.is_over(state):
        first, second = game.scores(state)
        return Fraction(first - second)
    actions = game.legal_actions(state)
    return sum(exact_mean(game, game.apply(state, action)) for action in actions) / len(actions)


@pytest.mark.parametrize("opening", [((1, 1), (2, 4)), ((2, 3),)])
def test_the_mean_is_that_of_all_lines_of_play_and_its_error_is_true(monkeypatch, opening):
    """Of 20 estimates with their errors, chi-square with 20 degrees of freedom is within 7 and 46 with p = 0.999."""
    by_rules(monkeypatch)
    monkeypatch.setattr(playout_margins, "PLAYOUTS_A_BATCH", 10)
    game = make_game("differences", size=4)
    expected = float(exact_mean(game, after(game, opening)))
    found = [playout_margin(game, opening, seed) for seed in range(20)]
    assert 5 <= sum(((one.mean - expected) / one.error) ** 2 for one in found) <= 50


def test_the_square_of_an_inexact_mean_is_taken_less_its_error():
    assert PlayoutMargin(mean=-3.0, error=1.0).square == 8


@pytest.mark.slow(only=("plaid-options1",), sample=True)
@pytest.mark.parametrize(
    ("name", "options"), [("multiplication", {"size": 11}), ("plaid", {"width": 8, "height": 6, "lines": 5})]
)
def test_kernels_play_on_from_an_opening_as_the_rules_do(name, options):
    if isinstance(load(name), KernelError):
        pytest.skip("no C compiler")
    game = make_game(name, **options)
    opening = [game.legal_actions(game.initial_state())[3]]
    opening.append(game.legal_actions(after(game, opening))[5])
    fast, slow = random_playouts(game, 3, 7, 40, opening), playouts_by_rules(game, 3, 7, 40, opening)
    assert (fast.played, fast.plies, fast.ranked) == (slow.played, slow.plies, slow.ranked)
    assert fast.score_sums == pytest.approx(slow.score_sums)
    assert fast.score_sums != random_playouts(game, 3, 7, 40).score_sums
    kernel = kernel_of(game)
    assert kernel.trace(3, 7, opening).plies[0][1] == len(game.legal_actions(after(game, opening)))
