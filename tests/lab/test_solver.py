import ctypes
import random
import re
import threading
import time
from statistics import mean
from unicodedata import numeric
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import KernelError, UsageError
from arena.games import make_game
from arena.games.kernels import solver_sameness
from arena.games.kernels.loading import load, share_solver_of, solver_of
from arena.games.kernels.solver_sameness import compare_game, compare_solutions
from arena.lab.shares import ShareOracle
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.worth import By
from tests import needs
from tests.conftest import ROOT
from tests.lab import brute_force
from tests.lab.games import state_after

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
        assert (solver_of(make_game(name, **options)).needs() is None) == (name != "coprimality")
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
    game = make_game("differences", size=10)
    kernel = solver_of(game)
    assert kernel.solve(deadline=time.monotonic()) is None
    with pytest.raises(TimeIsUpError, match="allow more"):
        Solver(game, "differences", Limits(deadline=time.monotonic())).solve(By.KERNEL)
    monkeypatch.setattr(time, "monotonic", Mock(side_effect=KeyboardInterrupt))
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


def drawn_state(game, data, plies):
    return state_after(
        game, data.draw(st.integers(0, plies)), lambda actions: data.draw(st.sampled_from(list(actions)))
    )


def check(game, state):
    oracle = ShareOracle(game, game.name, Limits())
    fast, slow = (oracle.of(state, by) for by in (By.KERNEL, By.TABLE))
    assert fast.actions == slow.actions
    assert (fast.shares, fast.paranoid) == (slow.shares, slow.paranoid)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(players=st.integers(3, 5), size=st.integers(3, 6), grids=st.integers(1, 4), data=st.data())
def test_coprimality_is_shared_as_a_table_says(players, size, grids, data):
    if players == 5 and size > 4:
        grids = 1  # the table has too many states
    game = make_game("coprimality", players=players, size=size, max_grids=grids)
    check(game, drawn_state(game, data, 2 * size))


SHEETS = [
    {"players": players, "width": width, "height": height, "lines": lines}
    for players in (3, 4, 5, 8)
    for width in range(1, 7)
    for height in range(1, 5)
    if width * height % players == 0
    for lines in range(1, width + height - 1)
]


@settings(max_examples=25, deadline=None)
@given(options=st.sampled_from(SHEETS), data=st.data())
def test_plaid_is_shared_as_a_table_says(options, data):
    game = make_game("plaid", **options)
    check(game, drawn_state(game, data, options["lines"]))


@pytest.mark.soak
def test_all_small_sheets_are_shared_as_a_table_says():
    for options in SHEETS:
        game = make_game("plaid", **options)
        check(game, game.initial_state())
        compare_game(share_solver_of(game))


@settings(max_examples=5, deadline=None)
@given(players=st.sampled_from([3, 4]), left=st.integers(1, 4), data=st.data())
def test_the_end_of_a_numbering_is_shared_as_a_table_says(players, left, data):
    game = make_game("multiplication", players=players, size=3 * players + 1)
    state = game.initial_state()
    for _ in range(2 * game.options["size"] - 1 - left):
        actions = list(game.legal_actions(state))
        state = game.apply(state, actions[data.draw(st.integers(0, len(actions) - 1))])
    check(game, state)


PAGE = (ROOT / "docs/games/coprimality.md").read_text(encoding="utf-8")


