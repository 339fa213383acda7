import random
import threading
import time

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.kernels import solver
from arena.games.kernels.loading import load, solver_of
from arena.games.kernels.option_sets import games_with
from arena.games.kernels.solver import SOLVED, KernelSolver
from arena.lab.oracle import Oracle
from arena.lab.solving import kernel_values, tables
from arena.lab.solving.kernel_values import KernelValues, has_all_values
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError
from arena.lab.solving.search import Search
from arena.lab.solving.tables import KernelTableFile, TableError, kernel_table_path, save_kernel_table
from arena.lab.solving.worth import Known
from tests import needs
from tests.lab.games import state_after, values_by_table

pytestmark = needs.program("cc", "gcc", "clang")

SMALL = [
    ("differences", {"size": 4}),
    ("differences", {"size": 4, "scoring": "once"}),
    ("plusminus", {"size": 3}),
    ("plusminus", {"size": 3, "grid_first": 2}),
    ("coprimality", {"size": 4, "max_grids": 3}),
    ("coprimality", {"size": 5, "max_grids": 3}),  # a new grid is worth something here
    ("plaid", {"width": 4, "height": 3, "lines": 3}),
    ("plaid", {"width": 1, "height": 6, "lines": 2}),
    ("plaid", {"width": 5, "height": 2, "lines": 5}),
]


TOO_SMALL = [game for game in games_with("multiplication", "small") if game.players == 2]
"""Smaller than the rules allow: on the smallest of their boards there are too many states for a table by them."""


@pytest.mark.parametrize("game", [*(make_game(name, **options) for name, options in SMALL), *TOO_SMALL], ids=str)
def test_every_state_of_small_boards_is_worth_what_the_rules_say(game):
    values, kernel = values_by_table(game, game.name), KernelValues(game, Limits())
    for state in values:
        if not game.is_over(state):
            after = [values[game.apply(state, action)] for action in game.legal_actions(state)]
            assert kernel.after_actions(state) == after


LARGER = [
    ("differences", {"size": 9}, 5),
    ("differences", {"size": 12, "scoring": "once"}, 8),
    ("plusminus", {"size": 6}, 13),
    ("multiplication", {"size": 7}, 6),
    ("multiplication", {"size": 13}, 20),
    ("coprimality", {"size": 9, "max_grids": 4}, 30),
    ("plaid", {}, 11),
    ("plaid", {"width": 9, "height": 8, "lines": 7}, 4),
    ("plaid", {"width": 300, "height": 2, "lines": 299}, 298),
]


@pytest.mark.slow(only=("plaid-{}-11",))
@pytest.mark.parametrize(("name", "options", "plies"), LARGER, ids=str)
def test_random_states_of_larger_boards_are_worth_what_a_search_says(name, options, plies):
    game, rng = make_game(name, **options), random.Random(2)
    kernel, search = KernelValues(game, Limits()), Search(game, Limits())
    for _ in range(3):
        state = state_after(game, plies, rng.choice)
        found = kernel.after_actions(state)
        for action, value in zip(game.legal_actions(state), found, strict=True):
            after = search.bounds(game.apply(state, action))
            assert (after.low, after.high) == (value, value)


def test_one_table_answers_for_all_matches(monkeypatch):
    game, rng = make_game("differences", size=6), random.Random(3)
    kernel = KernelValues(game, Limits())
    kernel.after_actions(state_after(game, 3, rng.choice))
    monkeypatch.setattr(KernelSolver, "filling", None)
    for plies in (0, 1, 2, 3, 4, 5):
        assert kernel.after_actions(state_after(game, plies, rng.choice))


def test_what_is_too_large_becomes_known_as_the_match_goes_on(monkeypatch):
    game, rng = make_game("differences", size=8), random.Random(4)
    plans = []
    monkeypatch.setattr(kernel_values, "MAX_TABLE_BYTES", 2000)
    kernel = KernelValues(game, Limits())
    for plies in range(8):
        plans.append(kernel.after_actions(state_after(game, plies, rng.choice)) is not None)
    assert plans == [False] * 3 + [True] * 5  # of five free columns there are 1,546 grids
    assert KernelValues(game, Limits(memory_bytes=100)).after_actions(game.initial_state()) is None


