import json
import re
import shlex
import shutil
import subprocess
from functools import partial

import pytest

from arena.base.enums import IsolationLevel
from arena.match.check.check import Step
from arena.sandbox.isolation.levels import choose_isolation, probe_level
from benchmarks import zoo_bots as zoo
from tests.cli.calls import as_json, called, ended, played_in, printed, printed_alone, refusal, shown, told

EXPECTED_PROGRAM = "expected one program, or 'bot.py', 'main.py' or '__main__.py'"


@pytest.fixture
def arena(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return partial(called, capfd)


def test_an_honest_bot_passes_every_step(arena):
    out = printed_alone(arena, "check", zoo.BOTS / "minimal", "--game", "plaid", "--game", "differences")
    for step in (
        "starts and says ready",
        "plays plaid in seat 1",
        "plays plaid with players = 3 in seat 2",
        "plays plaid with its options at their bounds: players = 60; width = 1; width = 1000; ",
        "plays differences with size = 9 in seat 0",
        "plays differences with its options at their bounds: scoring = once; pie = 3, longest action ",
        "plays match after match with one process",
        "keeps its time beside 2 busy programs",
        "stays inside its limits",
        "leaves when it is told to quit",
    ):
        assert f"ok      {step}" in out
    assert f"isolation {choose_isolation('auto').label}" in out
    assert out.endswith("steps passed.\n")


def test_a_folder_without_a_program_keeps_no_other_from_its_manifest_and_its_check(arena, tmp_path):
    for name, files in {"ann": ["bot.py"], "ben": [], "cy": ["bot.py"]}.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text("raise SystemExit(3)\n")
    folders = [str(tmp_path / name) for name in ("ann", "ben", "cy")]
    code, out, errors = arena("check", *folders, "--game", "plaid", "--write-manifest")
    assert (code, errors) == (1, f"arena: bot {folders[1]!r}: found no program; {EXPECTED_PROGRAM}\n")
    assert [line for line in out.splitlines() if line.startswith("wrote ")] == [
        f"wrote {folder}/bot.toml" for folder in (folders[0], folders[2])
    ]
    assert out.endswith("0 of 3 bots passed\n")
    assert f"found no program; {EXPECTED_PROGRAM}" in told(arena, 2, "check", folders[1], "--write-manifest")


@pytest.mark.slow(only=("exits_when_asked", "wrong_ply"))
@pytest.mark.parametrize(
    ("name", "step", "came_back", "fix"),
    [
        ("wrong_ply", "plays differences in seat 0", '"ply": 1', "compare the bytes with protocol.md"),
        ("prints_text", "starts and says ready", "48 65 6c 6c", "print to stderr instead"),
        ("exits_at_once", "starts and says ready", "nothing", "run the command of bot.toml by hand"),
        ("exits_when_asked", "plays differences in seat 0", "nothing", "must keep running"),
    ],
    ids=["wrong_ply", "prints_text", "exits_at_once", "exits_when_asked"],
)
def test_a_failing_step_shows_what_was_said_and_how_to_fix_it(arena, name, step, came_back, fix):
    out = shown(arena, 1, "check", zoo.bad_bot(name), "--game", "differences")
    failed = out[out.index("FAILED") :]
    assert failed.startswith(f"FAILED  {step}: ")
    assert 'sent:      {"type": "' in failed
    assert came_back in failed[failed.index("came back:") :]
    assert fix in failed[failed.index("to fix it:") :]
    assert ("stderr:    I give up" in failed) == (name == "exits_at_once")


def test_several_bots_that_all_pass(arena, monkeypatch):
    monkeypatch.setattr("arena.cli.bots.check_command.check_bot", lambda *_: [Step("starts", True, "")])
    out = printed(arena, "check", zoo.BOTS / "minimal", zoo.BOTS / "random_legal", "--game", "differences")
    assert out.endswith("\n\nAll 2 bots passed.\n")


def test_steps_of_several_bots_as_json_name_their_bots(arena, tmp_path):
    bots = [str(zoo.bad_bot("exits_at_once")), str(tmp_path / "gone")]
    code, out, errors = arena("check", *bots, "--game", "differences", "--json")
    assert (code, errors) == (1, "")
    steps = [json.loads(line) for line in out.splitlines()]
    found = [(step["bot"], step["number"], step["is_passed"]) for step in steps]
    assert found == [(bots[0], 1, False), (bots[1], 1, False)]
    assert steps[1]["name"] == "can be launched"


def test_an_unknown_game_is_reported_with_the_bot_that_claims_it(arena, tmp_path):
    (tmp_path / "bot.toml").write_text('name = "odd"\ncommand = ["python3", "bot.py"]\ngames = ["plaid", "chess"]\n')
    assert "arena: odd@1: games: unknown game 'chess': expected one of: " in told(arena, 2, "check", tmp_path)


def test_a_link_to_itself_is_no_place_for_a_new_bot(arena, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(arena, "new", tmp_path / "loop").endswith("loop': it exists already; expected a new name")
    assert refusal(arena, "new", tmp_path / ("x" * 300) / "a").endswith("it can't be written: File name too long")


def test_a_submitted_bot_without_a_match_is_known(arena):
    assert arena("submit", zoo.BOTS / "minimal")[0] == 0
    assert refusal(arena, "show", "minimal") == "bot 'minimal': it has not been in a tournament yet"
    assert refusal(arena, "show", "minimul") == "unknown bot 'minimul': did you mean 'minimal@1'?"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "nobody"], "unknown bot 'nobody'"),
        (["check", "human"], "bot 'human': this is no program"),
        (["check", zoo.BOTS / "minimal", "--game", "chess"], "unknown game 'chess'"),
        (["check", zoo.BOTS / "minimal", zoo.BOTS / "greedy", "--game", "chess"], "chess"),
        (["check", zoo.BOTS / "minimal", "--isolation", "jail"], "isolation = 'jail': expected 'auto'"),
        (["check", zoo.BOTS / "minimal", zoo.BOTS / "greedy", "--isolation", "jail"], "jail"),
        (["check", zoo.BOTS / "minimal", "--seconds", "-1"], "-1"),
        (["repro", "t"], "match 't': a match is written TOURNAMENT/NUMBER"),
        (["repro", "t/1"], "there is no tournament yet"),
        (["doctor", "--turns", "0"], "0"),
        (["compare", "human", zoo.BOTS / "minimal", "--game", "differences"], "takes hundreds of matches"),
    ],
)
def test_a_mistake_gets_one_sentence(arena, arguments, message):
    assert message in refusal(arena, *arguments)


