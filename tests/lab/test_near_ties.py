"""A kernel that asks the rules about all scores less than two points apart finds what they say."""

import pytest

from arena.games import make_game
from arena.games.kernels import loading
from arena.games.kernels.build import FLAGS, compile_kernel, find_compiler
from arena.games.kernels.loading import share_solver_of, solver_of
from arena.games.kernels.solver import KernelSolver, ShareSolver
from arena.lab.solving import kernel_values
from arena.lab.solving.kernel_values import KernelValues
from arena.lab.solving.limits import Limits
from tests import needs
from tests.lab.mutants import ASKS_OFTEN

pytestmark = [needs.program("cc", "gcc", "clang"), pytest.mark.slow(sample=True)]


@pytest.fixture(scope="module")
def asking_plaid(tmp_path_factory):
    path = tmp_path_factory.mktemp("asking") / "plaid.so"
    compile_kernel("plaid", path, find_compiler(), flags=(*FLAGS, ASKS_OFTEN))
    return loading.open_library(path)


@pytest.fixture
def asked(monkeypatch):
    """The games and states of which the rules are asked for ranks."""
    found = []
    kind = type(make_game("plaid"))
    ranks = kind.ranks
    monkeypatch.setattr(kind, "ranks", lambda game, state: found.append((game, state)) or ranks(game, state))
    return found


@pytest.mark.parametrize(
    ("sheet", "solver", "ask"),
    [
        ({"width": 6, "height": 4}, KernelSolver, lambda kernel: kernel.solve()),
        ({"players": 3, "width": 6, "height": 3}, ShareSolver, lambda kernel: kernel.after_actions()),
    ],
    ids=["values", "shares"],
)
def test_near_ties_are_decided_by_the_rules(asking_plaid, asked, sheet, solver, ask):
    for lines in range(1, 9 if solver is KernelSolver else 7):
        game = make_game("plaid", lines=lines, **sheet)
        expected = ask((solver_of if solver is KernelSolver else share_solver_of)(game))
        assert ask(solver(asking_plaid, game)) == expected
    assert len(asked) > 50
    assert all(len(set(game.scores(state))) > 1 for game, state in asked)  # equal ones are known to be ties


def test_a_table_of_values_has_what_the_rules_say_of_them(asking_plaid, asked, monkeypatch):
    game = make_game("plaid", width=6, height=4, lines=5)
    expected = KernelValues(game, Limits()).after_actions(game.initial_state())
    asked.clear()
    monkeypatch.setattr(kernel_values, "solver_of", lambda game: KernelSolver(asking_plaid, game))
    assert KernelValues(game, Limits()).after_actions(game.initial_state()) == expected
    assert asked


def test_a_mistake_of_the_rules_in_a_near_tie_is_not_lost(asking_plaid, monkeypatch):
    game = make_game("plaid", width=4, height=3, lines=2)
    monkeypatch.setattr(game, "ranks", lambda _state: {}["no ranks"])
    with pytest.raises(KeyError, match="no ranks"):
        KernelSolver(asking_plaid, game).solve()
