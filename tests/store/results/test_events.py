import json
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import select

from arena.base.enums import EventKind
from arena.base.errors import StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import Fault
from arena.store.results import events as events_module
from arena.store.results import live_state
from arena.store.results.addition import Addition
from arena.store.results.annotations import AskedMatch
from arena.store.results.events import MAX_MATCHES, Commits, EventDetails, live_topic
from arena.store.results.live_state import MAX_WATCHED, PlayedNow, RunProgress
from arena.store.results.schema import events, live_matches, progress, topics
from arena.store.results.store import Store
from arena.store.results.values import StoredBot
from tests.databases import on_both
from tests.store.results.samples import definition, line, record, void


def logged(store, topic="tournament/1"):
    query = sa.select(events.c.seq, events.c.kind, events.c.body).where(events.c.topic == topic).order_by(events.c.seq)
    rows = store._database.read(lambda connection: list(connection.execute(query)))
    return [(seq, kind.value, json.loads(body)) for seq, kind, body in rows]


def counted(store):
    return dict(store._database.read(lambda connection: [tuple(row) for row in connection.execute(sa.select(topics))]))


@pytest.mark.slow(only=("postgresql",), sample=True)
@on_both
def test_every_change_of_a_tournament_is_logged(store):
    tournament = store.create_tournament(definition(), [line(match) for match in range(1, 5)])
    store.record(tournament, [record(2), record(1, faults=[Fault(seat=1, kind="exit", ply=0, detail="")])])
    store.extend_schedule(tournament, [line(5)])
    store.change_definition(tournament, definition(encounters=9))
    store.set_finished(tournament, False)  # it is not finished
    store.set_finished(tournament, True)
    store.set_finished(tournament, False)
    void(store, store.tournament("t"), 1)
    store.rename(store.tournament("t"), "u")
    store.delete(store.tournament("u"))
    store.restore(store.deleted_tournament("u"), "v")
    assert logged(store) == [
        (1, "created", {}),
        (2, "results", {"matches": [2, 1], "match_count": 2}),
        (3, "schedule", {"round": 1, "match_count": 1}),
        (4, "definition", {}),
        (5, "finished", {}),
        (6, "reopened", {}),
        (7, "correction", {"correction": 1, "matches": [1], "match_count": 1}),
        (8, "renamed", {"name": "u"}),
        (9, "deleted", {}),
        (10, "restored", {"name": "v"}),
    ]
    assert counted(store) == {"tournament/1": 10}


def test_events_of_an_earlier_tournament_with_the_same_number_are_not_about_this_one(store, monkeypatch):
    tournament = store.create_tournament(definition(), [line(1), line(2)])
    store.record(tournament, [record(1), record(2)])
    assert store.events.recorded_matches(tournament.number) == {1, 2}
    monkeypatch.setattr("arena.store.results.store.remove_topics", lambda *_: None)
    store.delete(tournament)
    store.erase(store.deleted_tournament("t"))
    again = store.create_tournament(definition(), [line(1), line(2)])
    store.record(again, [record(1)])
    store.analysis_requests.finish(AskedMatch(again.number, 2), 1)  # a search in the other one ends
    assert store.events.recorded_matches(again.number) == {1}  # a file gives it the same number


def test_what_is_taken_from_another_home_is_one_event(store):
    many = range(1, MAX_MATCHES + 31)
    addition = Addition(
        tournament=None, definition=definition(), created_at="2026-01-01", finished_at=None,
        lines=[line(match) for match in many], records=(record(match) for match in many),
    )  # fmt: skip
    store.add(addition)
    assert logged(store) == [(1, "imported", {"matches": list(many)[-MAX_MATCHES:], "match_count": len(many)})]


@on_both
def test_what_a_transaction_loses_is_neither_logged_nor_counted(store):
    tournament = store.create_tournament(definition(), [line(1), line(2)])
    store.record(tournament, [record(1)])
    with pytest.raises(StoreError, match="refuses"):
        store.record(tournament, [record(2), record(1)])
    assert [found.match for found in store.records(tournament)] == [1]
    store.record(tournament, [])
    assert [kind for _, kind, _ in logged(store)] == ["created", "results"]
    assert counted(store) == {"tournament/1": 2}
    assert (store.tournament("t").recorded, store.counter_problems(store.tournament("t"))) == (1, [])


