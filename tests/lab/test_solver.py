import threading
import time

import pytest

from arena.base.errors import KernelError, UsageError
from arena.games import make_game
from arena.games.kernels import solver_sameness
from arena.games.kernels.loading import load, solver_of
from arena.games.kernels.solver_sameness import compare_solutions
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.worth import By
from tests import needs

pytestmark = needs.program("cc", "gcc", "clang")

SIZES = {
    "differences": [{"size": size, "scoring": scoring} for size in (2, 3, 4) for scoring in ("distinct", "once")],
    "plusminus": [{"size": size, "grid_first": first} for size in (2, 3) for first in (1, 2)],
    "coprimality": [{"size": size, "max_grids": grids} for size in range(3, 13) for grids in (1, 2, 10)],
    "plaid": [
        {"width": width, "height": height, "lines": lines}
        for width in range(1, 6)
        for height in range(1, 6)
        if width * height % 2 == 0
        for lines in range(1, width + height - 1)
    ],
}


def solved(by, name, **options):
    return Solver(make_game(name, **options), name, Limits()).solve(by)


@pytest.mark.parametrize("name", SIZES)
def test_small_boards_are_worth_what_tables_by_the_rules_say(name):
    for options in SIZES[name]:
        fast, slow = (solved(by, name, **options) for by in (By.KERNEL, By.TABLE))
        assert fast.worth.outcome == slow.worth.outcome
        assert fast.worth.margin == pytest.approx(slow.worth.margin, abs=2e-9)
        assert (fast.best, fast.has_all_best) == (slow.best, True)


def test_another_margin_is_noticed(monkeypatch):
    monkeypatch.setattr(solver_sameness, "parts_of", lambda _game: 2)
    with pytest.raises(KernelError, match=r"the kernel of multiplication .* solves it otherwise than the rules"):
        compare_solutions("multiplication", load("multiplication"))


def test_large_boards_are_solved_without_being_asked_and_what_no_kernel_solves_is_said():
    """Multiplication of size 7 has ten million states for a table by the rules."""
    solution = solved(None, "multiplication", size=7)
    assert (solution.worth.known, solution.worth.outcome, solution.worth.margin) == ("table", "win", 12)
    assert (solution.best, solution.has_all_best) == (((1, 1),), True)
    assert solution.memory_bytes < 2**20 < solution.edges
    for name, options in (("plaid", {}), ("multiplication", {"size": 13}), ("coprimality", {"max_grids": 2})):
        kernel = solver_of(make_game(name, **options))
        assert (kernel.needs() is None) == (name != "coprimality")
    with pytest.raises(UsageError, match="kernels do not solve it"):
        solved(By.KERNEL, "plaid")


def test_the_memory_is_looked_at_before_and_bounds_are_left_when_the_kernel_does_not_end_in_time():
    for options in ({"size": 11}, {"size": 13}):
        game = make_game("multiplication", **options)
        with pytest.raises(TooLargeError, match=r"takes .*GiB, and 1\.0 GiB may be used; .*--within 60s for bounds"):
            Solver(game, "multiplication", Limits(memory_bytes=2**30)).solve()
    plan = Solver(make_game("multiplication", size=11), "multiplication", Limits()).plan().text()
    assert plan.startswith("its kernel solves ")
    game = make_game("multiplication", size=11)
    solver_of(game)
    solution = Solver(game, "multiplication", Limits(deadline=time.monotonic() + 0.05)).solve()
    assert (solution.worth.known, solution.worth.margin) == ("search", None)


def test_it_ends_at_the_deadline_and_with_ctrl_c(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    game = make_game("differences", size=10)
    kernel = solver_of(game)
    assert kernel.solve(deadline=time.monotonic()) is None
    with pytest.raises(TimeIsUpError, match="allow more"):
        Solver(game, "differences", Limits(deadline=time.monotonic())).solve(By.KERNEL)
    monkeypatch.setattr(time, "monotonic", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel.solve()
    assert "kernel solver" not in {thread.name for thread in threading.enumerate()}


def test_without_a_compiler_the_worth_is_the_same(forget_kernels):
    fast = solved(None, "coprimality", size=6)
    forget_kernels()
    solver = Solver(make_game("coprimality", size=6), "coprimality", Limits())
    slow = solver.solve()
    assert (slow.worth.margin, slow.best) == (fast.worth.margin, fast.best) == (1, fast.best)
    assert solver.kernel_problem == "there is no C compiler: CC = 'nocc' is not found"
