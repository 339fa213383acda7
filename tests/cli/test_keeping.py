import csv
import io
import json
import os
import re
from datetime import UTC, datetime, timedelta

import pytest

from arena.base.records import Fault
from arena.cli.group import run
from arena.store.home import ArenaHome
from arena.store.results.values import StoredBot
from arena.tournament.corrections.entrants import disqualify
from arena.tournament.schedule import schedule
from tests.cli.calls import as_json, called, calling, printed, refusal
from tests.databases import change
from tests.store.results.samples import definition, line, record
from tests.tournament.transfer.played import begin, definition_of, play

PATCHED = ("ARENA_HOME", "ARENA_STORE", "COLUMNS")

A_WINS = {"ranks": [1, 2], "scores": [2, 1]}
ASKS = "this command asks first, and there is no terminal to answer on; expected --yes"
DATE = "expected a date such as 2026-03-01, or an age such as 12h, 30d or 8w"
TOO_EARLY = "0001-01-01T00:00+23:00"


@pytest.fixture
def home(tmp_path):
    directory = tmp_path / "home"
    with ArenaHome(directory) as home:
        spring = home.store.create_tournament(definition(name="spring"), [line(1), line(2)])
        home.store.record(spring, [record(1, **A_WINS), record(2)])
        home.store.set_finished(spring, True)
        trial = home.store.create_tournament(definition(name="trial", format="comparison"), [line(1), line(2)])
        fault = Fault(kind="exit", seat=1, ply=1, detail="")
        home.store.record(trial, [record(1, **A_WINS, faults=[fault])])
        home.store.create_tournament(definition(name="\x1b[31mred"), [line(1)])
    return directory


@pytest.fixture
def arena(home, capsys, monkeypatch):
    """Return a function that runs a command in the home and returns (exit code, stdout, stderr)."""
    for name in PATCHED:
        monkeypatch.delenv(name, raising=False)

    def call(*arguments, answer=None):
        monkeypatch.setattr("sys.stdin", io.StringIO() if answer is None else Terminal(answer))
        return called(capsys, "--home", home, *arguments)

    return call


class Terminal(io.StringIO):
    def isatty(self):
        return True


def names_in(arena, *arguments):
    return [row["tournament"] for row in as_json(arena, "tournaments", *arguments)]


def refused(arena, *arguments, message):
    assert refusal(arena, *arguments) == message


def test_the_list_says_to_people_and_programs_how_far_each_tournament_is(arena, home):
    with ArenaHome(home) as other, other.store.lock("trial"):
        code, text, _ = arena("tournaments", "--json")
    rows = json.loads(text)
    assert code == 0
    found = [(row["tournament"], row["state"]) for row in rows]
    assert found == [("spring", "finished"), ("trial", "running"), ("\x1b[31mred", "not begun")]
    assert [(row["recorded"], row["scheduled"]) for row in rows] == [(2, 2), (1, 2), (0, 1)]
    assert [row["director"] for row in rows] == [None, f"process {os.getpid()}", None]
    assert [row["format"] for row in rows] == ["round-robin", "comparison", "round-robin"]
    assert rows[0]["games"] == ["differences"]
    with ArenaHome(home) as opened:
        texts = [text for _, text in opened.store.record_texts(opened.store.tournament("spring"))]
    assert rows[0]["bytes"] == sum(map(len, texts))
    assert datetime.now(UTC) - datetime.fromisoformat(rows[0]["begun"]) < timedelta(minutes=5)
    assert {row["state"] for row in as_json(arena, "tournaments")} == {
        "finished", "stopped", "not begun"
    }  # fmt: skip
    _, text, _ = arena("tournaments")
    heading, _, first, *_ = text.splitlines()
    assert heading.split() == ["tournament", "state", "format", "games", "matches", "of", "begun", "(UTC)", "size"]
    assert re.fullmatch(r"spring +finished +round-robin +differences +2 +2 +[-\d]+ [\d:]{5} +\d KiB", first)
    assert "\\x1b[31mred" in text
    with ArenaHome(home) as other, other.store.lock("spring"):
        assert f"process {os.getpid()}" in arena("tournaments")[1]
    rows = list(csv.DictReader(io.StringIO(arena("tournaments", "--format", "csv")[1])))
    assert [row["recorded"] for row in rows] == ["2", "1", "0"]