def test_old_events_are_removed(store, monkeypatch):
    monkeypatch.setattr(events_module, "MAX_EVENTS", 30)
    monkeypatch.setattr(events_module, "PRUNE_EVERY", 8)
    tournament = store.create_tournament(definition(), [line(1)])
    for k in range(45):
        store.set_finished(tournament, k % 2 == 0)
    assert [seq for seq, _, _ in logged(store)] == list(range(11, 47))  # the last 30 of 40, and six since


def test_submitted_bots_and_seasons_are_counted(store):
    bot = StoredBot("a", "1", "c", ".", "2026-01-01")
    store.add_bot(bot)
    store.remove_bot(bot)
    tournament = store.create_tournament(definition(), [line(1)])
    store.seasons.add("s", [tournament])
    store.seasons.remove("s", [tournament])
    assert counted(store) == {"bots": 2, "seasons": 2, "tournament/1": 1}


def test_the_sum_of_all_topics_grows_when_a_tournament_is_erased(store):
    tournament = store.create_tournament(definition(), [line(1)])
    store.create_tournament(definition(name="u"), [line(1)])
    store.record(tournament, [record(1)])
    store.delete(tournament)
    before = sum(counted(store).values())
    store.erase(store.deleted_tournament("t"))
    assert sum(counted(store).values()) > before
    assert logged(store) == []
    assert set(counted(store)) == {"tournament/2", "erased"}


@pytest.mark.slow
def test_numbers_have_no_gaps_and_come_in_the_order_of_commits(postgres_url):
    """Four writers, each on its own connection; a reader never sees a number before a smaller one."""
    with closing(Store(postgres_url)) as store:
        tournament = store.create_tournament(definition(), [line(match) for match in range(1, 201)])
    seen, is_over = [1], threading.Event()

    def write(first):
        with closing(Store(postgres_url)) as store:
            for match in range(first, 201, 4):
                store.record(tournament, [record(match)])

    def follow():
        with closing(Store(postgres_url)) as store:
            while True:
                was_over = is_over.is_set()
                seen.extend(seq for seq, _, _ in logged(store) if seq > seen[-1])
                if was_over:
                    return

    writers = [threading.Thread(target=write, args=(first,)) for first in range(1, 5)]
    reader = threading.Thread(target=follow)
    for thread in [*writers, reader]:
        thread.start()
    for thread in writers:
        thread.join()
    is_over.set()
    reader.join()
    assert seen == list(range(1, 202))


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
        closing(Commits([store.commit_signal(), store.commit_signal()], lambda: seconds[0])) as commits,
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


PROGRESS = RunProgress(
    recorded=3,
    scheduled=10,
    expected=20,
    matches_per_second=0.5,
    seconds_left=34.0,
    playing=(PlayedNow(match=4, since="2026-01-01T00:00:00.000+00:00"),),
    status="round 1",
)

STATE = LiveMatch(
    match=4,
    started_at="2026-01-01T00:00:00.000+00:00",
    actions=([0, [1, 2]], [1, None]),
    wall_seconds=(None, 0.25),
    cpu_seconds=(None, 0.125),
    faults=(Fault(seat=1, kind="timeout", ply=1, detail="late"),),
    seat=0,
    since="2026-01-01T00:00:01.000+00:00",
    allowed_seconds=1.0,
    bank_seconds=(3.0, None),
)


@pytest.fixture
def live_one(store):
    return store.create_tournament(definition(), [])


@pytest.fixture
def state(store, live_one):
    return store.live_state(live_one)


def seq(store, live_one):
    query = select(topics.c.seq).where(topics.c.topic == live_topic(live_one.number))
    return store._database.read(lambda connection: connection.execute(query).scalar())


@on_both
def test_progress_is_read_as_it_was_written_and_changes_of_watched_matches_are_counted(state, store, live_one):
    assert state.progress() is None
    state.write_progress(RunProgress(recorded=0, scheduled=10))
    before = datetime.now(UTC).isoformat(timespec="milliseconds")
    state.write_progress(PROGRESS)
    found = state.progress()
    assert found.progress == PROGRESS
    assert before <= found.at <= datetime.now(UTC).isoformat(timespec="milliseconds")
    state.show([STATE, replace(STATE, match=5)])
    assert [state.live_match(match).seq for match in (4, 5)] == [1, 1]
    state.show([replace(STATE, seat=1)])
    assert (state.live_match(4).seq, state.live_match(4).state.seat) == (2, 1)
    assert state.live_match(5).state == replace(STATE, match=5)
    state.remove([4, 77])
    assert (state.live_match(4), seq(store, live_one)) == (None, 3)
    state.remove([77])
    assert seq(store, live_one) == 3
    state.write_progress(PROGRESS)
    state.clear()
    state.clear()
    assert (state.progress(), state.live_match(5), seq(store, live_one)) == (None, None, 4)