@pytest.mark.parametrize(
    ("name", "options", "known"),
    [
        ("plusminus", {"size": 8}, True),
        ("plusminus", {"size": 10}, False),
        ("plaid", {"width": 14, "height": 14}, True),
        ("plaid", {"width": 20, "height": 20}, False),
        ("coprimality", {"size": 40}, True),
        ("differences", {"size": 12}, False),
    ],
)
def test_all_states_are_known_where_the_table_fits_or_no_table_is_needed(name, options, known):
    assert has_all_values(make_game(name, **options), Limits()) is known


def test_a_kernel_tells_how_many_states_it_has_looked_at(monkeypatch):
    monkeypatch.setattr(solver, "_LOOK_SECONDS", 0.0)
    counts = []
    kernel = solver_of(make_game("differences", size=8))
    found = kernel.solve(watch=counts.append)
    assert 0 < counts[-1] <= found.states == kernel.needs().states
    assert counts == sorted(counts)


def soon():
    return time.monotonic() + 0.005


def solving_threads():
    return [thread for thread in threading.enumerate() if thread.name == "kernel solver"]


def begin(kernel, state):
    while not solving_threads():
        assert kernel.after_actions(state, soon()) is None


@pytest.mark.slow(only=("multiplication-options1", "plaid-options3"))
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("differences", {"size": 9}),
        ("multiplication", {"size": 9}),
        ("plusminus", {"size": 7}),
        ("plaid", {"width": 12, "height": 12, "lines": 12}),
    ],
)
def test_filling_a_table_goes_on_after_each_deadline(name, options):
    kernel, pauses = solver_of(make_game(name, **options)), 0
    values, at_once = (bytearray(kernel.table_plan().table_bytes) for _ in range(2))
    call = kernel.filling(values)
    while call.run(soon()) != SOLVED:
        pauses += 1
    assert pauses
    assert kernel.fill(at_once)
    assert values == at_once


def test_questions_together_fill_a_table_that_one_has_no_time_for():
    game = make_game("plusminus", size=7)
    kernel, first, unknown = KernelValues(game, Limits()), game.initial_state(), 0
    while (found := kernel.after_actions(first, soon())) is None:
        unknown += 1
    assert unknown
    assert found == KernelValues(game, Limits()).after_actions(first)


def test_an_oracle_keeps_deadlines_of_a_clock_that_leaves_pauses_out():
    def clock():
        return time.monotonic() - 1000

    limits = Limits(deadline=clock() + 60, clock=clock)
    game = make_game("multiplication", size=7)
    load(game.name)
    assert Oracle(game, game.name, limits, within_seconds=30).worth(game.initial_state()).known is Known.TABLE


def test_a_smaller_table_is_tried_before_one_that_takes_long():
    game, rng = make_game("differences", size=10), random.Random(5)
    kernel, state = KernelValues(game, Limits()), state_after(game, 8, rng.choice)
    begin(kernel, game.initial_state())
    while (found := kernel.after_actions(state, soon())) is None:
        pass
    search = Search(game, Limits())
    assert found == [search.bounds(game.apply(state, action)).low for action in game.legal_actions(state)]
    assert kernel.after_actions(game.initial_state(), soon()) is None


@pytest.mark.parametrize("how", ["dropped", "prepared", "too long"])
def test_a_table_that_is_given_up_takes_nothing(how, monkeypatch):
    game = make_game("differences", size=10)
    kernel, first = KernelValues(game, Limits()), game.initial_state()
    begin(kernel, first)
    if how == "dropped":
        del kernel
    elif how == "prepared":
        kernel.prepare(soon())
    else:
        monkeypatch.setattr(kernel_values, "_MOST_SECONDS", 0.0)
        while kernel._fillings:
            assert kernel.after_actions(first, soon()) is None
    assert not solving_threads()


