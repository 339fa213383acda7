"""``arena lab puzzles``: its table, its JSON, its file, and what it refuses."""

import json

import pytest

from arena.home import ArenaHome
from tests.cli.calls import calling
from tests.report.tournaments import play


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("puzzles")
    with ArenaHome(directory / "home") as home:
        play(home, "cup", ["alpha", "beta"], [("plusminus", {"size": 4})], encounters=20)
        play(home, "three", ["alpha", "beta", "gamma"], [("coprimality", {"size": 4, "players": 3})])
    return directory


@pytest.fixture
def puzzles(directory, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory / "cache"))
    call = calling(directory / "home", capsys)
    return lambda *arguments: call("lab", "puzzles", *arguments)


@pytest.mark.slow
def test_puzzles_are_listed_without_their_solutions_and_kept(puzzles, directory):
    code, out, err = puzzles("cup", "--count", "2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("cup: ")
    assert "of which 2 are kept" in lines[0]
    titles = "puzzle game match/ply seat goal choices lines, log2 missed by"
    assert lines[2].split() == titles.split()
    assert max(map(len, lines)) <= 80
    assert len(lines) == 8
    kept = json.loads((directory / "home" / "puzzles" / "1.json").read_text())
    assert len(kept["puzzles"]) == 2
    _, solved, _ = puzzles("cup", "--count", "2", "--solutions")
    assert all(one["choices"][one["solution"]]["text"] in solved for one in kept["puzzles"])


def test_a_narrow_terminal_has_fewer_columns_and_wide_shows_all(puzzles, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = puzzles("cup", "--count", "2")
    assert code == 0
    assert "Left out at 60 columns: choices; --wide shows all." in " ".join(out.split())
    assert "choices" in puzzles("cup", "--count", "2", "--wide")[1].splitlines()[2]


def test_json_has_everything(puzzles):
    code, out, _ = puzzles("cup", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["tournament"] == "cup"
    assert found["found"] == len(found["puzzles"]) > 2
    assert {one["choices"][one["solution"]]["outcome"] == one["goal"] for one in found["puzzles"]} == {True}


def test_a_file_is_written(puzzles, tmp_path):
    assert puzzles("cup", "--count", "2", "--html", tmp_path / "p.html")[0] == 0
    assert (tmp_path / "p.html").read_text().count("<details>") == 2


REFUSED = {
    "unknown": (["cups"], "unknown tournament 'cups'"),
    "for three": (["three"], "only a game for two has one value"),
    "another game": (["cup", "--game", "plaid"], "unknown game 'plaid'"),
    "no duration": (["cup", "--within", "soon"], "expected a duration such as 60s"),
    "no file": (
        ["cup", "--html", "/nowhere/p.html"],
        "'/nowhere/p.html' can't be written: expected a file in a directory that exists",
    ),
    "too many": (["cup", "--count", "501"], "501 is not in the range"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_done_is_said_in_a_sentence(puzzles, what):
    arguments, says = REFUSED[what]
    code, out, err = puzzles(*arguments)
    assert (code, out) == (2, "")
    assert says in err
