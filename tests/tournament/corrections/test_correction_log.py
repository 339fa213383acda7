import csv
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

from arena.analysis.measures.leaderboards import history_over_tournaments
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.analysis.text.verdict import cycle_text, standings_footer
from arena.base.enums import DisqualifiedMatches, FaultKind
from arena.store.home import ArenaHome
from arena.store.results.statements import counted
from arena.tournament.corrections.corrected_tournament import undo_correction, void_matches
from arena.tournament.corrections.entrants import disqualify, withdraw
from arena.tournament.transfer.checks import corrections_without_locations
from arena.tournament.transfer.merging import import_records
from tests.cli.calls import calling, printed, refusal
from tests.databases import change
from tests.tournament.corrections.contest import contest, play, records, tabled, write_bots

BOTS = ("ann", "bob", "illegal")
TABLES = ("records", "faults", "matches", "skipped", "set_aside", "corrections")


@pytest.fixture
def three(tmp_path):
    return write_bots(tmp_path / "bots", BOTS)


def rows_of(home, name):
    key = home.store.tournament(name).number
    connection = sqlite3.connect(home.directory / "arena.sqlite3")
    rows = {}
    for table in TABLES:
        query = f"SELECT * FROM {table} WHERE tournament_id = ? ORDER BY 2, 3"
        rows[table] = connection.execute(query, (key,)).fetchall()
    connection.close()
    return rows


def test_corrections_of_the_same_numbers_in_another_tournament_make_no_difference(home, three):
    for name in ("t", "other"):
        play(home, contest(three, name=name, encounters=2), max_matches=9)
        withdraw(home.store, name, "ann", reason="x")
        disqualify(home.store, name, "illegal", reason="x")
        void_matches(home.store, name, sorted(records(home, name))[:1], reason="x")
    before, stored = rows_of(home, "other"), home.store.tournament("other")
    assert all(before[table] for table in ("set_aside", "skipped", "corrections"))
    assert [made.number for made in stored.corrections] == [1, 2, 3]
    for _ in range(3):
        undo_correction(home.store, "t", reason="x")
    assert play(home, contest(three, encounters=2)).is_complete
    assert rows_of(home, "other") == before
    assert home.store.tournament("other") == stored


def test_the_faults_of_matches_that_do_not_count_do_not_count_either(home, three):
    play(home, contest(three))
    faults, before = home.store.fault_counts(home.store.tournament("t")), rows_of(home, "t")["faults"]
    assert {kind for counts in faults.values() for kind in counts} == {FaultKind.ILLEGAL}
    disqualify(home.store, "t", "illegal", reason="x")
    assert home.store.fault_counts(home.store.tournament("t")) == {}
    assert rows_of(home, "t")["faults"] == []
    undo_correction(home.store, "t", reason="x")
    assert home.store.fault_counts(home.store.tournament("t")) == faults
    assert rows_of(home, "t")["faults"] == before


def test_a_correction_whose_commit_is_in_doubt_is_made_once(home, three, monkeypatch):
    """A server went away after the commit, and before it answered."""
    play(home, contest(three))
    database = home.store.corrections._database
    write = database.write

    def write_twice(work, again):
        write(work)
        return write(again)

    monkeypatch.setattr(database, "write", write_twice)
    made = void_matches(home.store, "t", [1, 2], reason="x")
    assert home.store.tournament("t").corrections == (made,)
    assert verify(home, home.store.tournament("t")).problems == []


def test_a_finished_tournament_that_stays_finished_keeps_its_end(home, three, monkeypatch):
    play(home, contest(three))
    before = home.store.tournament("t").finished_at
    assert before is not None
    monkeypatch.setattr("arena.store.results.correction_log.utc_now", lambda: "2199-01-01T00:00:00+00:00")
    disqualify(home.store, "t", "ann", reason="x")
    assert home.store.tournament("t").finished_at == before


# corrections that were edited by hand: one sentence, exit code 2, and nothing changes


@pytest.fixture
def void(home, tmp_path, no_check):
    play(home, contest(write_bots(tmp_path / "bots", ["ann", "bob", "cid"])))
    void_matches(home.store, "t", [1, 2], reason="the power failed")
    return home


