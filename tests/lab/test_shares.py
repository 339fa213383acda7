import re
import time
from statistics import mean
from unicodedata import numeric

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.games import make_game
from arena.games.kernels.loading import share_solver_of
from arena.games.kernels.solver_sameness import compare_game
from arena.lab.shares import ShareOracle
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.worth import By
from tests import needs
from tests.conftest import ROOT
from tests.lab.games import state_after

pytestmark = needs.program("cc", "gcc", "clang")


def drawn_state(game, data, plies):
    """Return a state after some of so many actions."""
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
    solution = Solver(game, "plaid", Limits()).solve()
    assert solution.shares_known == "table"
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
