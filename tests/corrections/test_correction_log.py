"""What a correction does in the store: to the matches it names, of its own tournament, once."""

import sqlite3

import pytest

from arena.analysis.verification import verify
from arena.corrections import disqualify, undo_correction, void_matches, withdraw
from arena.enums import FaultKind
from tests.corrections.contest import contest, play, records, write_bots

BOTS = ("ann", "bob", "illegal")
TABLES = ("records", "faults", "matches", "skipped", "set_aside", "corrections")


@pytest.fixture
def bots(tmp_path):
    """The third one loses by illegal actions."""
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


def test_corrections_of_the_same_numbers_in_another_tournament_make_no_difference(home, bots):
    for name in ("t", "other"):
        play(home, contest(bots, name=name, encounters=2), max_matches=9)
        withdraw(home.store, name, "ann", reason="x")
        disqualify(home.store, name, "illegal", reason="x")
        void_matches(home.store, name, sorted(records(home, name))[:1], reason="x")
    before, stored = rows_of(home, "other"), home.store.tournament("other")
    assert all(before[table] for table in ("set_aside", "skipped", "corrections"))
    for _ in range(3):
        undo_correction(home.store, "t", reason="x")
    assert play(home, contest(bots, encounters=2)).is_complete
    assert rows_of(home, "other") == before
    assert home.store.tournament("other") == stored


def test_what_was_played_again_is_set_aside_when_the_void_matches_count_again(home, bots):
    play(home, contest(bots))
    before = records(home)
    void_matches(home.store, "t", [1, 2], reason="the power failed")
    play(home, contest(bots))
    undo_correction(home.store, "t", reason="it had not")
    stored = home.store.tournament("t")
    assert records(home) == before
    assert [(match, number) for match, number, _ in home.store.corrections.set_aside(stored)] == [(1, 2), (2, 2)]
    assert verify(home, stored) == (6, [])


def test_the_faults_of_matches_that_do_not_count_do_not_count_either(home, bots):
    play(home, contest(bots))
    faults, before = home.store.fault_counts(home.store.tournament("t")), rows_of(home, "t")["faults"]
    assert {kind for counts in faults.values() for kind in counts} == {FaultKind.ILLEGAL}
    disqualify(home.store, "t", "illegal", reason="x")
    assert home.store.fault_counts(home.store.tournament("t")) == {}
    assert rows_of(home, "t")["faults"] == []
    undo_correction(home.store, "t", reason="x")
    assert home.store.fault_counts(home.store.tournament("t")) == faults
    assert rows_of(home, "t")["faults"] == before


def test_a_correction_whose_commit_is_in_doubt_is_made_once(home, bots, monkeypatch):
    """A server went away after the commit, and before it answered."""
    play(home, contest(bots))
    database = home.store.corrections._database
    write = database.write

    def write_twice(work, again):
        write(work)
        return write(again)

    monkeypatch.setattr(database, "write", write_twice)
    made = void_matches(home.store, "t", [1, 2], reason="x")
    assert home.store.tournament("t").corrections == (made,)
    assert verify(home, home.store.tournament("t")).problems == []


def test_a_finished_tournament_that_stays_finished_keeps_its_end(home, bots, monkeypatch):
    play(home, contest(bots))
    before = home.store.tournament("t").finished_at
    assert before is not None
    monkeypatch.setattr("arena.store.correction_log.utc_now", lambda: "2199-01-01T00:00:00+00:00")
    disqualify(home.store, "t", "ann", reason="x")
    assert home.store.tournament("t").finished_at == before