def test_a_tournament_gets_another_name(arena):
    assert arena("rename", "spring", "first cup")[1] == "spring is named first cup now.\n"
    assert names_in(arena)[0] == "first cup"
    for old, new, message in (
        ("spring", "x", "unknown tournament 'spring': expected one of: first cup, trial, \\x1b[31mred"),
        ("trial", "first cup", "there is a tournament 'first cup' already; nothing was changed"),
        ("trial", "a/b", "new name = 'a/b': expected 1 to 64 letters, digits, '.', '_', '-' and spaces inside"),
    ):
        refused(arena, "rename", old, new, message=message)


def test_deleting_asks_first(arena):
    code, out, errors = arena("delete", "spring", answer="n\n")
    assert (code, errors) == (0, "Put tournament 'spring' with 2 records into the trash? [y/N]: Nothing was changed.\n")
    refused(arena, "delete", "spring", message=ASKS)
    assert "spring" in names_in(arena)
    code, out, _ = arena("delete", "spring", answer="y\n")
    assert (code, out) == (0, "spring is in the trash; to bring it back: arena tournament restore spring\n")
    assert "spring" not in names_in(arena)
    assert names_in(arena, "--deleted") == ["spring"]
    assert "1 more tournament in the trash: arena tournament list --deleted" in arena("tournaments")[1]
    assert "deleted/1" in arena("tournaments", "--deleted")[1]


def test_what_runs_is_refused_before_anything_is_asked(arena, home):
    with ArenaHome(home) as other, other.store.lock("spring"):
        message = f"tournament 'spring' is being run by another director (process {os.getpid()}); nothing was changed"
        refused(arena, "delete", "spring", message=message)
        refused(arena, "rename", "spring", "cup", message=message)
    assert names_in(arena)[0] == "spring"


def test_the_trash_gives_back_or_removes_forever(arena, home):
    refused(arena, "delete", "--forever", "spring", message="tournament 'spring' is not in the trash")
    arena("delete", "spring", "--yes")
    assert arena("restore", "spring", "--as", "summer")[1] == "summer is back, with 2 records.\n"
    refused(arena, "restore", "spring", message="unknown deleted tournament 'spring': there are none yet")
    arena("delete", "summer", "--yes")
    refused(arena, "delete", "--forever", "summer", message=ASKS)
    _, _, errors = arena("delete", "--forever", "summer", answer="\n")
    assert re.match(r"Remove tournament 'summer', deleted [-\d]{10}, and its 2 records forever\? \[y/N\]", errors)
    assert names_in(arena, "--deleted") == ["summer"]
    assert arena("delete", "--forever", "summer", "--yes")[1] == "summer is removed.\n"
    assert names_in(arena, "--deleted") == []
    assert "The trash is empty." in arena("tournaments", "--deleted")[1]


def test_a_removed_bot_is_asked_for_by_repro(arena, home):
    directory = home / "bots" / ("0" * 24)
    directory.mkdir(parents=True)
    with ArenaHome(home) as opened:
        opened.store.add_bot(StoredBot("b", "1", "0" * 24, "bot.py", "2026-01-01T00:30:00+00:00"))
        entrants = definition().entrants
        moved = entrants[1].__class__(name="b", version="1", command=("./b",), directory=str(directory))
        cup = definition(name="cup", entrants=(entrants[0], moved), opening_plies=0)
        lines = [*schedule(cup)]
        stored = opened.store.create_tournament(cup, lines)
        seats = (["a@1", "b@1"], ["b@1", "a@1"])
        played = [
            record(each.match, rng_seed=each.rng_seed, bots=bots) for each, bots in zip(lines, seats, strict=True)
        ]
        opened.store.record(stored, played)
        opened.store.set_finished(stored, True)
    assert "2026-01-01 00:30\n" in arena("bots")[1]
    refused(arena, "bots", "--remove", "b@2", message="unknown bot 'b@2': did you mean 'b@1'?")
    refused(arena, "bots", "--remove", "b@1", message=ASKS)
    code, out, errors = arena("bots", "--remove", "b@1", answer="y\n")
    assert (code, out, errors) == (0, "b@1 is removed.\n", "Remove bot 'b@1' and its files? [y/N]: ")
    assert as_json(arena, "bots") == []
    assert not directory.exists()
    message = f"bot 'b@1': it is not at {directory} any more; use --bot-path PATH"
    refused(arena, "repro", "cup/1", "--seat", "1", message=message)
    assert arena("verify", "cup")[0] == 0