def test_the_summary_of_a_match_says_how_it_stands_or_if_it_is_too_large_the_number_of_plies(state):
    fault = Fault(seat=0, kind="timeout", ply=0, detail="a\nb")
    state.show([replace(STATE, faults=(fault,))])
    assert state.live_match(4).state.faults == (fault,)
    found = state.live_summary(4)
    assert (found.seq, found.summary.match, found.summary.plies, found.summary.seat) == (1, 4, 2, 0)
    assert (found.summary.since, found.summary.allowed_seconds, found.summary.bank_seconds) == (
        "2026-01-01T00:00:01.000+00:00", 1.0, (3.0, None)
    )  # fmt: skip
    assert state.live_summary(5) is None
    state.show([STATE.without_actions()])
    found = state.live_match(4).state
    assert (found.actions, found.wall_seconds, found.faults, found.left_out, found.seat) == ((), (), (), 2, 0)
    assert found.without_actions() == found
    assert state.live_summary(4).summary.plies == 2
    with pytest.raises(StoreError, match="actions are left out of some"):
        LiveMatch.from_json(json.loads(json.dumps({**STATE.to_json(), "left_out": 1})))


@on_both
def test_of_a_long_state_only_the_beginning_is_read_for_its_summary(state, monkeypatch):
    seconds, read = (0.5,) * 40_000, []

    def noted(text, where, of=live_state.from_json_text):
        read.append(text)
        return of(text, where)

    monkeypatch.setattr(live_state, "from_json_text", noted)
    state.show([replace(STATE, actions=STATE.actions * 20_000, wall_seconds=seconds, cpu_seconds=seconds)])
    assert state.live_summary(4).summary.plies == 40_000
    assert len(read[0]) < 500


def test_tournaments_do_not_mix_and_an_erased_one_leaves_nothing(store, live_one, state):
    other = store.live_state(store.create_tournament(replace(definition(), name="t2"), []))
    state.show([STATE])
    state.write_progress(PROGRESS)
    state.watch(4, 60)
    other.clear()
    assert (other.live_match(4), other.progress(), other.watched()) == (None, None, frozenset())
    assert (state.live_match(4) is not None, state.watched()) == (True, {4})
    store.delete(live_one)
    store.erase(store.deleted_tournament("t"))
    assert (state.progress(), state.live_match(4), state.watched()) == (None, None, frozenset())


def test_a_watch_lasts_as_long_as_it_is_renewed(state, monkeypatch):
    class Clock(datetime):
        seconds = 0

        @classmethod
        def now(cls, zone):
            return datetime(2026, 1, 1, 0, 0, cls.seconds, tzinfo=zone)

    monkeypatch.setattr(live_state, "datetime", Clock)
    state.watch(4, 30)
    state.watch(5, 30)
    Clock.seconds = 29
    assert state.watched() == {4, 5}
    state.watch(4, 30)
    Clock.seconds = 30
    assert state.watched() == {4}


@pytest.mark.slow(only=("postgresql",), sample=True)
def test_of_too_many_watches_the_latest_count(state):
    for match in range(MAX_WATCHED + 20):
        state.watch(match, 60 + match)
    assert state.watched() == set(range(20, MAX_WATCHED + 20))


@pytest.mark.parametrize("body", ["", "[]", '{"recorded": "3", "scheduled": 1}', "[" * 100_000])
def test_a_malformed_body_is_a_sentence(store, live_one, state, body):
    key = {"tournament_id": live_one.number, "at": "now", "body": body}
    store._database.write(lambda connection: connection.execute(progress.insert(), key))
    store._database.write(lambda connection: connection.execute(live_matches.insert(), {**key, "match": 4, "seq": 1}))
    with pytest.raises(StoreError, match="the progress of a run"):
        state.progress()
    with pytest.raises(StoreError, match="a live match"):
        state.live_match(4)