def edit(home, statement, *values):
    change(home.directory / "arena.sqlite3", statement, *values)


FAULTS = {
    "no list": "{}",
    "no JSON": "",
    "a number": "[1]",
    "too short": "[[1]]",
    "an unknown kind": '[[0,"ann@1","nuke"]]',
    "a kind that is a mapping": '[[0,"ann@1",{"crash":1}]]',
    "a seat that is a text": '[["x","ann@1","crash"]]',
    "a huge seat": '[[99999999999999999999,"ann@1","crash"]]',
    "a bot that is a number": '[[0,1,"crash"]]',
    "nested too deeply": "[" * 100_000,
}


@pytest.mark.parametrize("case", FAULTS)
def test_malformed_faults_of_a_record_that_was_set_aside_do_not_come_back(void, case, capsys):
    edit(void, "UPDATE set_aside SET faults = ?", FAULTS[case])
    sentence = refusal(calling(void.directory, capsys), "undo", "t", "--reason", "x")
    assert sentence.startswith("match 1, set aside: its faults")
    assert len(void.store.recorded_matches(void.store.tournament("t"))) == 4
    assert [c.number for c in void.store.tournament("t").corrections] == [1]


UNKNOWN_MATCHES = {
    "it is left out, but it is not in the schedule": "INSERT INTO skipped VALUES (1, 77, 1)",
    "it is set aside, but it is not in the schedule": "UPDATE set_aside SET match = 77 WHERE match = 2",
    "it has a record, but it is not in the schedule": "UPDATE records SET match = 77 WHERE match = 6",
}


@pytest.mark.parametrize("problem", UNKNOWN_MATCHES)
def test_verify_names_matches_that_are_not_in_the_schedule(void, problem):
    assert verify(void, void.store.tournament("t")).problems == []
    edit(void, UNKNOWN_MATCHES[problem])
    assert f"match 77: {problem}" in verify(void, void.store.tournament("t")).problems


DETAILS = {
    "unknown": ('{"colour":1}', "has a field 'colour' that this arena does not know; a newer arena is needed"),
    "no mapping": ("[]", "is malformed: expected an object, got a list"),
    "no JSON": ("{", "is not JSON"),
    "deep": ("[" * 100_000, "is malformed: it is nested too deeply"),
    "huge": ('{"entrant":1' + "0" * 30 + "}", "is malformed: entrant = "),
    "no whole number": ('{"matches":[1.5]}', "is malformed: matches = [1.5]"),
    "no such rule": ('{"disqualified_matches":"burn"}', "disqualified_matches = 'burn'"),
    "an absence of nobody": ('{"missed":[{"first_round":1}]}', "missed has no field 'entrant'"),
}
COMMANDS = [["standings"], ["corrections"], ["verify"], ["export"], ["undo", "--reason", "x"], ["stats"]]


@pytest.mark.parametrize("case", DETAILS)
def test_malformed_details_are_one_sentence(void, case, capsys):
    text, sentence = DETAILS[case]
    edit(void, "UPDATE corrections SET details = ?", text)
    for name, *options in COMMANDS if case == "unknown" else COMMANDS[:1]:
        said = refusal(calling(void.directory, capsys), name, "t", *options)
        assert said.startswith("correction 1 of tournament 1 in the database: its details") and sentence in said


# what tables, statistics and the report show


@pytest.fixture
def kept(home, bots):
    play(home, contest(bots, encounters=2))
    disqualify(home.store, "t", "bob", reason="copied", matches=DisqualifiedMatches.KEEP)
    return home


SHOWN = [["standings"], ["stats"], ["stats", "--json"], ["stats", "--table", "nash"], ["crosstable"], ["matches"]]


@pytest.fixture
def arena(home, capsys):
    return lambda *arguments: printed(calling(home.directory, capsys), *arguments)


@pytest.mark.slow
def test_every_table_of_a_tournament_with_a_disqualified_bot_is_printed(kept, arena):
    for command, *options in SHOWN:
        assert "ann" in arena(command, "t", *options)
    rows = csv.DictReader(io.StringIO(arena("crosstable", "t", "--format", "csv")))
    points = {row["bot"]: float(row["points"]) for row in rows}
    assert points == {line.bot: line.points for line in standings_of(kept.store, "t").lines}
    assert len(points) == 3
    nash = json.loads(arena("stats", "t", "--table", "nash", "--json"))
    assert {row["bot"] for row in nash} == {"ann", "bob@1", "cid", "dan"}


