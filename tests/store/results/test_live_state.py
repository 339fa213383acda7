import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from arena.base.errors import StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import Fault
from arena.store.results import live_state
from arena.store.results.events import live_topic
from arena.store.results.live_state import MAX_WATCHED, PlayedNow, RunProgress
from arena.store.results.schema import live_matches, progress, topics
from tests.databases import on_both
from tests.store.results.samples import definition

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
def tournament(store):
    return store.create_tournament(definition(), [])


@pytest.fixture
def state(store, tournament):
    return store.live_state(tournament)


def seq(store, tournament):
    query = select(topics.c.seq).where(topics.c.topic == live_topic(tournament.number))
    return store._database.read(lambda connection: connection.execute(query).scalar())


@on_both
def test_progress_is_read_as_it_was_written_and_changes_of_watched_matches_are_counted(state, store, tournament):
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
    assert (state.live_match(4), seq(store, tournament)) == (None, 3)
    state.remove([77])
    assert seq(store, tournament) == 3
    state.write_progress(PROGRESS)
    state.clear()
    state.clear()
    assert (state.progress(), state.live_match(5), seq(store, tournament)) == (None, None, 4)


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


def test_tournaments_do_not_mix_and_an_erased_one_leaves_nothing(store, tournament, state):
    other = store.live_state(store.create_tournament(replace(definition(), name="t2"), []))
    state.show([STATE])
    state.write_progress(PROGRESS)
    state.watch(4, 60)
    other.clear()
    assert (other.live_match(4), other.progress(), other.watched()) == (None, None, frozenset())
    assert (state.live_match(4) is not None, state.watched()) == (True, {4})
    store.delete(tournament)
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
def test_a_malformed_body_is_a_sentence(store, tournament, state, body):
    key = {"tournament_id": tournament.number, "at": "now", "body": body}
    store._database.write(lambda connection: connection.execute(progress.insert(), key))
    store._database.write(lambda connection: connection.execute(live_matches.insert(), {**key, "match": 4, "seq": 1}))
    with pytest.raises(StoreError, match="the progress of a run"):
        state.progress()
    with pytest.raises(StoreError, match="a live match"):
        state.live_match(4)
