import pytest

from arena.base.errors import UsageError
from arena.games import make_game
from arena.lab.certificate import prove
from arena.lab.oracle import Oracle
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits
from tests.lab import games

BOARDS = [
    ("plusminus", {"size": 2, "grid_first": 2}),
    ("differences", {"size": 3}),
    ("plaid", {"width": 4, "height": 3, "lines": 3}),
    ("plaid", {"width": 5, "height": 4, "lines": 2}),
    ("plaid", {"width": 2, "height": 1, "lines": 1}),  # over before two actions
    ("coprimality", {"size": 3, "max_grids": 1}),
]


@pytest.mark.parametrize("pie", [1, 2, 3])
@pytest.mark.parametrize(("name", "options"), BOARDS)
def test_it_is_worth_what_all_lines_of_play_say(name, options, pie):
    game = make_game(name, pie=pie, **options)
    start = game.initial_state()
    sign, margin = games.plain_value(game, start)
    worth = Oracle(game, name).worth(start)
    assert ({"win": 1, "draw": 0, "loss": -1}[worth.outcome], worth.margin) == (sign, pytest.approx(margin))
    assert Solver(game, name, Limits()).solve().worth.margin == worth.margin


@pytest.mark.parametrize(("name", "options"), BOARDS)
def test_each_state_and_action_is_worth_what_the_lines_of_play_from_it_say(name, options):
    game = make_game(name, pie=1, **options)
    oracle, state = Oracle(game, name), game.initial_state()
    for turn in range(3):
        if game.is_over(state):
            break
        for one in oracle.actions(state):
            assert one.worth.margin == pytest.approx(games.plain_value(game, game.apply(state, one.action))[1])
        state = game.apply(state, game.legal_actions(state)[-1 if turn else 0])


def test_the_checker_of_certificates_does_not_know_it():
    with pytest.raises(UsageError, match="pie = 1: the checker of certificates does not know the pie rule"):
        prove(make_game("differences", size=3, pie=1), "differences", Limits())