def test_a_cycle_through_a_disqualified_bot_is_written():
    assert cycle_text(["a@1", "b@1"], {"a@1": "a"}) == "a > b@1 > a"


def test_a_bot_that_is_disqualified_wherever_it_played_is_in_no_leaderboard(kept, bots, arena):
    assert [line.label for line in standings_of(kept.store).lines if line.label == "bob@1"] == []
    (snapshot,) = history_over_tournaments(kept.store)
    assert {line.label for line in snapshot.lines} == {"ann@1", "cid@1", "dan@1"}
    assert re.search("^differences  t .* of 3 ", arena("show", "ann"), re.MULTILINE)
    play(kept, contest(bots, name="u"))
    assert {line.label for line in standings_of(kept.store).lines} == {"ann@1", "bob@1", "cid@1", "dan@1"}


def test_the_profile_of_a_disqualified_bot_says_so(kept, arena):
    shown = arena("show", "bob")
    assert "It has no line in any table or leaderboard; see its corrections below." in shown
    assert "Correction 1 of t: bob@1 is disqualified; its matches count for its rivals. Reason: copied" in shown
    arena("undo", "t", "--reason", "it was not")
    assert "Correction" not in arena("show", "bob")


def test_a_match_that_is_void_twice_is_one_voided_match(home, bots):
    definition = contest(bots)
    play(home, definition)
    for reason in ("asleep", "asleep again"):
        void_matches(home.store, "t", [3], reason=reason)
        play(home, definition)
    assert "Corrected: 1 voided match (" in standings_footer(standings_of(home.store, "t"))


MEANWHILE = "the ratings are not compared, because matches were recorded meanwhile"


def test_the_log_says_when_on_a_line_of_its_own(home, bots, arena):
    play(home, contest(bots))
    void_matches(home.store, "t", [5, 3, 5], reason="asleep")
    first, when, reason = arena("corrections", "t").splitlines()
    assert (first, reason) == ("  1. 2 matches void: 3, 5", "     Reason: asleep")
    assert re.fullmatch(r" {5}[-0-9]{10} [0-9]{2}:[0-9]{2} UTC, 2 records set aside", when)


def test_void_matches_that_can_not_be_played_again_are_counted(home, bots, arena):
    """Bob has withdrawn after everybody has met; each of the others has met it twice."""
    play(home, contest(bots, encounters=2), max_matches=12)
    withdraw(home.store, "t", "bob", reason="moved away")
    out = arena("void", "t", *range(1, 13), "--reason", "the power failed")
    assert "6 matches can't be played again, because a bot has left the tournament." in out


def test_ratings_are_not_compared_while_matches_are_recorded(home, bots, arena, monkeypatch):
    """The table may have matches that were recorded after the others were checked."""
    definition = contest(bots, encounters=2)
    play(home, definition, max_matches=12)

    def standings_later(*args, **kwargs):
        play(home, definition, max_matches=4)
        return standings_of(*args, **kwargs)

    monkeypatch.setattr("arena.analysis.measures.verification.standings_of", standings_later)
    assert MEANWHILE in arena("verify", "t")


def test_corrections_are_not_compared_with_matches_that_are_corrected_meanwhile(home, bots):
    play(home, contest(bots, encounters=2), max_matches=12)
    before = home.store.tournament("t")
    void_matches(home.store, "t", [3], reason="x")
    assert verify(home, before).problems == []


def test_counters_are_compared_with_what_was_recorded_at_the_same_time(home, bots, monkeypatch):
    definition = contest(bots, encounters=2)
    play(home, definition, max_matches=12)

    def counted_before_others_are_recorded(connection, number):
        values = counted(connection, number)
        monkeypatch.undo()
        play(home, definition, max_matches=4)
        return values

    monkeypatch.setattr("arena.store.results.tournament_reader.counted", counted_before_others_are_recorded)
    assert home.store.counter_problems(home.store.tournament("t")) == []


