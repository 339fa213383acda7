import json
import re
from unittest.mock import Mock

import pytest

from arena.cli.lab import lab_solve
from arena.games.kernels import loading
from arena.games.kernels.solver import KernelSolver
from tests import needs
from tests.cli.calls import calling, ended, printed_alone, refusal


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def solve(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)
    return lambda *arguments: call("lab", "solve", *arguments)


@pytest.fixture
def solved(solve):
    def call(*arguments):
        return [json.loads(line) for line in printed_alone(solve, *arguments, "--json").splitlines()]

    return call


def test_a_game_for_two_has_the_object_that_programs_expect(solved):
    (one,) = solved("plusminus", "-o", "size=2", "-o", "grid_first=2")
    assert one.pop("seconds") >= 0
    assert one.pop("memory_bytes") > 0
    assert (one.pop("game"), one.pop("options")) == ("plusminus", {"size": 2, "grid_first": 2})
    value = {"margin": -1, "outcome": "loss", "low": -1, "high": -1, "best": ["+", "-"], "has_all_best": True}
    assert one == value | {
        "known": "table",
        "states": 31,  # 1 + 2 lists of one sign, and for each of 4 pairs 7 grids
        "edges": 38,  # 2 + 4 signs, and for each of 4 pairs 4 first and 4 second marks
        "depth": None,
        "proofs": ["copied signs and transposition"],
    }


def test_a_game_for_three_has_shares_and_names_the_rule_for_ties(solved):
    (one,) = solved("plaid", *(f"--option={text}" for text in ("players=3", "width=3", "height=1", "lines=2")))
    # Both lines are drawn, and three equal squares are everybody's.
    assert (one["shares"], one["paranoid"]) == ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    assert one["tie_rule"].endswith("of equal ones the one listed first")
    assert (one["best"], one["states"]) == ([["v", 1], ["v", 2]], 4)
    assert not {"margin", "outcome", "low", "high"} & set(one)


def test_a_sweep_has_an_object_for_each_set_of_options(solve):
    code, out, err = solve("plaid", "-o", "height=1", "-o", "lines=1", "--sweep", "width=1..6", "--json")
    objects = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [one["options"]["width"] for one in objects] == [2, 4, 6]
    # The wider rectangle is of seat 0 if it is left: all of the sheet but one unit. By hand: √(w - 1)² + 1 - √2.
    margins = [round(((width - 1) ** 2 + 1) ** 0.5 - 2**0.5, 9) for width in (2, 4, 6)]
    assert [one["margin"] for one in objects] == pytest.approx(margins, abs=1e-9)
    assert [one["best"] for one in objects] == [[["v", 1]], [["v", 3]], [["v", 5]]]
    assert err.count("left out: width = ") == 3


def test_bounds_are_given_when_the_time_is_up(solved):
    (one,) = solved("plaid", "--within", "0.001s")
    assert (one["margin"], one["outcome"], one["low"], one["known"]) == (None, None, 0, "proved")
    (one,) = solved("coprimality", "-o", "size=40", "-o", "max_grids=1000", "--within", "0.001")
    assert (one["margin"], one["known"], one["best"]) == (None, "search", [])


def test_the_sentences_are_eighty_columns_wide(solve):
    out, err = ended(solve, 0, "plusminus", "-o", "size=3", "-o", "grid_first=2")
    assert out.splitlines()[:3] == [
        "plusminus size=3, grid_first=2: seat 1 wins, margin -1",
        "  known       by a table of all states",
        "  best first  + -",
    ]
    assert err.startswith("plusminus size=3, grid_first=2: a table has 559 states and takes about 2")
    for arguments in (("plaid", "--within", "0.001"), ("coprimality", "-o", "players=3", "--by", "table")):
        _, out, err = solve(*arguments)
        assert all(len(line) <= 80 for line in (out + err).splitlines())
    assert solve("differences", "-q")[1:] == (
        "differences size=8, scoring=distinct: a draw, margin 0\n"
        '  known       proved, by the strategy "transposition"\n'
        "  best first  a1 b2 c3 d4, up to symmetry; others may be as good\n"
        "  looked at   0 states, 0 s, 0 KiB\n",
        "",
    )


