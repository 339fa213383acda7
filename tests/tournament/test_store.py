"""The store: what is written once is there once, whatever happens to the file."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import StoreError, UnknownNameError
from arena.records import MatchRecord, ScheduledMatch, TimeControl
from arena.store.rows import row_of
from arena.store.store import Store


def line(match):
    return ScheduledMatch(match, (match + 1) // 2, 0, (0, 1), 0, ((1, 2), "+"), 2**63 - match)


def record(match, **changes):
    values = {
        "match": match, "tournament": "t", "game": "differences", "options": {"size": 2}, "bots": ["a@1", "b@1"],
        "rng_seed": 1, "encounter": 1, "opening": 0, "opening_plies": 0, "actions": [[0, (1, 1)], [1, (2, 2)]],
        "scores": [1, 1], "ranks": [1, 1], "termination": "normal", "faults": [], "wall_seconds": [0.1, 0.2],
        "cpu_seconds": [None, None], "seats": [], "notes": [], "time_control": TimeControl(), "isolation": "none",
    }  # fmt: skip
    return row_of(MatchRecord(**{**values, **changes}))


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "arena.sqlite3")
    yield store
    store.close()


@pytest.fixture
def tournament(store):
    return store.create_tournament("t", {"entrants": []}, (line(match) for match in range(1, 1201)))


def test_a_schedule_comes_back_as_it_was_written(store, tournament):
    assert (tournament.scheduled, tournament.recorded) == (1200, 0)
    lines = list(store.unplayed(tournament))
    assert lines == [line(match) for match in range(1, 1201)]


def test_what_has_a_record_is_not_played_again(store, tournament):
    store.record(tournament, [record(match) for match in range(1, 1201) if match % 3])
    assert [found.match for found in store.unplayed(tournament)] == list(range(3, 1201, 3))
    assert store.tournament("t").recorded == 800


def test_a_match_is_recorded_once_or_not_at_all(store, tournament):
    store.record(tournament, [record(5)])
    with pytest.raises(StoreError):
        store.record(tournament, [record(4), record(5), record(6)])
    assert [found["match"] for found in store.records(tournament)] == [5]


def test_results_are_counted_with_their_repeats(store, tournament):
    """From opening A bots a and b always play the same; from opening B they vary; b and a, seats swapped, met once."""
    opening_b = {"opening_plies": 1, "actions": [[0, (2, 1)], [1, (1, 2)]]}
    varied = {**opening_b, "ranks": [1, 2]}
    rows = [record(1), record(2), record(3), record(4, **opening_b), record(5, **opening_b), record(6, **varied)]
    store.record(tournament, [*rows, record(7, bots=["b@1", "a@1"])])
    counts = {(result.bots, result.ranks): (result.matches, result.rated) for result in store.results(tournament)}
    assert counts == {
        (("a@1", "b@1"), (1, 1)): (5, 1 + 2),
        (("a@1", "b@1"), (1, 2)): (1, 1),
        (("b@1", "a@1"), (1, 1)): (1, 1),
    }


def test_records_come_in_match_order_piece_by_piece(store, tournament):
    for start in (601, 1):
        store.record(tournament, [record(match) for match in range(start, start + 600)])
    assert [found["match"] for found in store.records(tournament)] == list(range(1, 1201))


def test_unknown_names_are_refused_with_the_known_ones(store, tournament):
    with pytest.raises(UnknownNameError, match="unknown tournament 'x': known are t"):
        store.tournament("x")
    with pytest.raises(StoreError, match="match 7 of tournament 't' has no record"):
        store.record_of(tournament, 7)


def test_a_second_director_is_refused_and_the_lock_ends_with_its_holder(store, tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from arena.store.lock import DirectorLock\n"
        "with DirectorLock(Path(sys.argv[1]), 't'):\n    print('held', flush=True); time.sleep(1000)"
    )
    locks = store.path.with_name("locks")
    with subprocess.Popen([sys.executable, "-c", code, str(locks)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=rf"another director \(process {holder.pid}\)"), store.lock("t"):
            pass
        holder.kill()
        holder.wait()
    with store.lock("t"):
        pass


def test_a_database_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "arena.sqlite3"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '2' WHERE key = 'schema_version'")
    connection.close()
    with pytest.raises(StoreError, match="the database has version 2, and this arena knows 1"):
        Store(path)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "arena.sqlite3"
    path.write_text("my shopping list, which is long enough to be looked at" * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="this file is no arena database"):
        Store(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "arena.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_full_disk_is_told_and_nothing_recorded_is_lost(store, tournament):
    """SQLite's page limit stands in for a small disk: the error is the same SQLITE_FULL."""
    from sqlalchemy import event

    @event.listens_for(store._engine, "begin")
    def limit_pages(connection):
        connection.exec_driver_sql("PRAGMA max_page_count = 100")

    with pytest.raises(StoreError, match="the disk is full; nothing that was recorded is lost"):
        for match in range(1, 1201):
            store.record(tournament, [record(match, notes=[[0, "x" * 5000]])])
    recorded = [found["match"] for found in store.records(tournament)]
    assert recorded
    assert recorded == list(range(1, len(recorded) + 1))


def test_a_directory_that_can_not_be_written_is_told(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreError, match="can't be written: Permission denied"):
        Store(tmp_path / "home" / "arena.sqlite3")


def test_a_home_below_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be written"):
        Store(tmp_path / "file" / "home" / "arena.sqlite3")


def test_a_read_only_database_is_told(store, tournament):
    from sqlalchemy import event

    @event.listens_for(store._engine, "begin")
    def only_read(connection):
        connection.exec_driver_sql("PRAGMA query_only = 1")

    with pytest.raises(StoreError, match="can't be written"):
        store.record(tournament, [record(1)])
