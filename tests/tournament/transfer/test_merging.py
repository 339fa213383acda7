"""Two homes become one: nothing is lost, nothing is there twice, and nothing is believed unchecked."""

import contextlib
import json
import os
import shutil
import sqlite3
from dataclasses import replace
from functools import partial

import pytest

import arena.store.results.addition
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.base.definition import GameChoice
from arena.base.errors import StoreError, UnknownNameError
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from arena.tournament.transfer.merging import merge_home
from tests.conftest import STORED
from tests.databases import change
from tests.tournament.transfer.played import (
    bot,
    definition_of,
    exported,
    forfeited,
    play,
    play_rounds,
    played,
    refusal_of,
)

CUP = definition_of(encounters=2)  # 6 pairings, 2 encounters, 2 seat rotations: 24 matches
SWISS = definition_of("swiss", "abcd", format="swiss", settings={"rounds": 3})
LADDER = definition_of("ladder", "abcd", format="ladder")


def is_odd(match):
    return match % 2 == 1


def is_even(match):
    return match % 2 == 0


def merged(home, other, *names, **options):
    (result,) = merge_home(home, other.directory, names, **options)
    return result


def tampered(home, statement, *values):
    change(home.directory / "arena.sqlite3", statement, *values)


refusal = partial(refusal_of, merged)


def edited(home, number, **changes):
    record = {**json.loads(exported(home.store, "cup")[number - 1]), **changes}
    tampered(home, "UPDATE records SET record = ? WHERE match = ?", json.dumps(record), number)


def table_of(home, name):
    lines = standings_of(home.store, name).lines
    return [(line.label, line.rank, line.points, line.matches, line.rating) for line in lines]


def test_two_halves_are_the_same_as_a_tournament_played_as_a_whole(here, there, tmp_path):
    play(here.store, CUP, is_even)
    play(there.store, CUP, is_odd)
    result = merged(here, there)
    assert (result.taken, result.already_here, result.left, result.is_finished) == (12, 0, 0, True)
    with ArenaHome(tmp_path / "whole") as whole:
        play(whole.store, CUP)
        assert exported(here.store, "cup") == exported(whole.store, "cup")
        assert table_of(here, "cup") == table_of(whole, "cup")
    assert verify(here, here.store.tournament("cup")) == (24, [])
    assert here.store.tournament("cup").finished_at is not None


def test_merging_again_or_with_itself_brings_nothing_new(here, there):
    play(here.store, CUP, is_odd)
    play(there.store, CUP, is_even)
    merged(here, there)
    before = exported(here.store, "cup"), here.store.tournament("cup")
    result = merged(here, there)
    assert (result.taken, result.already_here, result.has_changed) == (0, 12, False)
    assert merged(here, here).has_changed is False
    assert (exported(here.store, "cup"), here.store.tournament("cup")) == before


def test_a_match_that_was_played_on_both_sides_stays_as_it_is_here(here, there):
    play(here.store, CUP, lambda match: match <= 16, by="here")
    play(there.store, CUP, lambda match: match > 8, by="there")
    before = exported(here.store, "cup")
    result = merged(here, there)
    assert (result.taken, result.differing, result.already_here) == (8, 8, 0)
    assert 0 < result.differing_results <= 8
    assert exported(here.store, "cup")[:16] == before


def test_a_tournament_that_is_not_here_is_taken_whole(here, there):
    play(there.store, CUP, is_odd)
    tournament = there.store.tournament("cup")
    line = next(there.store.unplayed(tournament))
    there.store.record(tournament, [row_of(forfeited(played(CUP, line), seat=1))])
    there.store.note_void(tournament, 4, "the worker was killed")
    result = merged(here, there)
    assert (result.is_new, result.taken, result.lines_taken, result.left) == (True, 13, 24, 11)
    taken = here.store.tournament("cup")
    assert exported(here.store, "cup") == exported(there.store, "cup")
    assert list(here.store.schedule(taken)) == list(there.store.schedule(tournament))
    assert here.store.void_tries(taken) == [(4, "the worker was killed")]
    assert here.store.fault_counts(taken) == there.store.fault_counts(tournament) != {}
    assert taken.created_at == tournament.created_at
    assert taken.definition.identity() == CUP.identity()
    assert verify(here, taken) == (13, [])
    assert merged(here, there).has_changed is False


