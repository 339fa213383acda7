"""``arena lab strength``: its table, its JSON, and what it refuses."""

import json

import pytest

from tests.cli.calls import calling
from tests.conftest import BOTS

SMALL = ("differences", "-o", "size=4", "--isolation", "none", "--workers", "1")


@pytest.fixture
def strength(tmp_path, capsys):
    call = calling(tmp_path / "home", capsys)
    return lambda *arguments: call("lab", "strength", *arguments)


@pytest.mark.slow
def test_perfect_play_keeps_everything(strength):
    code, out, err = strength(*SMALL, BOTS / "perfect", "--matches", "2", "--positions", "16", "--seconds", "10")
    assert code == 0
    assert "perfect@1: 2 matches and 16 random positions\n" in err
    assert max(map(len, out.splitlines())) <= 80
    rows = {tuple(line.split()[:2]): line.split()[3] for line in out.splitlines()[2:4]}
    assert rows == {("perfect@1", "own"): "100.0", ("perfect@1", "random"): "100.0"}


@pytest.mark.slow(sample=True)
def test_a_bot_with_faults_fails_and_is_named(strength, tmp_path):
    silent = tmp_path / "silent.py"
    silent.write_text("import sys\nsys.exit(3)\n")
    code, out, _ = strength(*SMALL, "--matches", "0", "--positions", "2", "--json", silent)
    assert code == 1
    found = json.loads(out)
    assert (found["failed"], found["own"]["positions"], found["random"]["positions"]) == (2, 0, 0)
    assert found["random"]["value"] == {"decisions": 0, "share": None}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("differences", "BOT", "--matches", "0", "--positions", "0"), "expected one of them to be 1 or more"),
        (("plaid", "BOT", "-o", "players=3"), "only a game for two has one value"),
        (("chess", "BOT"), "chess"),
        (("differences", "nobody"), "nobody"),
        (("differences", "human"), "bot 'human': expected programs"),
        (("coprimality", "ONE", "-o", "size=4"), "does not play coprimality; it plays multiplication"),
        (("differences", "BOT", "-o", "size=3", "--opening-plies", "9", "--workers", "1"), "opening_plies = 9"),
    ],
)
def test_what_is_refused(strength, arguments, sentence):
    bots = {"BOT": BOTS / "random_legal", "ONE": BOTS / "cornerer"}
    code, out, err = strength(*(bots.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert sentence in err
