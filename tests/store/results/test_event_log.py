"""Readers of the log, and of the signal that something was committed."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from arena.base.enums import EventKind
from arena.base.errors import StoreError
from arena.store.results.commit_signal import Commits
from arena.store.results.events import EventDetails
from arena.store.results.store import Store
from tests.databases import on_both
from tests.store.results.samples import definition, line, record


@pytest.fixture
def tournament(store):
    tournament = store.create_tournament(definition(), [line(match) for match in range(1, 11)])
    for match in range(1, 11):
        store.record(tournament, [record(match)])
    return tournament


@on_both
def test_events_are_read_from_a_place_on(store, tournament):
    assert store.events.topics() == {"tournament/1": 11}
    found = store.events.after("tournament/1", 8)
    assert [(event.topic, event.seq, event.kind, event.details) for event in found] == [
        ("tournament/1", seq, EventKind.RESULTS, EventDetails(matches=(seq - 1,), match_count=1)) for seq in (9, 10, 11)
    ]
    assert found[0].at >= tournament.created_at
    assert [event.seq for event in store.events.after("tournament/1", 0, limit=2)] == [1, 2]
    assert [event.seq for event in store.events.last("tournament/1", 3)] == [11, 10, 9]
    assert store.events.after("tournament/1", 11) == store.events.after("tournament/2", 0) == []


@pytest.mark.parametrize("body", ["[]", "{", '{"matches":["1"]}', '{"luck":1}', "[" * 5000])
def test_a_malformed_event_is_named(store, tournament, body):
    store._database.write(lambda c: c.exec_driver_sql(f"UPDATE events SET body = '{body}' WHERE seq = 3"))
    with pytest.raises(StoreError, match="event 3 of 'tournament/1': its details"):
        store.events.after("tournament/1", 1)


@on_both
def test_a_commit_of_another_changes_the_signal(store, tournament, place):
    signal = store.commit_signal()
    with closing(signal), closing(Store(place)) as other:
        before = signal.read()
        assert signal.read() == before
        other.set_finished(tournament, True)
        after = signal.read()
        assert after != before
        assert signal.read() == after


def test_a_file_that_was_damaged_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "arena.sqlite3"
    with closing(Store(path)) as store, closing(store.commit_signal()) as signal:
        signal.read()
        path.write_bytes(b"damaged" * 1000)
        path.with_name("arena.sqlite3-wal").write_bytes(b"")
        with pytest.raises(StoreError, match=r"arena.sqlite3: the database is damaged"):
            signal.read()


@on_both
def test_it_is_time_to_look_at_first_after_commits_and_now_and_then(store, tournament, place):
    seconds = [100.0]
    with (
        closing(Commits([store.commit_signal(), store.commit_signal()], 5.0, lambda: seconds[0])) as commits,
        closing(Store(place)) as other,
    ):
        assert [commits.are_new() for _ in range(3)] == [True, False, False]
        other.set_finished(tournament, True)
        assert [commits.are_new() for _ in range(3)] == [True, False, False]
        seconds[0] += 4.9
        assert not commits.are_new()
        seconds[0] += 0.1
        assert [commits.are_new() for _ in range(3)] == [True, False, False]


def test_a_commit_that_others_have_overtaken_changes_the_signal(postgres_url):
    """A transaction that began before another one and ends after it."""
    with closing(Store(postgres_url)) as store:
        for name in ("t", "u"):
            store.create_tournament(definition(name=name), [line(1)])
        signal = store.commit_signal()
        with closing(signal):

            def overtaken(connection):
                connection.exec_driver_sql("UPDATE tournaments SET created_at = 'x' WHERE id = 1")
                store.set_finished(store.tournament("u"), True)
                return signal.read()

            during = store._database.write(overtaken)
            assert signal.read() != during


def test_another_file_in_the_place_of_the_database_is_noticed(tmp_path):
    path = tmp_path / "arena.sqlite3"
    with closing(Store(tmp_path / "new.sqlite3")) as new:
        new.create_tournament(definition(name="new"), [line(1)])
    with closing(sqlite3.connect(tmp_path / "new.sqlite3")) as connection:
        connection.execute("PRAGMA wal_checkpoint(truncate)")
    with closing(Store(path)) as store:
        signal = store.commit_signal()
        with closing(signal):
            before = signal.read()
            assert [t.name for t in store.tournaments()] == []
            for ending in ("-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            (tmp_path / "new.sqlite3").replace(path)
            assert signal.read() != before
            assert [t.name for t in store.tournaments()] == ["new"]
            shutil.move(path, tmp_path / "away")
            with pytest.raises(StoreError, match="can't be read"):
                signal.read()
            shutil.move(tmp_path / "away", path)
            assert signal.read()