def test_a_tournament_that_only_says_it_is_finished_is_not(here, there):
    play(there.store, CUP, is_odd)
    there.store.set_finished(there.store.tournament("cup"), True)
    assert merged(here, there).is_finished is False
    assert here.store.tournament("cup").finished_at is None


def test_where_bots_were_on_the_other_machine_is_not_taken(here, there):
    directory = "/home/somebody/bots/a"
    program = f"{directory}/main.py"
    mine = replace(bot("a"), command=("python", program, "--deep"), directory=directory, own_files=(program,))
    play(there.store, replace(CUP, entrants=(mine, *CUP.entrants[1:])))
    assert merged(here, there).absent_bots == ("a@1", "b@1", "c@1", "d@1")
    entrants = here.store.tournament("cup").definition.entrants
    assert {(entrant.command[0], entrant.directory, entrant.own_files) for entrant in entrants} == {("", "", ())}
    program = "/here/main.py"
    moved = replace(mine, command=("python", program, "--deep"), directory="/here", own_files=(program,))
    identity = replace(CUP, entrants=(moved, *CUP.entrants[1:])).identity()
    assert identity == here.store.tournament("cup").definition.identity()


def test_all_tournaments_are_taken_or_those_that_are_named(here, there):
    for name in ("cup", "plate", "vase"):
        play(there.store, replace(CUP, name=name), is_odd)
    assert [result.name for result in merge_home(here, there.directory, ["plate"])] == ["plate"]
    assert [tournament.name for tournament in here.store.tournaments()] == ["plate"]
    results = merge_home(here, there.directory)
    assert [(result.name, result.is_new) for result in results] == [("cup", True), ("plate", False), ("vase", True)]
    with pytest.raises(UnknownNameError, match="unknown tournament 'cap': did you mean 'cup'"):
        merge_home(here, there.directory, ["cap"])


def test_rounds_that_were_played_on_are_taken(here, there, tmp_path):
    play_rounds(here.store, SWISS, 1)
    play_rounds(there.store, SWISS, 3)
    earlier = merged(there, here)
    assert (earlier.already_here, earlier.has_changed, earlier.refusal) == (4, False, None)
    result = merged(here, there)
    assert (result.already_here, result.taken, result.lines_taken) == (4, 8, 8)
    assert exported(here.store, "swiss") == exported(there.store, "swiss")


@pytest.mark.parametrize("is_new", [True, False])
def test_that_a_tournament_is_finished_is_taken(is_new, here, there):
    play_rounds(there.store, SWISS, 3)
    if not is_new:
        play_rounds(here.store, SWISS, 3)
        assert merged(here, there).is_finished is False
    there.store.set_finished(there.store.tournament("swiss"), True)
    assert merged(here, there).is_finished
    finished_at = here.store.tournament("swiss").finished_at
    assert finished_at is not None
    if is_new:
        assert finished_at == there.store.tournament("swiss").finished_at


def test_schedules_that_have_gone_two_ways_are_refused(here, there):
    play_rounds(here.store, SWISS, 3, by="here")
    play_rounds(there.store, SWISS, 3, by="there")
    before = exported(here.store, "swiss")
    assert "its schedules differ from match 5 on" in merged(here, there).refusal
    assert exported(here.store, "swiss") == before


def test_rounds_that_follow_from_other_results_are_refused(here, there):
    play(here.store, SWISS, by="here")
    play_rounds(there.store, SWISS, 2, by="there")
    message = "ended otherwise there than here, and the rounds that followed there depend on it"
    assert message in refusal(here, there)
    assert here.store.last_round(here.store.tournament("swiss")) == 1


def test_a_ladder_that_has_grown_is_taken(here, there):
    play_rounds(here.store, LADDER, 1)
    play_rounds(there.store, LADDER, 1)
    grown = replace(LADDER, entrants=(*LADDER.entrants, bot("e")))
    there.store.change_definition(there.store.tournament("ladder"), grown)
    play_rounds(there.store, grown, 3)
    result = merged(here, there)
    assert result.refusal is None
    assert result.taken > 0
    taken = here.store.tournament("ladder")
    assert [entrant.label for entrant in taken.definition.entrants] == ["a@1", "b@1", "c@1", "d@1", "e@1"]
    assert taken.definition.entrants[0].directory == "/bots/a"
    assert exported(here.store, "ladder") == exported(there.store, "ladder")
    assert merged(there, here).has_changed is False


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"rng_seed": 7}, "rng_seed"),
        ({"opening_plies": 1, "encounters": 3}, "encounters, opening_plies"),
        ({"entrants": (*CUP.entrants[:3], bot("e"))}, "the missing entrant 'e@1', the new entrant 'd@1'"),
        ({"entrants": (replace(CUP.entrants[0], digest="other"), *CUP.entrants[1:])}, "the bot 'a@1'"),
    ],
)
def test_two_tournaments_of_one_name_are_refused(changes, differing, here, there):
    play(here.store, CUP, is_odd)
    play(there.store, replace(CUP, **changes), is_even)
    before = exported(here.store, "cup")
    assert merged(here, there).refusal == (
        f"tournament 'cup': the one here has another definition, which differs in {differing};"
        " `arena tournament rename` gives one of them another name; nothing of it was taken"
    )
    assert exported(here.store, "cup") == before