def matches_of(arena, *arguments):
    return sum(row["matches"] for row in as_json(arena, "leaderboard", *arguments)) / 2


def test_a_season_is_made_shown_and_forgotten(arena):
    assert "There is no season yet" in arena("seasons")[1]
    assert arena("season", "2026", "--add", "spring", "trial")[1] == "Season 2026 has 2 tournaments: spring, trial\n"
    assert [row["tournament"] for row in as_json(arena, "season", "2026")] == ["spring", "trial"]
    assert matches_of(arena, "--season", "2026") == 3
    assert arena("season", "2026", "spring", "--drop")[1] == "Season 2026 has 1 tournament: trial\n"
    assert matches_of(arena, "--season", "2026") == 1
    assert matches_of(arena, "--season", "2026", "--tournament", "spring") == 3
    assert as_json(arena, "seasons") == [{"season": "2026", "count": 1, "tournaments": ["trial"]}]
    assert arena("season", "2026", "trial", "--drop")[1] == "Season 2026 has no tournament any more, and ends.\n"
    arena("season", "2027", "--add", "spring")
    assert arena("season", "2027", "--delete")[1] == "Season 2027 is deleted; its tournaments stay.\n"
    assert names_in(arena)[:2] == ["spring", "trial"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["season", "x"], "unknown season 'x': there are none yet"),
        (["season", "x", "--add"], "season 'x': expected the tournaments to add"),
        (["season", "x", "spring"], "season 'x': expected --add or --drop with tournaments"),
        (["season", "x", "--add", "sprint"], "unknown tournament 'sprint': did you mean 'spring'?"),
        (["leaderboard", "--season", "x"], "unknown season 'x': there are none yet"),
        (["leaderboard", "--since", "yesterday"], f"Invalid value for '--since': 'yesterday': {DATE}"),
        (["leaderboard", "--since", TOO_EARLY], f"Invalid value for '--since': '{TOO_EARLY}': {DATE}"),
    ],
)
def test_a_wrong_scope_is_refused_in_a_sentence(arena, arguments, message):
    refused(arena, *arguments, message=message)


@pytest.mark.slow(sample=True)
def test_comparisons_count_on_request(arena):
    assert matches_of(arena) == 2
    assert matches_of(arena, "--comparisons") == 3
    assert matches_of(arena, "--tournament", "trial") == 1
    assert [row["tournament"] for row in as_json(arena, "leaderboard", "--over-time")] == ["spring"]
    over_time = as_json(arena, "leaderboard", "--over-time", "--comparisons")
    assert [row["matches"] for row in over_time] == [2, 3]
    (profile,) = as_json(arena, "show", "b")
    assert [point["tournament"] for point in profile["course"]] == ["spring"]
    assert [(fault["tournament"], fault["kind"]) for fault in profile["faults"]] == [("trial", "exit")]
    (profile,) = as_json(arena, "show", "b", "--comparisons")
    assert [point["tournament"] for point in profile["course"]] == ["spring", "trial"]


def test_the_latest_tournament_is_no_comparison(arena):
    arena("delete", "\x1b[31mred", "--yes")
    assert arena("standings")[2] == "The latest tournament is spring:\n"
    arena("delete", "spring", "--yes")
    code, _, errors = arena("standings")
    assert (code, errors.count("\n")) == (2, 1)
    assert "there are only comparisons; name one, such as 'trial'" in errors
    assert "those in comparisons do with --comparisons" in arena("show", "a")[1]


