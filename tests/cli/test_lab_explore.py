"""``arena lab explore``: its tree, its JSON, its books, and what it refuses."""

import json

import pytest

from arena.home import ArenaHome
from arena.tournament.definition import make_definition
from tests.cli.calls import calling
from tests.report.tournaments import play


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("explore")
    with ArenaHome(directory / "home") as home:
        play(home, "cup", ["alpha", "beta"], [("plusminus", {"size": 3})], encounters=6)
    return directory


@pytest.fixture
def explore(directory, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory / "cache"))
    call = calling(directory / "home", capsys)
    return lambda *arguments: call("lab", "explore", *arguments)


def test_a_tree_is_shown_within_80_columns(explore):
    code, out, err = explore("differences", "-o", "size=4", "--plies", "2", "--top", "3")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["line", "worth", "best"]
    assert lines[2].split() == ["a1", "draw", "best"]
    assert [line.strip() for line in lines if "more" in line] == ["… 6 more"] * 3 + ["… 1 more"]
    assert lines[-1] == "40 of 40 lines solved. Worth is for seat 0, with best play."
    assert max(map(len, lines)) <= 80


def test_what_was_played_is_counted(explore):
    code, out, _ = explore("plusminus", "cup", "--plies", "1", "--json")
    found = json.loads(out)
    assert (code, found["matches"], found["tournament"]) == (0, 12, "cup")
    assert [line["actions"] for line in found["lines"]] in ([["+"], ["-"]], [["-"], ["+"]])
    assert sum(line["played"] for line in found["lines"]) == 12
    for line in found["lines"]:
        assert line["won"] + line["drawn"] + line["lost"] == line["played"]
    code, out, _ = explore("plusminus", "cup", "--plies", "1")
    assert out.splitlines()[0].split() == ["line", "worth", "best", "played", "won", "drawn", "lost"]
    assert "12 matches played" in out


@pytest.mark.slow(sample=True)
def test_a_tournament_takes_the_book(explore, tmp_path):
    book = tmp_path / "even.toml"
    code, _, err = explore("plusminus", "-o", "size=4", "--plies", 4, "--outcome", "draw", "--book", book, "--quiet")
    assert code == 0
    bots = {"a": lambda *_: None, "b": lambda *_: None}
    made = make_definition("t", "plusminus", bots, options={"size": 4}, openings=str(book))
    assert err == f"{len(made.openings[0].lines)} openings written: {book}\n"
    assert made.opening_plies == 4
    assert "# draw" in book.read_text()


REFUSED = {
    "an unknown game": (("plaids",), "unknown game 'plaids'"),
    "three players": (("coprimality", "-o", "players=3"), "players = 3: only a game for two has one value"),
    "no such tournament": (("plusminus", "nowhere"), "nowhere"),
    "a tournament of another game": (("plaid", "cup"), "tournament 'cup' plays plusminus, not plaid"),
    "other options": (
        ("plusminus", "cup", "-o", "size=4"),
        "plays plusminus with {'size': 3, 'grid_first': 1}, not with",
    ),
    "an outcome without a book": (
        ("plusminus", "--outcome", "draw"),
        "it chooses lines for a book; expected --book FILE",
    ),
    "no line": (
        ("plusminus", "-o", "size=3", "--outcome", "win", "--book", "x.toml"),
        "--book 'x.toml': none of 4 lines fits; nothing is written",
    ),
    "to the end": (("differences", "-o", "size=2", "--book", "x.toml"), "none of 1 line fits"),
    "a directory": (
        ("differences", "-o", "size=3", "--book", "."),
        "'.' can't be written: expected a file in a directory that exists",
    ),
    "a board beyond reach": (
        ("multiplication", "-o", "size=13", "--plies", "2"),
        "multiplication with players = 2, size = 13: 983,921,632,882 states follow 2 actions, a table of them takes",
    ),
    "no plies": (("differences", "--plies", "0"), "--plies"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_t_be_explored_is_refused_in_a_sentence(explore, what):
    arguments, says = REFUSED[what]
    code, _, err = explore(*arguments, "--within", "20s")
    assert code == 2
    assert says in err


def test_a_book_of_all_lines_of_a_board_beyond_reach_is_written_at_once(explore, tmp_path):
    book = tmp_path / "all.toml"
    code, _, err = explore("plaid", "--plies", "1", "--book", book, "--within", "1h", "--quiet")
    assert code == 0
    assert err.startswith("arena: nothing is solved: plaid with players = 2, width = 60, height = 60, lines = 12: ")
    assert err.endswith(f"118 openings written: {book}\n")
