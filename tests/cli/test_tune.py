"""``arena tune``: what it prints and refuses, and that it resumes."""

import json

import pytest

from arena.base.errors import UsageError
from arena.store.home import ArenaHome
from arena.tournament.director import run_tournament
from tests import needs
from tests.analysis.text.tournaments import ScriptedExecutor
from tests.cli.calls import calling, refusal, told
from tests.conftest import BOTS

MCTS = str(BOTS / "mcts")
QUICK = ["--game", "differences", "-o", "size=4", "--param", "rollouts=1..3@1", "--encounters", "4", "--rounds", "1"]


@pytest.fixture
def tune(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("arena.tournament.director.run_tournament", played_at_once)
    call = calling(tmp_path / "home", capsys)
    return lambda *arguments: call("tune", *arguments)


def played_at_once(definition, store, **options):
    """Play matches in this process, at random."""
    return run_tournament(definition, store, executor=ScriptedExecutor((), ""), listener=options["listener"])


@pytest.mark.slow(sample=True)
@needs.package("matplotlib")
def test_a_tuning_is_played_drawn_and_found_again(tune, tmp_path):
    plot = tmp_path / "plot.svg"
    arguments = [MCTS, *QUICK, "--test-encounters", "8", "-q"]
    code, out, _ = tune(*arguments, "--plot", plot)
    assert code in (0, 1, 3)
    assert out.startswith("start   rollouts = 1\nresult  rollouts = ")
    assert plot.read_text().count("<svg") == 1
    with ArenaHome(tmp_path / "home") as home:
        names = [one.name for one in home.store.tournaments()]
        records = [record.started_at for record in home.store.records()]
        with pytest.raises(UsageError, match="there are only comparisons"):
            home.store.latest_tournament()
    assert names[0] == "tune mcts in differences 1"
    assert tune(*arguments)[:2] == (code, out)
    again, text, _ = tune(*arguments, "--json")
    found = json.loads(text)
    assert (again, found["start"], found["name"]) == (code, {"rollouts": "1"}, "tune mcts in differences")
    assert {one["values"]["rollouts"] for one in found["trials"]} <= {"2", "3"}
    with ArenaHome(tmp_path / "home") as home:
        assert [record.started_at for record in home.store.records()] == records


def test_what_is_known_is_said_before_each_round(tune):
    """Every variant that can be drawn, 2 and 3, wins all against the start: the estimate lies between these."""
    _, out, err = tune(MCTS, *QUICK[:-1], "2", "--test-encounters", "8", "--rng-seed", "3")
    lines = err.splitlines()
    shown = [line.partition(":")[0] for line in lines]
    assert list(dict.fromkeys(shown)) == ["round 1 of 2", "round 2 of 2", "test"]
    assert lines[0].startswith("round 1 of 2: ") and " of the start with " in lines[0]
    assert lines[0].endswith(", after 0 encounters in earlier rounds")
    assert lines[1] == "round 1 of 2: no estimate yet"
    notes = [line for line in lines if line.startswith("round 2 of 2: estimate from earlier rounds: rollouts = ")]
    assert len(notes) == 1 and notes[0][-1] in "123"
    result = out.splitlines()[1].removeprefix("result  ")
    assert f"test: 8 fresh encounters of the start with the result, {result}" in lines


@pytest.mark.slow
def test_a_bot_that_has_changed_is_rejected_in_a_short_sentence(tune, tmp_path):
    bot = tmp_path / "mine.py"
    bot.write_text("print('one')\n")
    quick = ["--game", "differences", "--param", "a=0.0..1.0", "--encounters", "40", "--rounds", "1", "-q"]
    tune(bot, *quick)
    bot.write_text("print('another')\n")
    err = told(tune, 2, bot, *quick)
    assert err.count("the bot 'mine") == 5
    assert "and 36 more; give this one another name" in err  # the start and 40 variants


def test_it_asks_whether_the_bot_takes_its_arguments_if_nothing_has_an_effect(tune, monkeypatch):
    monkeypatch.setattr("arena.tournament.experiments.scores_of", lambda _, variants: [[0.5] * 4 for _ in variants])
    _, out, _ = tune(MCTS, *QUICK, "--test-encounters", "8", "-q")
    assert "does the bot take these arguments?" in " ".join(out.split())
    monkeypatch.undo()


REFUSED = {
    "no range": (["--param", "rollouts=5"], "--param 'rollouts=5': expected NAME=LOW..HIGH"),
    "not in the arguments": (["--args", "--rollouts 5"], "--args: {rollouts} is missing"),
    "no game": (["--game", "chess"], "unknown game 'chess'"),
    "no plot": (["--plot", "x.pdf"], "--plot 'x.pdf': expected a name that ends in .png or .svg"),
    "no directory": (["--plot", "nowhere/x.svg"], "'nowhere/x.svg' can't be written"),
    "a long name": (["--name", "x" * 60], "expected at most 58 characters"),
    "few": (["--test-encounters", "7"], "7 is not in the range"),
    "quotes": (["--args", "'{rollouts}"], "expected arguments as in a shell"),
    "plies": (["--ply-limit", "2"], "ply_limit = 2"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_tuned_is_said_in_a_sentence(tune, what):
    more, message = REFUSED[what]
    arguments = [MCTS, *QUICK]
    if more[0] in ("--param", "--game"):
        arguments[arguments.index(more[0]) + 1] = more[1]
        more = []
    assert message in refusal(tune, *arguments, *more)


@pytest.mark.parametrize("bot", ["human", "nobody"])
def test_only_programs_are_tuned(tune, bot):
    assert bot in refusal(tune, bot, *QUICK)