@pytest.mark.parametrize("command", ["export", "publish"])
def test_what_leaves_a_home_is_the_tournament_as_it_was_at_one_instant(
    home, bots, arena, tmp_path, monkeypatch, command
):
    definition, before = contest(bots, format="swiss", settings={"rounds": 3}), 7
    play(home, definition, max_matches=before)

    def corrected_before_records_are_read(corrections):
        monkeypatch.undo()
        with ArenaHome(home.directory) as other:
            play(other, definition, max_matches=4)
            void_matches(other.store, "t", [3], reason="x")
        return corrections_without_locations(corrections)

    for module in ("export", "new_tournament"):
        target = f"arena.tournament.transfer.{module}.corrections_without_locations"
        monkeypatch.setattr(target, corrected_before_records_are_read)
    if command == "publish":
        arena("publish", "t", str(tmp_path / "out"), "--no-matches")
        (file,) = (tmp_path / "out").glob("**/*.jsonl")
        exported = file.read_bytes()
    else:
        exported = arena("export", "t", "--whole").encode()
    assert home.store.tournament("t").corrections
    with ArenaHome(tmp_path / "there") as there:
        (taken,) = import_records(there, exported.splitlines(keepends=True))
        assert (taken.refusal, taken.taken) == (None, before)
        assert verify(there, "t").problems == []


KILLED = """
import os, signal, sys
from arena.tournament.corrections.entrants import disqualify
from arena.store.home import ArenaHome
from arena.store.results import correction_log

directory, url = sys.argv[1:]
correction_log._update = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the last step of the transaction
with ArenaHome(directory, store=url or None) as home:
    disqualify(home.store, "t", "bob", reason="copied")
"""

VOIDING = """
import sys
from arena.base.errors import StoreError
from arena.store.home import ArenaHome
from arena.tournament.corrections.corrected_tournament import void_matches

directory, url, *matches = sys.argv[1:]
with ArenaHome(directory, store=url or None) as home:
    print("ready", flush=True)
    sys.stdin.readline()
    for match in map(int, matches):
        try:
            print(match, void_matches(home.store, "t", [match], reason="the power failed").number)
        except StoreError as error:
            print(match, error)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def played(url, tmp_path):
    with ArenaHome(tmp_path / "home", store=url or None) as home:
        play(home, contest(write_bots(tmp_path / "bots", ("ann", "bob", "cid", "dan"))))
        yield home


def started(program, home, url, *arguments):
    command = [sys.executable, "-c", program, str(home.directory), url, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow(sample=True)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_correction_that_is_killed_has_not_happened_and_can_be_repeated(played, url):
    before, table = records(played), tabled(played)
    killed = started(KILLED, played, url)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    stored = played.store.tournament("t")
    assert (stored.corrections, stored.recorded, stored.scheduled) == ((), 12, 12)
    assert (records(played), tabled(played)) == (before, table)
    assert verify(played, stored) == (12, [])
    assert disqualify(played.store, "t", "bob", reason="copied").number == 1
    assert verify(played, played.store.tournament("t")) == (6, [])


@pytest.mark.slow
def test_corrections_of_two_processes_happen_one_after_the_other_or_are_refused(played, url):
    voiding = [started(VOIDING, played, url, *range(first, 13, 2)) for first in (1, 2)]
    for process in voiding:
        assert process.stdout.readline() == "ready\n"
    for process in voiding:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [line.split(" ", 1) for process in voiding for line in process.communicate(timeout=60)[0].splitlines()]
    assert len(answers) == 12
    made = {int(match): int(text) for match, text in answers if text.isdigit()}
    refused = {text for _, text in answers if not text.isdigit()}
    assert all(text.startswith("tournament 't' is being run by another director") for text in refused), refused
    stored = played.store.tournament("t")
    assert [c.number for c in stored.corrections] == sorted(made.values()) == list(range(1, len(made) + 1))
    assert {c.number: c.details.matches for c in stored.corrections} == {made[match]: (match,) for match in made}
    assert set(records(played)) == set(range(1, 13)) - set(made)
    assert verify(played, stored).problems == []
