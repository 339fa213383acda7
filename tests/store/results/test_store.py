import contextlib
import os
import re
import sqlite3
import struct
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import sqlalchemy

from arena.base.enums import CorrectionKind, FaultKind
from arena.base.errors import StoreAwayError, StoreError
from arena.base.records import Fault
from arena.store.people.people_store import PeopleStore
from arena.store.results.connection import Database
from arena.store.results.lock import director_file_lock
from arena.store.results.schema import SCHEMA_VERSION
from arena.store.results.store import Store
from arena.store.results.values import StoredBot
from arena.store.results.whole_database import bring_up_to_date
from tests.conftest import DATA
from tests.databases import change, on_both
from tests.store.results.samples import definition, line, record, void


@pytest.fixture
def tournament(store):
    return store.create_tournament(definition(), (line(match) for match in range(1, 1201)))


@on_both
def test_a_schedule_comes_back_as_it_was_written_without_what_has_a_record(store, tournament):
    assert (tournament.scheduled, tournament.recorded) == (1200, 0)
    assert list(store.unplayed(tournament)) == [line(match) for match in range(1, 1201)]
    store.record(tournament, [record(match) for match in range(1, 1201) if match % 3])
    assert [found.match for found in store.unplayed(tournament)] == list(range(3, 1201, 3))
    assert store.tournament("t").recorded == 800


def test_a_round_is_added_behind_what_was_scheduled(store, tournament):
    more = [replace(line(1201), round=2), replace(line(1202), round=2)]
    store.extend_schedule(tournament, more)
    assert list(store.unplayed(tournament))[-2:] == more
    store.record(tournament, [record(1), record(1201, ranks=[2, 1]), record(1202)])
    rounds = [[result.ranks for result in results] for results in store.results_by_round(tournament)]
    assert rounds == [[(1, 1)], [(2, 1), (1, 1)]]
    assert [len(results) for results in store.results_by_round(tournament, after=1)] == [2]


def test_a_tournament_is_finished_when_it_is_said_to_be_and_keeps_the_reasons_of_void_tries(store, tournament):
    assert tournament.finished_at is None
    store.set_finished(tournament, True)
    assert store.tournament("t").finished_at is not None
    store.change_definition(tournament, definition(encounters=9))
    assert store.tournament("t").finished_at is None
    assert store.tournament("t").definition.encounters == 9
    store.note_void(tournament, 3, "no memory\0 left")
    assert store.void_tries(tournament) == [(3, "no memory\\0 left")]


@on_both
def test_submitted_bots_are_listed_in_order(store):
    found = [StoredBot("a", version, "c", ".", "2026-01-01") for version in "12"]
    for bot in found:
        store.add_bot(bot)
    assert store.submitted_bots() == found


