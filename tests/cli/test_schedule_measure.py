import re
import time

import pytest

from arena.store.home import ArenaHome
from arena.tournament import director
from tests.cli.calls import as_json, printed_alone, refusal
from tests.conftest import BOTS
from tests.written_bots import kit_bot

GAME = 'game = "differences"\noptions = { size = 4 }\n'


@pytest.fixture
def written(tmp_path):
    def write(*bots, text=""):
        entrants = "".join(f'[[entrants]]\nbot = "{bot}"\nname = "b{k}"\n' for k, bot in enumerate(bots))
        path = tmp_path / "t.toml"
        path.write_text(f"{GAME}{text}\n{entrants}")
        return path

    return write


def bot_that(tmp_path, name, line):
    (tmp_path / f"{name}.py").write_text(kit_bot(f"import time; {line}"))
    return tmp_path / f"{name}.py"


@pytest.mark.slow
def test_a_few_matches_say_how_long_all_of_them_take(arena, written, tmp_path):
    path = written(bot_that(tmp_path, "slow", "time.sleep(0.05)"), BOTS / "minimal", text="encounters = 500")
    lines = printed_alone(arena, "schedule", path, "--measure", "--workers", "2").splitlines()
    assert lines[0] == "t: round-robin, 2 entrants, differences for 2"
    assert lines[1] == "1,000 matches in 500 encounters and 500 rounds"
    mean_ms = float(re.search(r"differences ([\d.]+) ms", lines[2])[1])
    assert mean_ms > 50, "the slow bot has an action in each match"
    assert re.fullmatch(r"95 % interval: .* to .*, from 32 matches played now", lines[3])
    assert lines[4].startswith("by the time control alone: at most ")
    with ArenaHome(tmp_path / "home") as home:
        assert home.store.tournaments() == []
    (row,) = as_json(arena, "schedule", path, "--measure", "--workers", "2")
    assert (row["game"], row["measured_matches"], row["matches"]) == ("differences", 32, 1000)
    assert row["expected_seconds"] == pytest.approx(500 * row["seconds_a_match"])
    assert row["low_seconds"] < row["expected_seconds"] < row["high_seconds"]


@pytest.mark.slow
def test_matches_that_do_not_end_are_stopped(arena, written, tmp_path, monkeypatch):
    monkeypatch.setattr(director, "MEASURE_SECONDS", 0.5)
    patient = "[time_control]\nper_action_seconds = 600"
    path = written(bot_that(tmp_path, "asleep", "time.sleep(300)"), BOTS / "minimal", text=patient)
    started = time.monotonic()
    code, out, err = arena("schedule", path, "--measure")
    assert time.monotonic() - started < 150
    assert code == 1
    assert "no match of differences has ended" in out
    assert "arena: some matches did not end within" in err


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--matches"], "--measure and --matches: expected one of them"),
        (["--audit"], "--measure and --audit: expected one of them"),
        (["--workers", "0"], "0 is not in the range"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_played(arena, written, extra, message):
    assert message in refusal(arena, "schedule", written(BOTS / "minimal", BOTS / "minimal"), "--measure", *extra)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('format = "swiss"\n[swiss]\nrounds = 3', "most 6 matches; 2 of them are known so far, in 1 round\n3 rounds\n"),
        (
            'format = "knockout"\nencounters = 2\n[knockout]\nseeding = "entrants"\ntie_encounters = 1',
            "8 matches, or at most 12 if duels are tied; 2 of them are known so far, in 1 round\n2 stages, 1 bye",
        ),
        (
            'format = "ladder"\n[ladder]\nmargin_95 = 1\nhours = 2.5',
            "matches without end; 2 of them are known so far, in 1 round\n"
            "stops when the widest interval is ± 1 or when a run has lasted 2.5 h\n",
        ),
        ('format = "ladder"', "in 1 round\nruns until it is stopped\n"),
    ],
)
def test_a_schedule_says_what_is_known_of_rounds_that_depend_on_results(arena, written, text, message):
    assert message in arena("schedule", written(*[BOTS / "minimal"] * 3, text=text))[1]