@pytest.fixture(scope="module")
def tournament(tmp_path_factory):
    place = tmp_path_factory.mktemp("played")
    entrants = ""
    for name in ("wrong_ply", "exits_when_asked", "good_with_note"):
        shutil.copytree(zoo.bad_bot(name), place / name)
        entrants += f'[[entrants]]\nbot = "{place / name}"\n'
    return played_in(place, t=f'game = "differences"\noptions = {{ size = 4 }}\nrng_seed = 3\n{entrants}')


@pytest.fixture
def played(arena, tournament, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", str(tournament / "home"))
    return tournament


def forfeited(arena, kind):
    matches = [json.loads(line) for line in arena("export", "t")[1].splitlines()]
    return next(f"t/{one['match']}" for one in matches if one["faults"] and one["faults"][0]["kind"] == kind)


@pytest.fixture
def wrong_ply(arena, played):
    files = shutil.copytree(played / "wrong_ply", played / "kept")
    yield forfeited(arena, "protocol")
    shutil.rmtree(played / "wrong_ply", ignore_errors=True)
    files.rename(played / "wrong_ply")


def test_the_commands_it_prints_do_what_they_say(arena, played):
    """The bot exits with 7 when it is asked: so it does on the kept input, without the arena."""
    _, out, _ = arena("repro", forfeited(arena, "exit"))
    line = out[out.index("on the same input:") :].splitlines()[1].strip().removesuffix(" | xxd")
    assert subprocess.run(line, shell=True, capture_output=True, check=False).returncode == 7
    debugger = out[out.index("Under a debugger:") :].splitlines()[1]
    assert shlex.split(debugger)[:2] == ["cd", str(played / "exits_when_asked")]
    assert "pdb" in debugger


def test_a_bot_that_was_mended_is_told_to_differ(arena, played, wrong_ply):
    program = played / "wrong_ply" / "wrong_ply.py"
    program.write_text(program.read_text().replace("+ 1", "+ 0"))
    out, errors = ended(arena, 1, "repro", wrong_ply)
    assert "the files of wrong_ply@1 have changed since this match" in errors
    assert "now:       no fault" in out
    assert "Not the same as recorded." in out


def test_a_bot_that_has_gone_is_asked_for(arena, played, wrong_ply):
    shutil.move(played / "wrong_ply", played / "moved")
    errors = told(arena, 2, "repro", wrong_ply)
    assert "it is not at" in errors
    assert "use --bot-path PATH" in errors
    assert arena("repro", wrong_ply, "--bot", played / "moved")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["t/99"], "match 99 of tournament 't' has no record"),
        (["t/1", "77"], "ply 77: this match has plies 0 to"),
        (["t/1", "--seat", "5"], "seat 5: this match has seats 0 to 1"),
        (["t/1", "--bot", "nowhere"], "nowhere"),
    ],
)
def test_a_match_that_is_not_there_is_refused(arena, played, arguments, message):
    assert message in refusal(arena, "repro", *arguments)


