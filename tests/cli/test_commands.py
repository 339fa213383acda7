import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.store.home import ArenaHome
from tests.cli.calls import as_json, called, played_in, printed, refusal, told
from tests.conftest import ROOT
from tests.databases import change

BOTS = ROOT / "bots"

FILE = f"""
name = "tiny"
game = "differences"
options = {{ size = 5 }}
encounters = 3
[[entrants]]
bot = "{BOTS / "minimal"}"
[[entrants]]
bot = "{BOTS / "random_legal"}"
name = "1e5"
[[entrants]]
bot = "{BOTS / "greedy"}"
name = "=cmd|x"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return played_in(tmp_path_factory.mktemp("cli"), tiny=FILE) / "home"


def test_standings_in_every_format(arena):
    text = printed(arena, "standings", "tiny")
    headings = "rank bot exposure mu sigma ± 95 % 95 % rank LOS = next matches W D L points score % seat 0 % faults"
    assert text.startswith("1e5, =cmd|x and minimal can't be told apart.\n\n")
    assert text.splitlines()[2].split() == headings.split()
    assert " 1e5 " in text
    assert "18 of 18 matches" in text
    assert "nan" not in text
    assert "inf" not in text
    table = as_json(arena, "standings", "tiny")
    assert {row["bot"] for row in table} == {"minimal", "1e5", "=cmd|x"}
    assert [row["rank"] for row in table] == [1, 2, 3]
    assert table == sorted(table, key=lambda row: -row["exposure"])
    assert all(row["wins"] + row["draws"] + row["losses"] == row["matches"] == 12 for row in table)
    assert sum(row["points"] for row in table) == 18
    assert all(row["exposure"] == pytest.approx(row["mu"] - 3 * row["sigma"]) for row in table)
    rows = list(csv.DictReader(io.StringIO(arena("standings", "tiny", "--format", "csv")[1])))
    assert {row["bot"] for row in rows} == {"minimal", "1e5", "'=cmd|x"}
    assert {row["same_as_next"] for row in rows} <= {"true", "false"}
    for row in rows:
        interval = next(one["rank_95"] for one in table if one["bot"] == row["bot"].lstrip("'"))
        assert [int(row["rank_low"]), int(row["rank_high"])] == interval
    assert "| 1e5 " in arena("standings", "tiny", "--format", "github")[1]
    assert "=cmd\\|x" in arena("standings", "tiny", "--format", "github")[1]
    assert "<td>1e5" in arena("standings", "tiny", "--format", "html")[1]
    assert "\\begin{tabular}" in arena("standings", "tiny", "--format", "latex")[1]


def test_without_a_name_the_latest_tournament_is_shown(arena, capsys, tmp_path):
    code, text, errors = arena("standings")
    assert (code, errors) == (0, "The latest tournament is tiny:\n")
    assert text == arena("standings", "tiny")[1]
    for command in ("standings", "matches", "verify", "export"):
        code, _, errors = called(capsys, command, "--home", tmp_path / "new")
        assert (code, "there is no tournament yet" in errors) == (2, True)
    assert not (tmp_path / "new").exists()


def test_matches_and_export_agree(arena):
    records = [json.loads(line) for line in arena("export", "tiny")[1].splitlines()]
    assert [record["match"] for record in records] == list(range(1, 19))
    assert [row["scores"] for row in as_json(arena, "matches", "tiny")] == [record["scores"] for record in records]
    assert len(as_json(arena, "matches", "tiny", "--bot", "1e5")) == 12
    assert as_json(arena, "matches", "tiny", "--faults") == []
    assert arena("matches", "tiny", "--faults")[1] == "No match with a fault.\n"
    rows = as_json(arena, "matches", "tiny", "--times")
    assert {row["bot"] for row in rows} == {"minimal@1", "1e5@1", "=cmd|x@1"}
    assert all(row["matches"] == 12 and row["wall_seconds"] > 0 for row in rows)
    assert "off-turn CPU s" in arena("matches", "tiny", "--times")[1]


def test_a_replay_as_json_has_the_position_after_each_action(arena):
    replay = as_json(arena, "replay", "tiny/1")
    assert (replay["match"], replay["game"], replay["options"]["size"]) == ("tiny/1", "differences", 5)
    first, *others = replay["positions"]
    assert (first["ply"], first["seat"], first["action"], first["scores"]) == (0, None, None, [0, 0])
    assert first["observation"] == {"heights": [0] * 5}
    assert [one["seat"] for one in others] == [0, 1, 0, 1, 0]
    for one in others:
        x, y = one["action"]
        assert (one["text"], one["observation"]["heights"][x - 1]) == (f"{'abcde'[x - 1]}{y}", y)


def test_verify_finds_what_was_changed(home, arena, capsys, tmp_path):
    assert "all records hold" in printed(arena, "verify")
    shutil.copytree(home, tmp_path / "forged")
    forge = """UPDATE records SET record = replace(record, '"termination":"normal"', '"termination":"void"')"""
    change(tmp_path / "forged" / "arena.sqlite3", f'{forge} WHERE "match" = 3')
    code, _, errors = called(capsys, "verify", "--home", tmp_path / "forged")
    assert code == 1
    assert "match 3: ReplayError: termination are recorded as void" in errors


def test_a_bad_bot_is_rejected_with_the_reason_and_leaves_nothing(arena, home):
    def kept():
        return sorted((home / "bots").iterdir()) if (home / "bots").exists() else []

    before, bad = kept(), ROOT / "tests" / "bad_bots" / "exits_at_once.py"
    errors = told(arena, 1, "submit", bad)
    assert "exits_at_once@1 is rejected: in plusminus at ply 0: start:" in errors
    assert "I give up" in errors
    assert "\nto fix it: run the command of bot.toml by hand" in errors
    assert kept() == before
    code, out, _ = arena("submit", bad, "--json")
    refused = json.loads(out)
    assert (code, refused["is_submitted"], "I give up" in refused["stderr"]) == (1, False, True)
    assert "in plusminus at ply 0: start:" in refused["refusal"]


MISTAKES = [
    (["plaay"], "unknown command 'plaay': did you mean 'play'?"),
    (["replay"], "Missing argument 'MATCH'"),
    (["standings", "tinny"], "unknown tournament 'tinny': did you mean 'tiny'?"),
    (["standings", "tiny", "--format", "pdf"], "'pdf' is not one of"),
    (["standings", "tiny", "--game", "plaid"], "unknown game 'plaid': expected one of: differences"),
    (["matches", "tiny", "--bot", "nobody"], "unknown bot 'nobody'"),
    (["show", "gredy"], "unknown bot 'gredy'"),
    (["stats", "tiny", "--format", "csv"], "one table at a time; choose one with --table"),
    (["replay", "tiny/99"], "match 99 of tournament 'tiny' has no record; it has matches 1 to 18"),
    (["games", "chess"], "unknown game 'chess'"),
    (["run", "nowhere.toml"], "nowhere.toml: there is no such file"),
    (["run", str(ROOT)], "this is a directory"),
    (["run", "x.toml", "--workers", "0"], "0 is not in the range"),
    (["run", "x.toml", "--workers", "two"], "'--workers': 'two': expected a whole number from 1 to 1,024"),
    (["play", "plaid", "a", "b", "--seconds", "nan"], "'--seconds': 'nan': expected a number from 0.001 to 86,400"),
    (
        ["submit", str(BOTS / "minimal"), "--game", "hx:Hex"],
        "--game 'hx:Hex': minimal@1 does not claim it; expected one of",
    ),
    (["submit", "nowhere"], "there is no such file or directory"),
    (["submit", str(ROOT / "tests")], "there is no bot.toml in this directory; it takes at least name = "),
    (["play", "differences", "nobody", "nobody"], "unknown bot 'nobody'"),
    (["play", "plaid", *[str(BOTS / "greedy")] * 2, "--isolation", "jail"], "'jail': expected 'auto', 'none', 'limi"),
    (["play", "plaid", *[str(BOTS / "greedy")] * 2, "--seconds", "0"], "not in the range"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(a)[:40] for a, _ in MISTAKES])
def test_a_mistake_gets_one_sentence_and_exit_code_2(arena, arguments, message):
    assert message in refusal(arena, *arguments)


class MuteError(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (RuntimeError("oops"), "RuntimeError: oops"),
        (RuntimeError("oops" * 100_000), f"RuntimeError: {'oops' * 46}oo…"),
        (MuteError(), "tests.cli.test_commands.MuteError: <exception str() failed>"),
    ],
    ids=["short", "long", "mute"],
)
def test_a_defect_of_ours_is_one_sentence_with_a_file_to_report(arena, monkeypatch, error, shown):
    monkeypatch.setattr("arena.cli.results.tables.load_standings", Mock(side_effect=error))
    errors = told(arena, 1, "standings", "tiny")
    assert f"this is a defect of the arena ({shown})" in errors
    Path(re.search(r"with the file (\S+)", errors)[1]).unlink()


def test_a_lack_of_memory_is_no_defect_of_ours(arena, monkeypatch):
    monkeypatch.setattr("arena.cli.results.tables.load_standings", Mock(side_effect=MemoryError))
    assert told(arena, 1, "standings", "tiny") == "arena: this machine has too little memory for that\n"


@pytest.fixture
def interrupted(monkeypatch):
    monkeypatch.setattr("arena.tournament.director.run_tournament", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr("sys.argv", ["/somewhere/arena", "run", "my file.toml"])


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_before_the_schedule_is_written_is_told_too(arena, home):
    errors = told(arena, 130, "run", home.parent / "tiny.toml", "--name", "new", "-q")
    assert errors == "Stopped with nothing recorded. To resume: arena run 'my file.toml'\n"


@pytest.mark.usefixtures("interrupted")
def test_ctrl_c_in_a_long_tournament_counts_in_one_style(arena, home, monkeypatch):
    with ArenaHome(home) as opened:
        long = replace(opened.store.find_tournament("tiny"), recorded=1234, scheduled=5678)
    monkeypatch.setattr("arena.store.results.store.Store.find_tournament", lambda *_: long)
    errors = told(arena, 130, "run", home.parent / "tiny.toml", "-q")
    assert errors.startswith("Stopped with 1,234 of 5,678 matches recorded.")


COMMANDS_WITH_A_TABLE = ["standings", "crosstable", "stats", "matches", "matches --times", "leaderboard"]
COMMANDS_WITH_A_TABLE += ["leaderboard --over-time", "bots"]


@pytest.mark.parametrize("columns", ["20", "60", "100"])
@pytest.mark.parametrize("command", COMMANDS_WITH_A_TABLE)
def test_tables_and_sentences_fit_the_terminal(arena, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(len, printed(arena, *command.split()).splitlines())) <= int(columns)


@pytest.mark.parametrize("columns", range(44, 84, 3))
@pytest.mark.parametrize("command", ["compare", "site ladder drain"])
def test_no_line_of_help_ends_within_the_name_of_an_option(arena, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    help_text = printed(arena, *command.split(), "--help")
    assert "Global options: --home" in help_text
    assert not re.findall(r"--[a-z-]*-$", help_text, re.MULTILINE)


GROUPS = ["tournament", "correct", "bot", "home backup", "lab", "site", "site people", "site contest", "site ladder"]


@pytest.mark.parametrize("command", [*GROUPS, "lab quality", "bot challenge"])
def test_help_fits_80_columns_with_whole_sentences(arena, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    _usage, *lines = printed(arena, *command.split(), "--help").splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") for line in lines)


def test_left_out_columns_are_named_and_wide_shows_them(arena, monkeypatch):
    in_full = arena("standings", "tiny")[1].split("\n\n")[1]
    monkeypatch.setenv("COLUMNS", "60")
    left_out = " ".join(arena("standings", "tiny")[1].split("\n\n")[-1].split())
    assert left_out.startswith("Left out at 60 columns: sigma, 95 % rank, LOS, ")
    assert left_out.endswith("; --wide shows all.")
    wide = arena("standings", "tiny", "--wide")[1]
    assert wide.split("\n\n")[1] == in_full
    assert "Left out" not in wide
    for table_format in ("csv", "json", "github", "html", "latex"):
        assert "Left out" not in arena("standings", "tiny", "--format", table_format)[1]


@pytest.mark.parametrize("columns", ["1", "-5", "0", "eighty", "99999999999999999999"])
def test_a_terminal_of_an_unusual_width_has_a_table_too(arena, columns):
    with pytest.MonkeyPatch.context() as patch:  # ends before pytest -v reports, which believes in COLUMNS too
        patch.setenv("COLUMNS", columns)
        code, text, _ = arena("standings", "tiny")
    assert (code, text.split("\n\n")[1].split()[:2]) == (0, ["rank", "bot"])