def test_a_leaderboard_may_begin_at_a_date(arena, home):
    ago = (datetime.now(UTC) - timedelta(days=40)).isoformat(timespec="seconds")
    change(home / "arena.sqlite3", "UPDATE tournaments SET created_at = ? WHERE name = 'spring'", ago)
    assert matches_of(arena, "--since", "41d") == 2
    assert matches_of(arena, "--since", "39d") == 0
    assert matches_of(arena, "--since", "5w", "--comparisons") == 1
    assert matches_of(arena, "--since", "2020-01-01") == 2
    assert matches_of(arena, "--since", "959h") == matches_of(arena, "--since", ago[:10], "--tournament", "trial") - 1
    none = "No tournament of these was begun since 2999-01-01 00:00 (UTC).\n"
    assert arena("leaderboard", "--since", "2999-01-01")[2] == none


def test_without_a_command_a_home_is_shown(arena, home):
    with ArenaHome(home) as other, other.store.lock("spring"):
        code, text, errors = arena()
    assert (code, errors) == (0, "")
    lines = text.splitlines()
    assert lines[0] == f"{home.resolve()}: 3 tournaments with 3 matches, 0 submitted bots."
    assert lines[1] == f"Now playing: spring, 2 of 2 matches (process {os.getpid()})."
    assert re.match(r"trial +a, 100\.0 % of the points +stopped +1 +2 +comparison", lines[5])
    assert re.match(r"spring +a, 75\.0 % of the points +running +2 +2 +round-robin", lines[6])
    assert "  arena standings spring  its whole table" in lines
    assert "red" not in text


def test_an_empty_home_is_shown_and_where_there_is_none_the_help(arena, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run([]) == 2
    assert capsys.readouterr().err.startswith("Usage: arena ")
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]
    ArenaHome(tmp_path / "empty").close()
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "empty"))
    assert run([]) == 0