@pytest.mark.slow(sample=("sqlite",))
@on_both
def test_a_second_director_is_refused_and_the_lock_ends_with_its_holder(store, place):
    kind = "str" if isinstance(place, str) else "Path"
    code = (
        "import sys, time; from pathlib import Path; from arena.store.results.store import Store\n"
        f"with Store({kind}(sys.argv[1])).lock('t'):\n    print('held', flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=r"tournament 't' is being run by another director"), store.lock("t"):
            pass
        with store.lock("another"):
            pass
        holder.kill()
        holder.wait()
    deadline = time.monotonic() + 60
    while True:
        try:
            with store.lock("t"):
                return
        except StoreError:  # a server needs a moment to notice that its client is gone
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_database_of_a_newer_version_and_a_home_below_a_file_are_refused(tmp_path):
    path = tmp_path / "arena.sqlite3"
    Store(path).close()
    newer = SCHEMA_VERSION + 1
    change(path, f"UPDATE meta SET value = '{newer}' WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match=f"the database has version {newer}, and this arena knows {SCHEMA_VERSION}"):
        Store(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be written: Not a directory"):
        Store(tmp_path / "file" / "home" / "arena.sqlite3")


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        (lambda path: path.write_text("my shopping list, " * 100), "this file is no arena database"),
        (lambda path: change(path, "CREATE TABLE songs (title TEXT)"), "another program"),
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path, begin, message):
    path = tmp_path / "arena.sqlite3"
    begin(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=message):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("pragma", "message"),
    [
        ("max_page_count = 100", "the disk is full; nothing that was recorded is lost"),
        ("query_only = 1", "can't be written"),
    ],
)
def test_a_full_or_read_only_disk_is_told_and_nothing_recorded_is_lost(tmp_path, pragma, message):
    """SQLite's page limit stands in for a small disk: the error is the same SQLITE_FULL."""
    with contextlib.closing(Store(tmp_path / "arena.sqlite3")) as store:
        tournament = store.create_tournament(definition(), [line(match) for match in range(1, 1201)])
        store.record(tournament, [record(1)])
        sqlalchemy.event.listen(
            store._database._engine, "begin", lambda connection: connection.exec_driver_sql(f"PRAGMA {pragma}")
        )
        with pytest.raises(StoreError, match=message):
            for match in range(2, 1201):
                store.record(tournament, [record(match, notes=[[0, "x" * 5000]])])
        recorded = [found.match for found in store.records(tournament)]
        assert recorded == list(range(1, len(recorded) + 1)) != []


@pytest.fixture
def first_release(tmp_path):
    path = tmp_path / "arena.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript((DATA / "schema_1.sql").read_text())
    return path


def test_a_database_of_version_1_is_brought_up_to_date(first_release):
    with contextlib.closing(Store(first_release)) as store:
        half, whole = store.tournaments()
        assert (half.scheduled, half.recorded, half.finished_at) == (2, 1, None)
        assert (whole.scheduled, whole.recorded, whole.finished_at is None) == (1, 1, False)
        assert store.counter_problems(half) == store.counter_problems(whole) == []
        assert half.definition.settings == {}
        seen = [(bot.label, bot.command) for bot in half.definition.entrants]
        assert seen == [("minimal@1", ("x",)), ("greedy@2", ("y",))]
        assert [(found.match, found.round) for found in store.unplayed(half)] == [(2, 1)]
        store.record(half, [record(2, encounter=1)])
        assert [result.bots for result in store.results(half)] == [("minimal@1", "greedy@2"), ("a@1", "b@1")]


def test_a_database_that_another_creates_meanwhile_is_waited_for_half_a_minute(tmp_path):
    path = tmp_path / "arena.sqlite3"
    database = Database(path)
    with contextlib.closing(database), contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        clock, slept = iter(range(0, 1000, 20)), []
        now, database._now = database._now, lambda: next(clock)
        database._sleep = lambda seconds: None
        with pytest.raises(StoreError, match=r"arena.sqlite3: another program has kept the database locked for 30 s"):
            bring_up_to_date(database)

        def sleep_then_end(seconds):
            slept.append(seconds)
            if len(slept) == 3:
                other.execute("ROLLBACK")

        database._now, database._sleep = now, sleep_then_end
        bring_up_to_date(database)
        assert len(slept) == 3
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.fixture
def at_server(postgres_url):
    with contextlib.closing(Store(postgres_url)) as store:
        yield store, store.create_tournament(definition(), [line(match) for match in range(1, 11)])


def refuse_another(store):
    with pytest.raises(StoreError, match="being run by another director"), store.lock("t"):
        pass


def dumped(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_when_a_migration_fails_the_database_is_as_it_was(first_release, monkeypatch):
    dump = dumped(first_release)
    monkeypatch.setattr("arena.store.results.migrations._definition_2", lambda definition: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Store(first_release)
    assert dumped(first_release) == dump


def test_a_database_that_another_process_has_migrated_meanwhile_is_opened(first_release, monkeypatch):
    write, others = Database.write, []

    def write_after_another(database, work):
        if not others:
            others.append(None)
            Store(first_release).close()
        return write(database, work)

    monkeypatch.setattr(Database, "write", write_after_another)
    with contextlib.closing(Store(first_release)) as store:
        assert [tournament.recorded for tournament in store.tournaments()] == [1, 1]


@pytest.mark.slow
def test_a_server_that_comes_back_is_waited_for_and_nothing_is_lost_or_doubled(postgres, at_server):
    store, tournament = at_server
    with store.lock("t"):
        store.retry_for(60)
        store.record(tournament, [record(1)])
        postgres.stop()
        slept = []

        def sleep_then_start(seconds):
            slept.append(seconds)
            if len(slept) == 3:
                postgres.start()

        store._database._sleep = sleep_then_start
        store.record(tournament, [record(2), record(3)])
        assert len(slept) >= 3
        assert [found.match for found in store.records(tournament)] == [1, 2, 3]
        refuse_another(store)  # the lock was taken again


@pytest.mark.slow
def test_a_call_without_patience_does_not_cost_the_lock(postgres, at_server):
    """The server comes back between a call that gives up and the next one, which has to acquire the lock again."""
    store, tournament = at_server
    with store.lock("t"):
        postgres.stop()
        with pytest.raises(StoreAwayError):
            store.tournaments()
        postgres.start()
        store.record(tournament, [record(1)])
        refuse_another(store)


def test_a_server_that_stays_away_is_told_in_a_sentence(postgres, at_server):
    store, _ = at_server
    postgres.stop()
    try:
        message = r"postgresql://arena@/arena\d+.*: the database server can't be reached"
        with pytest.raises(StoreAwayError, match=message):
            store.tournaments()
        clock = iter(range(0, 1000, 20))
        store._database._now = lambda: next(clock)
        store._database._sleep = lambda seconds: None
        store.retry_for(60)
        with pytest.raises(StoreAwayError):
            store.tournaments()
    finally:
        postgres.start()


def test_what_was_committed_before_the_line_broke_is_not_written_twice(at_server, monkeypatch):
    """The worst moment: the server has committed, and the answer is lost."""
    store, tournament = at_server
    store.retry_for(60)
    store._database._sleep = lambda seconds: None
    transact, losses = store._database._transact, []

    def lose_the_answer(work, writes):
        value = transact(work, writes)
        if writes and not losses:
            losses.append(1)
            raise StoreAwayError("the answer is lost")
        return value

    monkeypatch.setattr(store._database, "_transact", lose_the_answer)
    store.record(tournament, [record(1), record(2)])
    assert losses
    assert [found.match for found in store.records(tournament)] == [1, 2]
    losses.clear()
    store.extend_schedule(tournament, [replace(line(11), round=2)])
    assert losses
    assert sum(1 for found in store.schedule(tournament) if found.round == 2) == 1


@on_both
def test_a_tournament_that_is_extended_twice_in_the_same_way_has_its_further_matches_once(store, tournament):
    for _ in range(2):
        store.change_definition(tournament, definition(encounters=9), lines=[replace(line(11), round=2)])
    assert sum(1 for found in store.schedule(tournament) if found.match == 11) == 1


@pytest.mark.parametrize("url", ["mysql://a@b/c", "nonsense", "postgresql+nothing", "postgresql://[::1/x"])
def test_a_url_that_is_none_of_ours_is_refused(url):
    with pytest.raises(StoreError, match="expected a URL such as postgresql://user@host/database"):
        Store(url)


def test_a_password_in_a_malformed_url_is_not_shown():
    with pytest.raises(StoreError, match=re.escape("store 'postgresql://***@host:x/d': expected a URL")):
        Store("postgresql://me:se@cret@host:x/d")


def test_a_password_is_not_shown():
    pytest.importorskip("psycopg", reason="needs psycopg")
    with pytest.raises(StoreError) as raised:
        Store("postgresql://me:secret@localhost:1/x")
    assert "secret" not in str(raised.value)
    assert "can't be reached" in str(raised.value)


@on_both
def test_kinds_are_read_as_members_from_every_database(store, tournament):
    """A driver of PostgreSQL adapts the types of columns, and must not lose what their values are passed through."""
    store.record(tournament, [record(1, faults=[Fault(seat=1, kind="exit", ply=0, detail="")])])
    assert store.faults_of("b@1")[0].kind is FaultKind.EXIT
    void(store, tournament, 1)
    assert store.tournament(tournament.name).corrections[0].kind is CorrectionKind.VOID


def journal_naming(victim, page_bytes=4096, pages=1):
    """Return the journal of a transaction over several databases that was interrupted: it changes nothing else."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    head = (magic + struct.pack(">5I", 0, 0, pages, 512, page_bytes)).ljust(512, b"\0")
    number = struct.pack(">I", 2**30 // page_bytes + 1)
    return head + number + name + struct.pack(">2I", len(name), sum(name)) + magic


@pytest.mark.parametrize("kind", [Store, PeopleStore])
def test_a_journal_from_elsewhere_removes_no_file(tmp_path, kind):
    victim, place = tmp_path / "thesis", tmp_path / "arena.sqlite3"
    victim.write_text("years")
    kind(place).close()
    journal, pages = tmp_path / "arena.sqlite3-journal", place.stat().st_size // 4096
    journal.write_bytes(journal_naming(victim, pages=pages))
    with pytest.raises(StoreError, match="-journal: it names a file that SQLite would remove"):
        kind(place)
    assert victim.exists()
    journal.write_bytes(journal.read_bytes()[:512])  # of one database: SQLite rolls back
    kind(place).close()
    journal.unlink(missing_ok=True)
    os.mkfifo(journal)
    with pytest.raises(StoreError, match="-journal: can't be read: it is no ordinary file"):
        kind(place)


@pytest.mark.parametrize("name", ["what?mode=ro", "why?uri=true", "x%41", "x#y"])
def test_a_path_is_taken_as_it_is(tmp_path, name):
    (tmp_path / name).mkdir()
    Store(tmp_path / name / "arena.sqlite3").close()
    assert (tmp_path / name / "arena.sqlite3").exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


ENDLESS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)"
ACTIVE = {
    "view": f"CREATE VIEW Tournaments AS {ENDLESS} SELECT hidden.* FROM hidden, numbers",
    "trigger": f"CREATE TRIGGER t AFTER UPDATE ON hidden BEGIN INSERT INTO voids {ENDLESS} SELECT n FROM numbers; END",
}


@pytest.mark.parametrize("kind", ACTIVE)
def test_a_database_that_acts_when_it_is_read_is_refused(tmp_path, kind):
    place = tmp_path / "arena.sqlite3"
    Store(place).close()
    with contextlib.closing(sqlite3.connect(place)) as database:
        database.execute("CREATE VIEW mine AS SELECT name FROM tournaments")
    Store(place).close()
    with contextlib.closing(sqlite3.connect(place)) as database:
        database.execute("DROP VIEW mine")
        database.execute("ALTER TABLE tournaments RENAME TO hidden")
        database.execute(ACTIVE[kind])
    with pytest.raises(StoreError, match=f"the {kind} .* is no part of an arena's database"):
        Store(place)


def test_what_is_no_lock_is_not_overwritten(tmp_path):
    path = tmp_path / "cup.lock"
    path.write_text("[package]")
    with pytest.raises(StoreError, match="it is no lock of an arena"), director_file_lock(tmp_path, "cup"):
        pass
    assert path.read_text() == "[package]"
    path.write_text("12345\n")
    with director_file_lock(tmp_path, "cup"):
        assert path.read_text() == f"{os.getpid()}\n"
