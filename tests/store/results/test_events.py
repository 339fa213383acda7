"""The log of events: every change of a tournament is in it, in the order of the commits, without a gap."""

import json
import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from arena.base.enums import CorrectionKind, EventKind
from arena.base.errors import StoreError
from arena.base.records import Fault
from arena.store.results.addition import Addition
from arena.store.results.correction_log import Change
from arena.store.results.events import MAX_EVENTS, MAX_MATCHES, PRUNE_EVERY
from arena.store.results.schema import events, topics
from arena.store.results.store import Store
from arena.store.results.values import CorrectionDetails, StoredBot
from tests.databases import on_both
from tests.store.results.samples import definition, line, record


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
    change = Change(kind=CorrectionKind.VOID, reason="r", details=CorrectionDetails(), set_aside=[1])
    store.corrections.add(store.tournament("t"), change)
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


def test_what_is_taken_from_another_home_is_one_event(store):
    many = range(1, MAX_MATCHES + 31)
    addition = Addition(
        tournament=None, definition=definition(), created_at="2026-01-01", finished_at=None,
        lines=[line(match) for match in many], records=(record(match) for match in many),
    )  # fmt: skip
    store.add(addition)
    assert logged(store) == [(1, "imported", {"matches": list(many)[-MAX_MATCHES:], "match_count": len(many)})]


@on_both
def test_what_a_transaction_loses_is_not_logged(store):
    tournament = store.create_tournament(definition(), [line(1), line(2)])
    store.record(tournament, [record(1)])
    with pytest.raises(StoreError, match="refuses"):
        store.record(tournament, [record(2), record(1)])
    store.record(tournament, [])
    assert [kind for _, kind, _ in logged(store)] == ["created", "results"]
    assert counted(store) == {"tournament/1": 2}


@pytest.mark.slow
def test_old_events_are_removed(store):
    tournament = store.create_tournament(definition(), [line(1)])
    for k in range(MAX_EVENTS + 2 * PRUNE_EVERY - 1):
        store.set_finished(tournament, k % 2 == 0)
    numbers = [seq for seq, _, _ in logged(store)]
    last = MAX_EVENTS + 2 * PRUNE_EVERY
    assert numbers == list(range(last - MAX_EVENTS + 1, last + 1))


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


def test_kinds_of_events_fit_their_column():
    assert max(map(len, EventKind)) <= 16
