"""Matches that end at their limit of plies, in every command that shows them."""

from __future__ import annotations

import json

import pytest

from tests.cli.calls import calling, refusal
from tests.conftest import BOTS


@pytest.fixture
def call(tmp_path, capsys):
    return calling(tmp_path / "home", capsys)


def definition(tmp_path, game="tests.mistaken_games:Endless", limit=6):
    file = tmp_path / "t.toml"
    bots = "".join(f'[[entrants]]\nbot = "{BOTS}/minimal"\nname = "{name}"\n' for name in "ab")
    file.write_text(f'game = "{game}"\nply_limit = {limit}\n{bots}')
    return file


@pytest.mark.slow
def test_a_tournament_of_a_game_without_end(call, tmp_path):
    file = definition(tmp_path)
    code, out, _ = call("run", file, "--quiet")
    assert (code, "2 matches ended at the limit of plies, ranked by the scores as they stood." in out) == (0, True)
    rows = json.loads(call("matches", "t", "--json")[1])
    assert [(row["plies"], row["termination"], row["faults"]) for row in rows] == [(6, "adjudication", [])] * 2
    records = [json.loads(line) for line in call("export", "t")[1].splitlines()]
    assert [(record["ply_limit"], record["ranks"]) for record in records] == [(6, [1, 1])] * 2
    code, out, _ = call("verify", "t")
    assert code == 0, out
    assert call("repro", "t/1")[0] == 0
    assert "ended at the limit of plies" in call("standings", "t")[1]
    assert call("report", "t", "--output", tmp_path / "report.html")[0] == 0
    assert "limit of plies" in (tmp_path / "report.html").read_text()


@pytest.mark.slow(sample=True)
def test_another_limit_is_another_tournament(call, tmp_path):
    assert call("run", definition(tmp_path), "--quiet")[0] == 0
    for limit in (8, 10_000):
        assert "differs in ply_limit" in refusal(call, "run", definition(tmp_path, limit=limit), "--quiet")


@pytest.mark.slow
def test_a_table_without_such_matches_does_not_mention_them(call, tmp_path):
    code, out, _ = call("run", definition(tmp_path, "differences"), "--quiet")
    assert code == 0
    assert ("limit of plies" in out) == (json.loads(call("matches", "t", "--json")[1])[0]["plies"] == 6)


def test_a_match_on_the_terminal(call):
    code, out, _ = call("play", "differences", BOTS / "minimal", BOTS / "minimal", "--ply-limit", "3", "-q")
    assert (code, "(adjudication)" in out) == (0, True)
    bots = (BOTS / "minimal", BOTS / "minimal")
    assert "0 is not in the range" in refusal(call, "play", "differences", *bots, "--ply-limit", "0")


@pytest.mark.slow
def test_a_comparison(call):
    same = (BOTS / "minimal", BOTS / "random_legal", "--game", "differences", "--max-encounters", "2", "--quiet")
    code, _, err = call("compare", *same, "--ply-limit", "2")
    assert (code, "ply_limit = 2: the 2 plies of the opening count; expected at least 3" in err) == (2, True)
    assert call("compare", *same, "--ply-limit", "4", "--name", "c")[0] in (0, 1, 3)
    rows = json.loads(call("matches", "c", "--json")[1])
    assert {row["termination"] for row in rows} == {"adjudication"}
