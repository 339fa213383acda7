"""``--like``: what is played under the conditions of a tournament file, or of a stored tournament."""

import json
import re
from pathlib import Path

import pytest

from arena.cli.group import run
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.resumption import create_or_resume
from tests.cli.test_tune import played_at_once

FILE = """
rng_seed = 7
ply_limit = 50
opening_plies = 3
isolation = "limits"
entrants_from = "not_on_this_machine/*"
[time_control]
bank_seconds = 30.0
increment_seconds = 0.5
clock = "cpu"
[limits]
memory_bytes = "333 MiB"
[[games]]
game = "differences"
options = { size = 5 }
[[games]]
game = "multiplication"
options = { size = 11 }
"""
BANK = {"per_action_seconds": None, "bank_seconds": 30.0, "increment_seconds": 0.5, "clock": "cpu"}


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.toml").write_text(FILE)

    def call(text, code=0):
        assert run(["--home", "home", *text.split()]) == code
        return capsys.readouterr()

    return call


def stored(name):
    with ArenaHome("home") as home:
        return home.store.tournament(name).definition


def time_of(record):
    return {key: record["time_control"][key] for key in BANK}


def test_a_match_is_played_as_those_of_a_tournament_are(command):
    record = json.loads(command("play differences arena:random_legal arena:greedy --like class.toml --json").out)
    assert (record["options"]["size"], record["opening_plies"], record["ply_limit"]) == (5, 3, 50)
    assert (record["rng_seed"], time_of(record)) == (7, BANK)
    assert record["isolation"].startswith("limits")
    text = "play differences arena:random_legal arena:greedy --like class.toml --json -o size=4 --seconds 9"
    record = json.loads(command(text).out)
    assert (record["options"]["size"], record["opening_plies"]) == (4, 3)
    assert time_of(record) == BANK | {"per_action_seconds": 9.0, "bank_seconds": None, "increment_seconds": 0.0}


@pytest.mark.slow
def test_a_comparison_is_played_under_the_conditions_of_a_tournament(command):
    command("compare arena:greedy arena:random_legal --like class.toml --max-encounters 8 -q --name first", code=3)
    first = stored("first")
    with ArenaHome("home") as home:
        assert home.store.tournament("first").recorded == 2 * 8
    assert [(one.game, one.options["size"]) for one in first.games] == [("differences", 5), ("multiplication", 11)]
    assert (first.opening_plies, first.ply_limit, first.rng_seed, first.isolation) == (3, 50, 7, "limits")
    assert (first.limits.memory_bytes, first.time_control.bank_seconds) == (333 * 2**20, 30.0)
    text = "compare arena:greedy arena:random_legal --like first --game differences --max-encounters 8 --name second -q"
    command(f"{text} --executor in-process --rng-seed 1 --ply-limit 99", code=3)
    second = stored("second")
    assert [one.options["size"] for one in second.games] == [5]
    assert (second.ply_limit, second.rng_seed) == (99, 1)
    assert (second.limits, second.time_control, second.opening_plies) == (first.limits, first.time_control, 3)


@pytest.mark.slow
def test_tuning_and_checks_take_the_conditions_of_a_tournament(command, monkeypatch):
    path = Path("some.toml")
    entrants = "".join(f'[[entrants]]\nbot = "arena:{bot}"\n' for bot in ("greedy", "mcts"))
    path.write_text(re.sub(r"entrants_from.*", "", FILE) + entrants)
    with ArenaHome("home") as home:
        create_or_resume(load_definition(path), home.store)
    with monkeypatch.context() as patch:
        patch.setattr("arena.tournament.director.run_tournament", played_at_once)
        text = "tune arena:mcts --like some --param rollouts=1..3 --encounters 2 --rounds 1 --test-encounters 8 -q"
        command(f"{text} --name tuned", code=3)
    assert (stored("tuned 1").limits, stored("tuned 1").games) == (stored("some").limits, stored("some").games)
    said = command("check arena:greedy --like some").out
    assert "plays differences with size = 5, scoring = distinct in seat 1" in said
    assert re.search("plays multiplication with .*size = 11", said) and "of 333 MiB of memory" in said
    assert "size = 2" not in said
    Path("short.toml").write_text(FILE.replace("ply_limit = 50", "ply_limit = 4"))
    said = command("check arena:greedy --like short.toml --game differences").out
    assert "multiplication" not in said
    assert said.count("4 plies") == 2 and "4 plies, longest action 0.0 ms" in said  # three are of the opening


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("check arena:greedy --like none", "--like 'none': there is no such file, and unknown tournament 'none'"),
        ("play plaid arena:greedy arena:greedy --like bad.toml", "bad.toml: opening_plies = -1: "),
        ("play plaid arena:greedy arena:greedy --like wide.toml", "limits.cores = 1024: this machine has "),
        ("compare arena:greedy arena:greedy", "--game: missing; expected a game, or --like"),
        ("check arena:greedy --like class.toml --game plaid", "--game plaid: expected a game of the tournament 'class"),
        ("play plaid arena:greedy arena:greedy --like class.toml", "plaid: expected a game of the tournament"),
        ("check --rules differences --like class.toml", "--rules checks the rules of one game, without --like"),
        ("compare arena:greedy arena:greedy --like class.toml -o size=4", "--option size=4: class.toml has 2 games"),
    ],
)
def test_what_can_not_be_read_is_said_in_a_sentence(command, tmp_path, text, message):
    (tmp_path / "bad.toml").write_text(FILE.replace("opening_plies = 3", "opening_plies = -1"))
    (tmp_path / "wide.toml").write_text(FILE.replace("[limits]", "[limits]\ncores = 1024"))
    error = command(text, code=2).err
    assert message in error and len(error.splitlines()) == 1
