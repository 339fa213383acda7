import json
from functools import cache
from itertools import combinations, product
from random import Random
from unittest.mock import Mock

import pytest

from arena.base.errors import UsageError
from arena.games import make_game
from arena.games.kernels import loading
from arena.games.kernels.loading import solver_of
from arena.games.kernels.solver import parts_of
from arena.lab import repair
from arena.lab.certificate import prove
from arena.lab.oracle import Oracle
from arena.lab.repair import Repaired, matrix_value, repairs_of
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError
from arena.lab.solving.worth import Known
from tests import needs
from tests.cli.calls import calling
from tests.games.reference import reference_of
from tests.lab import games
from tests.lab.brute_force import best, margin_after

KEYS = ["options", "repair", "margin", "outcome", "known", "keeping_first", "first", "decided_at", "draws"]


def rows_of(name, within=600.0, **options):
    return {one.repair: one for one in repairs_of(make_game(name, **options), name, within, 2**31)}


def in_order(name, within=600.0, **options):
    return sorted(rows_of(name, within, **options).values(), key=Repaired.order)


@pytest.mark.parametrize(
    ("width", "height", "lines"), [(4, 3, 3), (5, 4, 2), (3, 4, 4), (2, 5, 2), (6, 2, 3), (3, 4, 2)]
)
def test_a_pie_on_small_sheets_of_plaid_is_worth_what_all_lines_of_play_say(width, height, lines):
    firsts = [("v", x) for x in range(1, width)] + [("h", y) for y in range(1, height)]
    options = {"width": width, "height": height, "lines": lines}
    values = [margin_after("plaid", options, [line]) for line in firsts]
    rows = rows_of("plaid", **options)
    nearest = min(abs(value) for value in values)
    assert rows["none"].margin == pytest.approx(float(max(values)), abs=1e-8)
    assert abs(rows["pie=1"].margin) == pytest.approx(float(nearest), abs=1e-8)
    assert (rows["none"].keeping_first, rows["none"].first) == (values.count(max(values)), len(firsts))
    assert rows["pie=1"].keeping_first == sum(abs(value) == nearest for value in values)  # whichever seat it favours
    ahead = min(abs(margin_after("plaid", options, pair)) for pair in combinations(firsts, 2))
    assert abs(rows["pie=2"].margin) == pytest.approx(float(ahead), abs=1e-8)


def test_forms_are_sorted_by_fairness_and_what_is_not_known_comes_last():
    rows = in_order("plusminus", size=3, grid_first=2)
    assert [abs(one.margin) for one in rows] == sorted(abs(one.margin) for one in rows)
    margins = {one.repair: one.margin for one in rows}
    grid_first = margin_after("plusminus", {"size": 3})
    assert (margins["none"], margins["grid_first=1"], margins["komi=-1"]) == (-1, grid_first, 0)
    late = in_order("coprimality", 0.0, size=5)
    assert [(one.repair, one.margin, one.known) for one in late] == [
        ("both_seats=1", 0, "proved"),
        *((word, None, None) for word in ("none", "pie=1", "pie=2")),
    ]


def test_the_command_prints_an_object_for_each_form(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)
    code, out, err = call("lab", "repair", "differences", "-o", "size=3", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, err, {tuple(row) for row in rows}) == (0, "", {tuple(KEYS)})
    assert {row["outcome"] for row in rows} == {"draw"}
    plain = next(row for row in rows if row["repair"] == "none")
    assert (plain["options"], plain["margin"], plain["known"]) == ({"size": 3, "scoring": "distinct"}, 0, "proved")
    code, out, _ = call("lab", "repair", "differences", "-o", "size=3")
    assert (code, "scoring=once pie=1" in out, out.splitlines()[0]) == (0, True, "differences size=3, scoring=distinct")