def test_a_tournament_that_is_being_run_here_is_refused(here, there):
    play(here.store, CUP, is_odd)
    play(there.store, CUP, is_even)
    with here.store.lock("cup"):
        assert "is being run by another director" in merged(here, there).refusal
    assert len(exported(here.store, "cup")) == 12


EDITS = [
    ({"ranks": [1, 1]}, "ranks are recorded as [1, 1], but by the rules they are"),
    ({"scores": [99, 0]}, "scores are recorded as [99, 0], but by the rules"),
    ({"bots": ["d@1", "z@1"]}, "bots = ['d@1', 'z@1'], but the schedule has"),
    ({"rng_seed": 1}, "rng_seed = 1, but the schedule has"),
    ({"opening": 9}, "opening = 9, but the schedule has 0"),
    ({"opening_plies": 0}, "opening_plies = 0, but the schedule has 2"),
    ({"encounter": 9}, "encounter = 9, but the schedule has 1"),
    ({"match": 9}, "match = 9, but the schedule has 2"),
    ({"game": "plaid"}, "game = 'plaid', but the schedule has 'multiplication'"),
    ({"game": "os:system"}, "game = 'os:system', but the schedule has 'multiplication'"),
    ({"options": {"size": 900}}, "options = {'size': 900}, but the schedule has"),
    ({"actions": [[0, [9, 9]], [1, [9, 9]]], "wall_seconds": [1, 1], "cpu_seconds": [1, 1]}, "actions of the opening"),
    ({"time_control": {"per_action_seconds": 9.0}}, "time_control = "),
    ({"actions": 7}, "actions = 7; expected a list"),
    ({"colour": 7}, "has a field 'colour' that this arena does not know"),
]


@pytest.mark.parametrize(("changes", "message", "recorded"), [*((*edit, 12) for edit in EDITS), (*EDITS[0], 0)])
def test_a_record_that_was_changed_is_refused(changes, message, recorded, here, there):
    play(there.store, CUP)
    edited(there, 2, **changes)
    if recorded:
        play(here.store, CUP, is_odd)
    sentence = refusal(here, there)
    assert sentence.startswith("tournament 'cup': match 2: ") and message in sentence
    assert [tournament.recorded for tournament in here.store.tournaments()] == [recorded] * bool(recorded)
    play(here.store, CUP)  # and so it is if that match has a record here
    assert message in merged(here, there).refusal