def test_a_smaller_table_takes_the_room_of_one_that_takes_long():
    game, rng = make_game("differences", size=10), random.Random(6)
    limits = Limits(memory_bytes=solver_of(game).table_plan().memory_bytes)
    kernel, first = KernelValues(game, limits), game.initial_state()
    begin(kernel, first)
    [filling] = solving_threads()
    while filling.is_alive():
        assert kernel.after_actions(state_after(game, 1, rng.choice), soon()) is None
    assert len(solving_threads()) == 1
    assert kernel.after_actions(state_after(game, 8, rng.choice))
    assert kernel.after_actions(first) is None


@pytest.mark.parametrize(
    ("name", "options"),
    [("differences", {"size": 5}), ("plusminus", {"size": 3}), ("plaid", {"width": 4, "height": 4, "lines": 4})],
)
def test_a_saved_table_has_every_value_of_its_states(name, options, tmp_path):
    game, file = make_game(name, **options), tmp_path / "values"
    save_kernel_table(game, file, Limits())
    values = values_by_table(game, name)
    with KernelTableFile(game, file) as table:
        found = {state: table.value(state) for state in values}
    has_grid = {state for state in values if name == "plusminus" and not game.is_predicting(state)}
    assert {state: value for state, value in found.items() if state not in has_grid} == {
        state: value for state, value in values.items() if state not in has_grid
    }


def test_a_saved_table_is_opened_where_one_would_be_made(tmp_path, monkeypatch):
    load("differences")  # before the cache is another one
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    game = make_game("differences", size=6)
    expected = KernelValues(game, Limits()).after_actions(game.initial_state())
    save_kernel_table(game, kernel_table_path(game), Limits())
    assert len(list((tmp_path / "tables").glob("*.values"))) == 1
    monkeypatch.setattr(KernelSolver, "filling", None)
    assert KernelValues(game, Limits()).after_actions(game.initial_state()) == expected
    save_kernel_table(game, kernel_table_path(game), Limits())  # another process has done so


def test_a_table_is_made_once_by_those_who_want_it_at_the_same_time(tmp_path, monkeypatch):
    game, file, filled, fill = make_game("differences", size=7), tmp_path / "t", [], KernelSolver.fill
    monkeypatch.setattr(KernelSolver, "fill", lambda *given: filled.append(1) or fill(*given))
    threads = [threading.Thread(target=save_kernel_table, args=(game, file, Limits())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(filled) == 1
    with KernelTableFile(game, file) as table:
        assert table.value(game.initial_state()) == 0


def test_a_table_of_others_is_refused(tmp_path, monkeypatch):
    game, file = make_game("differences", size=5), tmp_path / "differences.values"
    save_kernel_table(game, file, Limits())
    with pytest.raises(TableError, match=r"it is of differences \{.*\}; solve the game again with --save"):
        KernelTableFile(make_game("differences", size=5, scoring="once"), file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(TableError, match="bytes, expected"):
        KernelTableFile(game, file)
    monkeypatch.setattr(tables, "sources_digest", lambda _name: "0123456789abcdef")
    with pytest.raises(TableError, match=r"table .*: it was made by another kernel of differences; solve"):
        KernelTableFile(game, file)
    monkeypatch.setattr(tables, "rules_version", lambda _game: "0123456789abcdef")
    with pytest.raises(TableError, match="it was made by other rules of differences"):
        KernelTableFile(game, file)


def test_a_table_that_can_t_be_saved_has_a_sentence(tmp_path):
    game = make_game("differences", size=9)
    with pytest.raises(TooLargeError, match=r"a table of differences of 17,572,114 states takes about .* MiB, and"):
        save_kernel_table(game, tmp_path / "t", Limits(memory_bytes=2**20))
    with pytest.raises(TimeIsUpError, match="the table is not full"):
        save_kernel_table(game, tmp_path / "t", Limits(deadline=time.monotonic()))
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match=r"can't be written"):
        save_kernel_table(make_game("differences", size=3), tmp_path / "file" / "t", Limits())
    with pytest.raises(KernelError, match="makes no table"):
        save_kernel_table(make_game("coprimality"), tmp_path / "t", Limits())
    assert not list(tmp_path.glob("t"))