@pytest.mark.slow(only=("multiplication",))
@needs.program("cc", "gcc", "clang")
@pytest.mark.parametrize(
    ("game", "size", "first", "result"),
    [
        ("differences", 4, "size=4, scoring=distinct: a draw, margin 0", {"margin": 0, "has_all_best": True}),
        ("multiplication", 7, "players=2, size=7: seat 0 wins, margin 12", {"margin": 12, "best": [[1, 1]]}),
    ],
    ids=["differences", "multiplication"],
)
def test_a_table_is_saved_and_used_again(solve, solved, cache, monkeypatch, game, size, first, result):
    options = (game, "-o", f"size={size}")
    by = ("--by", "table") if game == "differences" else ()  # or else it is proved; the other has a kernel's table
    code, out, err = solve(*options, "--save")
    (file,) = (cache / "arena" / "tables").glob("*.values" if game == "multiplication" else "*")
    assert (code, out.splitlines()[0]) == (0, f"{game} {first}")
    assert ("its kernel makes a table of 130,922 states and takes about " in " ".join(err.split())) == (not by)
    assert err.endswith(f"The table is {file}\n")
    monkeypatch.setattr(KernelSolver, "filling", None)
    (one,) = solved(*options, *by)
    assert one | result | {"states": 0, "known": "table"} == one
    file.write_bytes(file.read_bytes()[:-1])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    code, out, err = solve(*options, *by, "-q")
    assert (code, out.splitlines()[0]) == (0, f"{game} {first}")
    assert err.startswith(f"arena: table {file}: it has ")


BEYOND = "takes more than a million GiB, and"