def test_one_refused_tournament_leaves_the_others(here, there):
    play(there.store, CUP)
    play(there.store, replace(CUP, name="plate"))
    tampered(there, "UPDATE records SET record = '{' WHERE tournament_id = 1 AND match = 3")
    cup, plate = merge_home(here, there.directory)
    assert "match 3: the record is not JSON" in cup.refusal
    assert (plate.refusal, plate.taken) == (None, 24)
    assert [tournament.name for tournament in here.store.tournaments()] == ["plate"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE tournaments SET name = '../../evil'", "expected 1 to 64 letters"),
        ("UPDATE tournaments SET name = printf('%.*c', 1000000, 'x')", "its name is longer than 64 characters"),
        ("UPDATE tournaments SET created_at = 'yesterday'", "created_at = 'yesterday': expected a time"),
        ("UPDATE tournaments SET definition = '[]'", "expected an object, got a list"),
        ("UPDATE tournaments SET definition = printf('%.*c', 200000, '[')", "nested too deeply"),
        ("UPDATE tournaments SET definition = replace(definition, '\"size\":7', '\"size\":900')", "size = 900"),
        ("UPDATE tournaments SET definition = replace(definition, 'round-robin', 'tarot')", "unknown format 'tarot'"),
        ("UPDATE tournaments SET definition = replace(definition, 'multiplication', 'antigravity:x')", "antigravity:x"),
        ("UPDATE tournaments SET definition = replace(definition, '},\"players\":2', '},\"players\":3')", "malformed"),
        ("UPDATE tournaments SET definition = replace(definition, '\"b\"', '\"\\u001b[2J\"')", "name '\\x1b[2J'"),
        ("UPDATE matches SET rng_seed = rng_seed + 1 WHERE match = 7", "match 7 of its schedule is not what follows"),
        ("UPDATE matches SET seats = '[0,9]' WHERE match = 7", "match 7 of tournament 'cup'"),
        ("UPDATE matches SET seats = x'00ff' WHERE match = 7", "where text belongs"),
        ("DELETE FROM matches WHERE match = 24", "match 24 of its schedule is not what follows"),
        ("UPDATE records SET match = 25 WHERE match = 24", "match 25 has a record, but is not in the schedule"),
        ("INSERT INTO skipped VALUES (1, 5, 1)", "match 5 names correction 1, but no such"),
        ("INSERT INTO skipped VALUES (1, 99, 1)", "match 99 names correction 1, but no such"),
        ("INSERT INTO voids VALUES (1, 1, -5, 'x', '2026-01-31')", "match -5 has a void try"),
        ("INSERT INTO voids VALUES (1, 1, 5, 'x', 'now')", "the time of a void try of match 5 = 'now'"),
        ("INSERT INTO corrections VALUES (1, 2, 'void', '{}', 'x', '2026-01-31')", "corrections has the numbers [2]"),
        ("INSERT INTO corrections VALUES (1, 1, 'bribe', '{}', 'x', '2026-01-31')", "where a kind of correction"),
        (
            "INSERT INTO set_aside SELECT 1, 5, 3, encounter, game, bots, ranks, termination, 'x', 'y', record, '[]'"
            " FROM records WHERE match = 5",
            "match 5 names correction 3, but no such correction stands",
        ),
        ("UPDATE records SET record = printf('%.*c', 20000000, ' ') WHERE match = 3", "larger than an arena stores"),
        ("CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n", "view"),
        ("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM records; END", "trigger 't'"),
        ("CREATE TABLE big (x TEXT, y TEXT GENERATED ALWAYS AS (printf('%.*c', 9999999, 'x')))", "table 'big'"),
        ("CREATE TABLE big (x TEXT CHECK (length(x) < 5))", "table 'big'"),
        ("CREATE INDEX i ON meta (upper(value))", "index 'i'"),
        ("UPDATE meta SET value = '99'", "has version 99, and this arena knows"),
        ("UPDATE meta SET value = 'x'", "version is 'x'; expected a number"),
        ("DROP TABLE records", "no such table: records"),
    ],
)
def test_a_forged_tournament_or_database_is_refused_in_one_sentence(statement, message, here, there):
    play(there.store, CUP)
    tampered(there, statement)
    assert message in refusal(here, there)
    assert here.store.tournaments() == []


def test_an_external_game_is_imported_only_if_it_is_allowed(here, there, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "merged_game.py").write_text("from arena.games.multiplication import Multiplication as Game\n")
    choice = GameChoice(game="merged_game:Game", options=CUP.games[0].options, players=2)
    play(there.store, replace(CUP, games=(choice,)))
    assert "--external-game merged_game:Game" in merged(here, there).refusal
    assert merged(here, there, external_games=["merged_game:Game"]).taken == 24


def written(path, ending, data=b""):
    (path / f"arena.sqlite3{ending}").write_bytes(data)


NO_HOMES = {
    "nowhere": (lambda path: path.rmdir(), "expected a directory that holds arena.sqlite3"),
    "empty": (lambda path: None, "there is no arena database here"),
    "a link": (lambda path: (path / "arena.sqlite3").symlink_to("/etc/passwd"), "expected an ordinary file"),
    "a pipe": (lambda path: os.mkfifo(path / "arena.sqlite3"), "expected an ordinary file"),
    "a pipe beside it": (lambda path: (written(path, ""), os.mkfifo(path / "arena.sqlite3-wal")), "-wal: expected an"),
    "a text": (lambda path: written(path, "", b"this is a diary\n" * 1000), "this file is no arena database"),
    "another program": (lambda path: change(path / "arena.sqlite3", "CREATE TABLE notes (text)"), "another program"),
    "unfinished": (lambda path: (written(path, ""), written(path, "-journal", b"/etc/passwd")), "in the middle of it"),
    "endless": (lambda path: (written(path, ""), os.truncate(path / "arena.sqlite3", 2**42)), "4194304 MiB"),
}