def test_shares_are_those_of_the_page_about_coprimality():
    rows = re.findall(r"^\| ([34]) \| (\d+) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 14
    for players, size, *cells in rows:
        game = make_game("coprimality", players=int(players), size=int(size))
        found = ShareOracle(game, "coprimality").of(game.initial_state(), By.KERNEL)
        for cell, shares in zip(cells, (found.shares, found.paranoid), strict=True):
            values = [numeric(one) if len(one) == 1 else int(one) for one in cell.split(", ")]
            assert shares == pytest.approx(values)


@pytest.mark.slow
def test_the_mean_shares_are_those_of_the_page_about_coprimality():
    shares = []
    for size in range(3, 101):
        game = make_game("coprimality", players=3, size=size)
        shares.append(ShareOracle(game, "coprimality").of(game.initial_state(), By.KERNEL).shares)
    means = [f"{100 * mean(one[seat] for one in shares):.1f} %" for seat in range(3)]
    firsts = [sum(one.index(max(one)) == seat for one in shares) for seat in range(3)]
    assert (
        f"seat 0 has {means[0]} of its rivals beaten in the mean, seat 1 {means[1]} and seat 2 {means[2]}; "
        f"it comes first at {firsts[0]} of the 98 sizes, seat 1 at {firsts[1]} and seat 2 at {firsts[2]}."
    ) in " ".join(PAGE.split())


def test_the_same_question_looks_at_as_many_states():
    """What a new grid is worth is compared with others byte by byte."""
    counts = set()
    for _ in range(3):
        kernel = share_solver_of(make_game("coprimality", players=3, size=7, max_grids=50))
        counts.add(kernel.after_actions().states)
        share_solver_of(make_game("coprimality", players=9, size=5, max_grids=2)).after_actions()  # another stack
    assert len(counts) == 1


def test_what_it_takes_is_said_before_it_begins_and_a_table_is_made_where_no_kernel_is():
    game = make_game("plaid", players=9, width=3, height=3, lines=2)
    assert Solver(game, "plaid", Limits()).solve().shares_known == "table"
    with pytest.raises(UsageError, match="kernels do not solve it; try --by table"):
        Solver(game, "plaid", Limits()).solve(By.KERNEL)
    with pytest.raises(UsageError, match=r"players = 9: .* by a kernel or a table, not by search"):
        Solver(game, "plaid", Limits()).solve(By.SEARCH)
    sheet = make_game("plaid", players=3, width=12, height=12, lines=12)
    share_solver_of(sheet)  # built
    assert Solver(sheet, "plaid", Limits()).plan().text().startswith("its kernel solves 4,084,248 states and takes")
    with pytest.raises(TooLargeError, match=r"by its kernel takes .*, and 1\.0 MiB may be used; try a smaller board"):
        Solver(sheet, "plaid", Limits(memory_bytes=2**20)).solve()
    board = make_game("multiplication", players=3, size=10)
    with pytest.raises(TooLargeError, match="3,579,715,641,431 states takes more than a million GiB"):
        Solver(board, "multiplication", Limits(memory_bytes=2**30)).solve()


@pytest.mark.parametrize(
    ("name", "options"),
    [("coprimality", {"players": 40, "size": 12}), ("plaid", {"players": 3, "width": 12, "height": 12, "lines": 12})],
)
def test_it_ends_at_the_deadline(name, options):
    kernel = share_solver_of(make_game(name, **options))
    assert kernel.after_actions(deadline=time.monotonic()) is None
    with pytest.raises(TimeIsUpError, match="allow more"):
        Solver(kernel.game, name, Limits(deadline=time.monotonic())).solve(By.KERNEL)


PARTIAL_PERMUTATIONS = [2, 7, 34, 209, 1546, 13327, 130922, 1441729, 17572114, 234662231, 3405357682, 53334454417]
"""Of sets of 1, 2, … elements: sequence A002720 of the OEIS."""


def table_of(game, state):
    """Return the kernel in a state, and its table of what can follow; None if it needs none."""
    kernel = solver_of(game)
    kernel.set_state(state)
    plan = kernel.table_plan()
    if plan is None:
        return None, None
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    assert kernel.fill(values)
    return kernel, values


def looked_up(game, table, state):
    kernel = solver_of(game)
    kernel.set_state(state)
    root, values = table
    return kernel.look_up(root, values and ctypes.addressof(values))


@pytest.mark.slow
def test_coprimality_is_worth_what_all_paths_say():
    for size in range(3, 10):
        for grids in (1, 2, 5):
            game = make_game("coprimality", size=size, max_grids=grids)
            assert solver_of(game).solve().outcome == brute_force.coprimality(size, grids)


SAMPLES = [
    ("plusminus", {"size": 8}, ("+-+-+-+", "++-++-+"), (1, 8, 4, 2, 3, 5, 6, 7), 4 - 5),
    ("differences", {"size": 9}, None, (5, 9, 7, 4, 1, 6, 2, 3, 8), 5 - 7),
    ("differences", {"size": 9, "scoring": "once"}, None, (5, 9, 7, 4, 1, 6, 2, 3, 8), 2 - 6),
]


@pytest.mark.parametrize(("name", "options", "signs", "heights", "margin"), SAMPLES, ids=str)
def test_the_samples_of_the_designer_end_as_he_says(name, options, signs, heights, margin):
    """The last mark, whichever it is, is found in a table of all that can follow from half of the marks."""
    game = make_game(name, **options)
    first = game.initial_state()
    first = first if signs is None else first._replace(predictions=signs)
    columns = random.Random(1).sample(range(len(heights)), len(heights) // 2)
    table = table_of(game, first._replace(heights=[0 if k in columns else row for k, row in enumerate(heights)]))
    for column in columns:
        marked = tuple(0 if k == column else row for k, row in enumerate(heights))
        assert looked_up(game, table, first._replace(heights=marked)) == [((margin > 0) - (margin < 0), margin)]


def test_as_many_states_are_counted_as_was_published():
    for size, states in enumerate(PARTIAL_PERMUTATIONS[1:], 2):
        assert solver_of(make_game("differences", size=size)).needs().states == states
    for size in range(2, 10):
        pairs, states = 4 ** (size - 1), PARTIAL_PERMUTATIONS[size - 1]
        assert solver_of(make_game("plusminus", size=size)).needs().states == pairs * states + pairs - 1