def test_a_refusal_tells_what_is_proved_and_that_there_is_no_compiler(solve, monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    loading.load.cache_clear()
    sentences = [refusal(solve, game) for game in ("multiplication", "plaid")]
    loading.load.cache_clear()
    reason = "there is no C compiler: CC = 'nocc' is not found, and without its kernel it is too large; try a smaller"
    assert sentences[0].startswith(reason)
    assert sentences[1].startswith(f"it is proved that seat 0 does not lose, but {reason}")
    assert "GiB" not in "".join(sentences)


@pytest.mark.slow
def test_bounds_within_a_time_come_with_a_word_about_the_compiler(solve, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    loading.load.cache_clear()
    code, out, err = solve("multiplication", "--within", "1s")
    loading.load.cache_clear()
    assert (code, out.splitlines()[0]) == (0, "multiplication players=2, size=9: margin at least -252 and at most 252")
    assert (err.startswith("The rules in Python are used, slower: "), "GiB" in err) == (True, False)


def test_a_game_from_outside_that_contradicts_itself_has_a_sentence(solve):
    sentence = refusal(solve, "tests.lab.games:Endless", "-q")
    assert sentence.startswith("the game 'tests.lab.games:Endless' is at fault: apply leads to matches of more than ")


def test_a_game_for_one_is_refused(solve, monkeypatch):
    monkeypatch.setattr("tests.lab.games.OfATable.OPTIONS", ())
    monkeypatch.setattr("tests.lab.games.OfATable.prepare", lambda game: setattr(game, "players", 1))
    assert solve("tests.lab.games:OfATable")[::2] == (2, "arena: players = 1: expected a game for two or more\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("differences --within soon", "expected a duration such as 60s, 5m or 2h, of 30 days at most"),
        ("differences --sweep size", "--sweep 'size': expected NAME=LOW..HIGH of at most 1000 values, such as size="),
        ("differences --sweep size=3..4000", "expected NAME=LOW..HIGH"),
        ("differences --sweep colour=3..4", "colour = 3: differences has no such option; expected one of: size, scor"),
        ("differences --sweep scoring=3..4", "scoring = 4: expected 'distinct' or 'once'"),
        ("differences --sweep size=3..4 -o size=5", "size is given by --option as well"),
        ("differences --save --by search", "--save and --by search: only a table can be saved"),
        ("differences -o size=12 --by table", "may be used; try a smaller board"),
        ("coprimality --by proof", "no strategy is known"),
        ("coprimality -o players=3 --save", "only tables of games for two can be saved"),
        ("coprimality -o players=3 --by search", "by a kernel or a table, not by search"),
        ("multiplication -o size=99 --by table -q", rf"a table of multiplication of about 10\^3\d\d states {BEYOND}"),
        ("plaid -o width=1000 -o height=999 -o lines=1900 --by table -q", rf"plaid of about 10\^601 states {BEYOND}"),
    ],
)
def test_what_it_refuses(solve, arguments, problem):
    code, out, err = solve(*arguments.split())
    assert (code, out) == (2, "")
    found = " ".join(err.split())
    assert re.search(problem, found) if BEYOND in problem else problem in found


def test_ctrl_c_is_quiet(solve, monkeypatch):
    monkeypatch.setattr("arena.lab.solve.explore", Mock(side_effect=KeyboardInterrupt))
    assert solve("coprimality", "-o", "size=5", "-q", "--by", "table") == (130, "", "\n")


@pytest.mark.parametrize(
    "arguments, value, known",
    [
        ("plusminus -o size=5 -o grid_first=2 --by table", -1, "proved"),  # by a strategy: at most 0
        ("multiplication -o size=7 --by search", 12, "search"),
    ],
)
def test_ctrl_c_leaves_what_is_known_by_then(solve, monkeypatch, arguments, value, known):
    counts = []

    def look(self, looked_at):
        counts.append(looked_at)
        if looked_at >= 2000:
            raise KeyboardInterrupt

    monkeypatch.setattr(lab_solve.Looking, "__call__", look)
    code, out, _ = solve(*arguments.split(), "--json")
    found = json.loads(out)
    assert (code, counts, found["known"]) == (130, sorted(counts), known)
    assert (found["low"] or -108) <= value <= found["high"] <= 108  # three jumps of at most 36 squares


def test_a_search_that_is_asked_for_does_not_rest_on_a_proof(solve):
    code, out, _ = solve("differences", "-o", "size=4", "--by", "search", "--json")
    found = json.loads(out)
    assert (code, found["margin"], found["known"], found["proofs"]) == (0, 0, "search", [])


def test_a_table_with_a_pie_is_not_announced_as_that_of_the_game_without(solve):
    code, out, err = solve("differences", "-o", "size=5", "-o", "pie=1")
    assert code == 0
    assert "how many states there are is not known beforehand" in " ".join((out + err).split())


def test_a_terminal_shows_how_far_a_long_solution_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    looking = lab_solve.Looking("plaid", deadline=100.0, is_quiet=False)
    first = ((1, 1000, 0), (2, 1000, 100), (2.1, 1000, 150), (4, 1000, 400))
    for now, states, looked_at in (*first, (5, 0, 5000), (6, 10**7, 6000)):
        monkeypatch.setattr(lab_solve.time, "monotonic", lambda now=now: now)
        looking.states = states
        looking(looked_at)
    looking.close()
    assert capsys.readouterr().err.split("\r\x1b[K")[1:] == [
        "plaid: 0 states · 99 s left",  # until the deadline
        "plaid: 100 of 1,000 · 10 % · 9 s left",
        "plaid: 400 of 1,000 · 40 % · 4 s left",  # 3 s for 400, so 4.5 s for 600
        "plaid: 5,000 states · 95 s left",
        "plaid: 6,000 of 10,000,000 · 0 % · 94 s left",  # too few to say more than the deadline
        "",
    ]