@pytest.mark.parametrize("kind", NO_HOMES)
def test_what_is_no_home_is_refused_in_one_sentence(kind, here, tmp_path):
    make, message = NO_HOMES[kind]
    place = tmp_path / "odd"
    place.mkdir()
    make(place)
    with pytest.raises(StoreError, match=message) as refused:
        merge_home(here, place)
    assert "\n" not in str(refused.value)
    assert "copy.sqlite3" not in str(refused.value)


@pytest.mark.parametrize("text", ["a\0b", "x" * 5000, ""])
def test_what_is_no_path_is_refused_in_one_sentence(text, here):
    with pytest.raises(StoreError):
        merge_home(here, text)


def rewritten(path, change):
    path.write_bytes(change(path.read_bytes()))


def with_pages_used_twice(path):
    root = "(SELECT rootpage FROM sqlite_master WHERE name = 'skipped')"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"UPDATE sqlite_master SET rootpage = {root} WHERE name = 'seasons'")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: rewritten(path, lambda data: data.replace(b"TABLE voids", b"TABLE \xff\xff\xff\xff\xff")),
        lambda path: rewritten(path, lambda data: data[:8192] + b"\xff" * 4096 + data[12288:]),
        with_pages_used_twice,
    ],
)
def test_a_damaged_database_is_refused(damage, here, there):
    play(there.store, CUP)
    there.close()
    damage(there.directory / "arena.sqlite3")
    with pytest.raises(StoreError, match="the database is damaged"):
        merge_home(here, there.directory)


def files_of(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_a_home_that_is_in_use_is_read_as_it_is(here, there):
    play(there.store, CUP, is_odd)
    with contextlib.closing(sqlite3.connect(there.directory / "arena.sqlite3", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM records")
        assert merged(here, there).taken == 12
        writer.execute("ROLLBACK")


@pytest.mark.parametrize("endings", [("", "-wal"), ("", "-wal", "-shm")])
def test_what_a_killed_run_has_left_is_taken_and_stays_as_it_is(endings, here, there, tmp_path):
    play(there.store, CUP)  # its records are in the write ahead log as long as the store is open
    killed = tmp_path / "killed"
    killed.mkdir()
    for ending in endings:
        shutil.copyfile(f"{there.directory}/arena.sqlite3{ending}", killed / f"arena.sqlite3{ending}")
    database, log = (killed / "arena.sqlite3").read_bytes(), (killed / "arena.sqlite3-wal").read_bytes()
    (result,) = merge_home(here, killed)
    assert result.taken == 24
    assert (killed / "arena.sqlite3").read_bytes() == database
    assert (killed / "arena.sqlite3-wal").read_bytes() == log


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(path.name for path in (STORED / "homes").iterdir()))
def test_a_home_of_an_earlier_version_is_taken_and_not_changed(here, version, tmp_path):
    home = STORED / "homes" / version
    copy = tmp_path / "earlier"
    shutil.copytree(home, copy)
    results = merge_home(here, copy)
    names = ("round robin", "swiss", "ladder", "faults")
    assert {result.name: result.refusal for result in results} == dict.fromkeys(names)
    assert files_of(copy) == files_of(home)
    for tournament in here.store.tournaments():
        assert verify(here, tournament) == (tournament.recorded, [])
    assert all(not result.has_changed for result in merge_home(here, copy))


@pytest.mark.parametrize("is_new", [True, False])
def test_a_merge_that_is_interrupted_takes_nothing(is_new, here, there, monkeypatch):
    play(there.store, CUP)
    if not is_new:
        play(here.store, CUP, is_odd)
    insert = arena.store.results.addition.insert_records
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        insert(*arguments)

    monkeypatch.setattr(arena.store.results.addition, "insert_records", interrupted)
    monkeypatch.setattr(arena.store.results.addition, "RECORDS_AT_A_TIME", 5)
    with pytest.raises(KeyboardInterrupt):
        merge_home(here, there.directory)
    tournament = here.store.find_tournament("cup")
    assert (tournament.recorded if tournament else None) == (None if is_new else 12)
    monkeypatch.undo()
    assert merged(here, there).taken == (24 if is_new else 12)