def test_ctrl_c_leaves_the_forms_that_are_known_by_then(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("arena.lab.repair._Form._in_pairs", Mock(side_effect=KeyboardInterrupt))
    code, out, err = calling(tmp_path / "home", capsys)("lab", "repair", "differences", "-o", "size=3", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, sorted(row["repair"] for row in rows)) == (130, ["both_seats=1", "none", "pie=1", "pie=2"]), err


@pytest.mark.slow
def test_it_says_why_forms_are_not_known_if_there_is_no_compiler(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loading.load.cache_clear()
    code, out, err = calling(tmp_path / "home", capsys)("lab", "repair", "multiplication", "--within", "1s")
    loading.load.cache_clear()
    reason = "The rules in Python are used, slower: there is no C compiler: CC = 'nocc' is not found\n"
    assert (code, "not known" in out, err) == (0, True, reason)


SMALL = {
    "plusminus": [{"size": 3}, {"size": 3, "grid_first": 2}],
    "plaid": [{"width": 4, "height": 3, "lines": 3}, {"width": 5, "height": 4, "lines": 2}],
    "differences": [{"size": 4}, {"size": 4, "scoring": "once"}],
}


@pytest.mark.parametrize(("name", "options"), [(name, each) for name, kinds in SMALL.items() for each in kinds])
def test_marks_in_the_order_1221_are_worth_what_all_lines_of_play_say(name, options):
    rules = reference_of(name, options)

    def value(history):
        points = rules.result(history)
        if points is not None:
            return points[0] - points[1]
        before = sum(action not in ("+", "-") for action in history)
        turn = rules.turn(history[: len(history) - before])
        if name != "plusminus" or len(history) >= 2 * (options["size"] - 1):
            turn ^= int("0110"[before % 4])
        return best(turn, (value([*history, action]) for action in rules.legal(history)))

    assert rows_of(name, **options)["order=1221"].margin == pytest.approx(float(value([])), abs=1e-8)


@pytest.mark.parametrize("is_solved", [True, False])
def test_the_order_1221_has_no_number_of_the_form_as_it_is(monkeypatch, is_solved):
    if not is_solved:
        monkeypatch.setattr(repair, "explore", Mock(side_effect=TimeIsUpError("the time is up")))
    rows = rows_of("differences", size=4)
    assert None not in (rows["none"].margin, rows["none"].decided_at)
    row = rows["order=1221"]
    assert (row.decided_at, row.draws) == (None, None)  # no matches are played in this order
    assert (row.margin, row.known, row.first) == ((-1, Known.TABLE, 16) if is_solved else (None, None, None))


@pytest.mark.slow
@needs.program("cc", "gcc", "clang")
@pytest.mark.parametrize("name", SMALL)
def test_the_kernel_finds_in_the_order_1221_what_the_rules_do(name):
    for options in SMALL[name]:
        game, row = make_game(name, **options), rows_of(name, **options)["order=1221"]
        solved = solver_of(game).solve(in_pairs=True)
        assert (solved.margin / parts_of(game), len(solved.best)) == (pytest.approx(row.margin), row.keeping_first)


@pytest.mark.slow
@needs.program("cc", "gcc", "clang")
def test_multiplication_in_the_order_1221_is_worth_what_all_grids_and_numberings_say():
    """By sets of marks; the one who begins the numbering gains from then on what ``numbering`` returns."""
    size = 7

    def numbering(heights):
        @cache
        def gain(here, left):
            ways = (abs(x - here) * abs(heights[x] - heights[here]) - gain(x, left - {x}) for x in left)
            return max(ways, default=0)

        return gain(0, frozenset(range(1, size)))

    @cache
    def value(heights):
        columns = [x for x in range(size) if heights[x] is None]
        if not columns:
            return numbering(heights)
        rows = set(range(size)) - {*heights}
        after = (value((*heights[:x], y, *heights[x + 1 :])) for x in columns for y in rows)
        return best("0110"[(size - len(columns)) % 4] == "1", after)

    assert rows_of("multiplication", size=size)["order=1221"].margin == value((None,) * size)


@pytest.mark.parametrize("grid_first", [1, 2])
def test_lists_written_unseen_are_worth_what_all_grids_and_an_outside_program_say(grid_first):
    options = {"size": 3, "grid_first": grid_first}
    lists = list(product("+-", repeat=2))
    game = [
        [margin_after("plusminus", options, [own[0], other[0], own[1], other[1]]) for other in lists] for own in lists
    ]
    rows = rows_of("plusminus", **options)
    assert rows["unseen=1"].margin == pytest.approx(value_by_scipy(game), abs=1e-4)
    assert rows["unseen=1"].outcome == ("win" if grid_first == 1 else "loss")
    assert max(map(min, game)) < value_by_scipy(game) < min(map(max, zip(*game, strict=True)))


@pytest.mark.parametrize("seed", range(12))
def test_the_value_of_a_matrix_is_that_of_an_outside_program(seed):
    rng = Random(seed)
    rows, columns = rng.randint(1, 9), rng.randint(1, 9)
    game = [[rng.randint(-seed, seed) // 3 for _ in range(columns)] for _ in range(rows)]
    assert float(matrix_value(game)) == pytest.approx(value_by_scipy(game), abs=1e-9)


def value_by_scipy(game):
    linprog = pytest.importorskip("scipy.optimize").linprog
    rows, columns = len(game), len(game[0])
    above = [[-game[row][column] for row in range(rows)] + [1] for column in range(columns)]
    bounds = [(0, None)] * rows + [(None, None)]
    return -linprog([0] * rows + [-1], above, [0] * columns, [[1] * rows + [0]], [1], bounds).fun


REFUSED = {
    "three seats": (["plaid", "-o", "players=3"], "players = 3: only games for two"),
    "an unknown option": (["plaid", "-o", "komi=1"], "has no such option"),
    "a pie": (["plaid", "-o", "pie=1"], "pie = 1: repair tries the pie rule by itself; expected 0"),
    "no time": (["differences", "--within", "0s"], "--within"),
    "no game": (["chess"], "chess"),
}


@pytest.mark.parametrize(("arguments", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_repaired_is_refused_in_a_sentence(tmp_path, capsys, arguments, reason):
    code, out, err = calling(tmp_path / "home", capsys)("lab", "repair", *arguments)
    assert (code, out, reason in err, "Traceback" in err) == (2, "", True, False), err


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