@pytest.mark.parametrize("columns", [40, 80])
def test_the_overview_and_the_list_fit_the_terminal(arena, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in ([], ["tournaments"], ["tournaments", "--deleted"], ["seasons"]):
        _, text, _ = arena(*command)
        assert max(map(len, text.splitlines())) <= columns, command


def test_the_leader_is_who_is_first_by_the_format(arena, home):
    with ArenaHome(home) as opened:
        opened.store.record(opened.store.create_tournament(definition(name="tie"), [line(1)]), [record(1)])
        ladder = opened.store.create_tournament(definition(name="ladder", format="ladder"), [line(1)])
        opened.store.record(ladder, [record(1, ranks=[2, 1], scores=[1, 2])])
    _, text, _ = arena()
    assert re.search(r"^tie +a and b, 50\.0 % of the points +stopped", text, re.MULTILINE)
    assert re.search(r"^ladder +b +stopped", text, re.MULTILINE)


@pytest.mark.slow(sample=True)
def test_a_database_on_a_server_is_kept_in_order_too(arena, postgres_url, tmp_path):
    with ArenaHome(tmp_path / "here", store=postgres_url) as home:
        cup = home.store.create_tournament(definition(name="cup"), [line(1)])
        home.store.record(cup, [record(1, **A_WINS)])

        def on_server(*arguments):
            return arena("--home", str(tmp_path / "home"), "--store", postgres_url, *arguments)

        host = postgres_url.partition("?host=")[2]
        assert f"?host={host}: 1 tournament with 1 match" in on_server()[1].replace("%2F", "/")
        with home.store.lock("cup"):
            (row,) = as_json(on_server, "tournaments")
            assert (row["state"], row["bytes"]) == ("running", len(next(home.store.record_texts(cup))[1]))
            assert re.fullmatch(rf"process {os.getpid()} on \S+", row["director"])
            assert on_server("delete", "cup", "--yes")[0] == 2
        assert on_server("rename", "cup", "league")[1] == "cup is named league now.\n"
        assert as_json(on_server, "leaderboard")[0]["bot"] == "a@1"
        assert on_server("delete", "league", "--yes")[0] == on_server("delete", "--forever", "league", "--yes")[0] == 0
        assert home.store.deleted_tournaments() == []


CUP = definition_of(encounters=2)


@pytest.fixture
def arena_here(here, capsys):
    return calling(here.directory, capsys)


def test_a_new_tournament_and_its_missing_programs_are_named(arena_here, there):
    play(there.store, CUP, lambda match: match <= 4)
    assert printed(arena_here, "merge", there.directory) == (
        "cup: new here, with 4 records of 24 matches\n"
        "cup: 20 matches still to be played: arena run FILE\n"
        "cup: the programs of a@1, b@1, c@1 and 1 more were not taken;"
        " arena run and arena bot repro --bot-path need them\n"
    )
    assert arena_here("merge", there.directory)[1].splitlines()[0] == "cup: nothing new; 4 matches were here already"


def test_matches_that_a_correction_left_out_are_not_counted(arena_here, there):
    play(there.store, CUP)
    disqualify(there.store, CUP.name, "a", reason="copied")
    line = arena_here("merge", there.directory)[1].splitlines()[0]
    assert line == "cup: new here, with 12 records of 12 matches; it is finished"


def test_the_second_half_finishes_a_tournament(arena_here, here, there):
    play(here.store, CUP, lambda match: match <= 13)
    play(there.store, CUP, lambda match: match >= 13, by="there")
    assert arena_here("merge", there.directory, "cup") == (
        0,
        "cup: 11 records taken; it is finished\ncup: 1 match was played on both sides, 1 with another result;"
        " the records here stay\n",
        "",
    )
    assert arena_here("verify", "cup")[:2] == (
        0,
        "cup: 24 of 24 matches checked: all records hold, and so do the ratings\n",
    )


def test_what_is_no_home_is_one_sentence_and_an_empty_one_has_nothing_to_take(arena_here, there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal(arena_here, "merge", "nowhere") == "home 'nowhere': expected a directory that holds arena.sqlite3"
    assert arena_here("merge", there.directory) == (0, "There is no tournament in it.\n", "")


def test_an_export_is_imported_from_a_file(arena_here, there, capsys, tmp_path):
    play(there.store, CUP)
    assert run(["export", "--whole", "cup", "--home", str(there.directory)]) == 0
    path = tmp_path / "cup.jsonl"
    path.write_text(capsys.readouterr().out)
    code, out, _ = arena_here("import", path)
    assert (code, out.splitlines()[0]) == (0, "cup: new here, with 24 records of 24 matches; it is finished")
    assert arena_here("verify", "cup")[0] == 0
    assert run(["export", "--home", str(there.directory)]) == 0
    path.write_text(capsys.readouterr().out)
    assert arena_here("import", path) == (0, "cup: nothing new; 24 matches were here already\n", "")


def test_an_edited_export_is_one_sentence_on_stderr(arena_here, here, there, capsys, tmp_path):
    play(there.store, CUP)
    begin(here.store, CUP)
    assert run(["export", "--home", str(there.directory)]) == 0
    path = tmp_path / "cup.jsonl"
    path.write_text(capsys.readouterr().out.replace('"match": 16, ', '"match": 16, "note": 7, '))
    assert refusal(arena_here, "export", "--whole", "--set-aside")
    sentence = refusal(arena_here, "import", path)
    assert sentence.startswith("tournament 'cup': line 16: match 16: ")
    assert sentence.endswith("nothing of it was taken")


@pytest.mark.parametrize("file", ["nowhere.jsonl", ".", "diary.txt", "/proc/self/mem"])
def test_a_file_that_cannot_be_read_is_one_sentence(arena_here, file, tmp_path):
    (tmp_path / "diary.txt").write_text("dear diary")
    assert str(tmp_path / file) in refusal(arena_here, "import", tmp_path / file)