def test_the_doctor_says_what_holds_within_the_width_of_the_terminal(arena, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(arena, "doctor")
    assert f"Bots run at {choose_isolation('auto').label}" in out
    assert max(map(len, out.splitlines())) <= 80
    levels = as_json(arena, "doctor")
    assert [entry["level"] for entry in levels] == list(IsolationLevel)
    assert all(entry["available"] == probe_level(IsolationLevel(entry["level"])).is_available for entry in levels)


def test_the_doctor_says_why_not(arena, monkeypatch):
    monkeypatch.setattr("arena.sandbox.isolation.levels.find_bubblewrap", lambda: None)
    monkeypatch.setattr("arena.sandbox.isolation.levels.find_parent_groups", lambda: None)
    probe_level.cache_clear()
    try:
        _, out, _ = arena("doctor")
    finally:
        probe_level.cache_clear()
    assert "No bubblewrap: bwrap is not installed (apt install bubblewrap" in out
    assert "No control groups:" in out


EVERY_COMMAND = """run {file} -q; standings; crosstable; leaderboard differences; leaderboard --over-time; matches
matches t --faults; export; replay t/1; repro t/1; repro t/1 --seat 0; verify; schedule {file} --matches; stats
show =1+1<b>; report -o {page}; plot -o {plots}; check {tricks} --game differences; play differences {tricks} {bad}
compare {tricks} {bad} --game differences --option size=4 --limit 2 -q; bots; submit {tricks} --game differences"""


@pytest.mark.slow
def test_nothing_a_bot_says_reaches_the_terminal_as_it_is(arena, tmp_path):
    """Its name, notes and stderr are full of control characters, a formula and a script; every command is tried."""
    tricks = shutil.copytree(zoo.bad_bot("terminal_tricks"), tmp_path / "tricks")
    (tricks / "bot.toml").write_text('name = "=1+1<b>"\ncommand = ["python3", "terminal_tricks.py"]\n')
    bad = shutil.copytree(zoo.bad_bot("prints_text"), tmp_path / "bad")
    file, page = tmp_path / "t.toml", tmp_path / "t.html"
    head = 'game = "differences"\noptions = { size = 4 }\n'
    file.write_text(f'{head}[[entrants]]\nbot = "{tricks}"\n[[entrants]]\nbot = "{bad}"')
    for line in re.split("; |\n", EVERY_COMMAND):
        names = {"file": file, "page": page, "plots": tmp_path / "plots", "tricks": tricks, "bad": bad}
        _, out, errors = arena(*line.format(**names).split())
        assert all(character.isprintable() or character == "\n" for character in out + errors), line
    assert "1+1<b>" not in page.read_text()
    assert "\x1b" not in page.read_text()
    table = arena("standings", "t", "--format", "html")[1]
    assert "<b>" not in table
    assert "&lt;b&gt;" in table
    sheet = arena("standings", "t", "--format", "csv")[1]
    assert "\n=1+1" not in sheet
    assert ",=1+1" not in sheet
