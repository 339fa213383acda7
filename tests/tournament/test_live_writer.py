import json
import time
from itertools import pairwise
from unittest.mock import Mock

import pytest

from arena.base.definition import Definition, GameChoice
from arena.base.errors import StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import Bot
from arena.store.results.live_state import LiveState
from arena.tournament import progress as live_writer
from arena.tournament.definition import make_definition
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Playing, Void
from arena.tournament.progress import CHARACTERS_PER_SECOND, MAX_TURN_SECONDS, LiveWriter, Progress
from arena.tournament.schedule import schedule
from tests.store.people.conftest import FakeClock
from tests.tournament.test_director import Scripted as PlaysFirst

BOTS = tuple(Bot(name=name, version="1", command=("x",), directory="/", digest="d" * 64) for name in "abc")
GAME = GameChoice(game="differences", options={"size": 4}, players=2)
DEFINITION = Definition(name="t", games=(GAME,), entrants=BOTS, rng_seed=1, isolation="none")


@pytest.fixture
def tournament(store):
    return store.create_tournament(DEFINITION, schedule(DEFINITION))


class Scripted(PlaysFirst):
    def __init__(self):
        self.watched, self.states, self.now_playing = [], [], []

    def playing(self):
        return self.now_playing

    def watch(self, matches):
        self.watched.append(set(matches))

    def live_matches(self):
        states, self.states = self.states, []
        return states


def live(match, plies=0):
    began, actions = "2026-01-01T00:00:00.000+00:00", tuple([ply % 2, [1, 1]] for ply in range(plies))
    fields = {"started_at": began, "since": began, "bank_seconds": (None, None), "cpu_seconds": (None,) * plies}
    return LiveMatch(match=match, actions=actions, wall_seconds=(None,) * plies, **fields)


@pytest.fixture
def clock():
    return FakeClock(100.0)


@pytest.fixture
def executor():
    return Scripted()


@pytest.fixture
def writer(store, tournament, executor, clock):
    return LiveWriter(store, tournament, executor, clock)


@pytest.fixture
def state(store, tournament):
    return store.live_state(tournament)


def test_progress_is_written_once_a_second(writer, state, clock):
    seen = []
    for tick in range(50):  # five seconds
        clock.seconds = 100 + tick / 10
        writer.update(Progress(scheduled=100, recorded=tick, played=tick))
        seen.append(state.progress().progress.recorded)
    assert seen == [tick // 10 * 10 for tick in range(50)]


def test_progress_says_the_rate_of_late_and_the_time_left(writer, state, clock):
    """One match a second for a minute, then four: what is left is estimated from the whole run."""
    for second in range(61):
        clock.seconds = 100 + second
        writer.update(Progress(scheduled=1000, recorded=40 + second, expected=1000, played=second, status="round 2"))
    seen = state.progress().progress
    assert (seen.recorded, seen.scheduled, seen.expected, seen.status) == (100, 1000, 1000, "round 2")
    assert (seen.matches_per_second, seen.seconds_left) == (1.0, 900.0)
    for second in range(1, 16):
        clock.seconds = 160 + second
        writer.update(Progress(scheduled=1000, recorded=100 + 4 * second, expected=1000, played=60 + 4 * second))
    seen = state.progress().progress
    assert (seen.matches_per_second, seen.seconds_left) == (4.0, 840 / (120 / 75))


def test_the_rate_of_slow_matches_is_that_of_the_last_ten(writer, state, clock):
    for minute in range(31):
        clock.seconds = 100 + 60 * minute
        writer.update(Progress(scheduled=1000, recorded=minute, played=minute))
    assert state.progress().progress.matches_per_second == round(1 / 60, 3)


def test_nothing_is_said_of_the_rate_before_a_match_has_ended(writer, state, clock):
    clock.seconds += 5
    writer.update(Progress(scheduled=10, recorded=3))
    seen = state.progress().progress
    assert (seen.matches_per_second, seen.seconds_left) == (None, None)


def test_matches_that_have_lasted_a_moment_are_shown_as_being_played(writer, executor, state):
    executor.now_playing = [Playing(5, time.time() - 60), Playing(3, time.time() - 3), Playing(4, time.time())]
    writer.update(Progress(scheduled=10, recorded=0))
    assert [played.match for played in state.progress().progress.playing] == [3, 5]


def test_watches_are_read_twice_a_second_and_passed_on_when_they_change(writer, executor, state, clock):
    reads = []
    watched = LiveState.watched

    def counted(self):
        reads.append(clock.seconds)
        return watched(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LiveState, "watched", counted)
        for tick in range(40):
            clock.seconds = 100 + tick / 20
            if tick == 15:
                state.watch(7, 60)
            writer.update(Progress(scheduled=10, recorded=0))
    assert reads == [100.0, 100.5, 101.0, 101.5]
    assert executor.watched == [{7}]


def test_a_watched_match_is_shown_until_it_has_a_result(writer, executor, state, clock):
    progress = Progress(scheduled=10, recorded=0)
    executor.states = [live(3, 1), live(4, 0)]
    writer.update(progress)
    executor.states = [live(3, 2)]
    clock.seconds += MAX_TURN_SECONDS
    writer.update(progress)
    assert len(state.live_match(3).state.actions) == 2
    assert state.live_match(3).seq > state.live_match(4).seq
    writer.update(progress, [3])
    assert state.live_match(3) is None
    executor.states = [live(3, 0)]  # it was void, and is played again
    clock.seconds += MAX_TURN_SECONDS
    writer.update(progress, [4])
    assert state.live_match(3).state.actions == ()
    assert state.live_match(4) is None


@pytest.mark.parametrize(("matches", "gap_seconds"), [(1, 0.125), (2, 0.5), (3, 1.0), (9, 1.0)])
def test_the_more_matches_are_watched_the_less_often_each_is_shown(
    writer, executor, state, clock, matches, gap_seconds
):
    for match in range(1, matches + 1):
        state.watch(match, 3600)
    written = []
    for tick in range(81):  # ten seconds
        clock.seconds = 100 + tick / 8
        executor.states = [live(match, tick) for match in range(1, matches + 1)]
        writer.update(Progress(scheduled=10, recorded=0))
        shown = state.live_summary(1)
        if shown is not None and shown.summary.plies == tick:
            written.append(tick / 8)
    assert [later - earlier for earlier, later in pairwise(written[1:])] == [gap_seconds] * (len(written) - 2)


def test_the_states_of_long_matches_are_written_less_often(writer, executor, state, clock, monkeypatch):
    """After a large one the next comes seconds later; small ones come as often as they are there."""
    per_second = CHARACTERS_PER_SECOND / 20
    monkeypatch.setattr(live_writer, "CHARACTERS_PER_SECOND", per_second)
    written = []
    for tick in range(81):  # ten seconds
        clock.seconds = 100 + tick / 8
        executor.states = [live(3, 500 + tick), live(4, 450 + tick)]
        writer.update(Progress(scheduled=10, recorded=0))
        plies = state.live_summary(3).summary.plies
        if plies == 500 + tick:
            written.append(tick / 8)
            weight = sum(len(json.dumps(live(*one).to_json())) for one in ((3, plies), (4, plies - 50)))
    gaps = [later - earlier for earlier, later in pairwise(written)]
    assert weight / per_second > 1
    assert all(weight / per_second - 1 < gap < weight / per_second + 1 for gap in gaps)
    executor.states = []
    writer.update(Progress(scheduled=10, recorded=0), [3])
    assert (state.live_match(3) is None, state.live_match(4) is None) == (True, False)
    written = []
    for tick in range(8):
        clock.seconds += 0.25
        executor.states = [live(5, tick)]
        writer.update(Progress(scheduled=10, recorded=0))
        written.append(state.live_summary(5).summary.plies if state.live_summary(5) else None)
    assert written[-4:] == [4, 5, 6, 7]


def test_what_the_store_refuses_is_dropped_and_written_later(writer, executor, state, clock, monkeypatch):
    progress = Progress(scheduled=10, recorded=0)
    executor.states = [live(3)]
    writer.update(progress)
    with monkeypatch.context() as patch:
        patch.setattr(LiveState, "remove", Mock(side_effect=StoreError("the disk is full")))
        writer.update(progress, [3])
    executor.states = [live(4)]
    clock.seconds += 4
    writer.update(progress)
    assert (state.live_match(3) is None, state.live_match(4) is None) == (False, True)
    executor.states = [live(4)]
    clock.seconds += 2
    writer.update(progress)
    assert (state.live_match(3) is None, state.live_match(4) is None) == (True, False)


METHODS = [(LiveState, name) for name in ("clear", "show", "watched", "write_progress")]
METHODS += [(Scripted, name) for name in ("playing", "watch", "live_matches")]


@pytest.mark.parametrize(("kind", "method"), METHODS)
@pytest.mark.parametrize("error", [StoreError("the disk is full"), ValueError("a defect of ours")])
def test_no_failure_here_costs_a_match(store, executor, monkeypatch, kind, method, error):
    executor.states = [live(1)]
    monkeypatch.setattr(kind, method, Mock(side_effect=error))
    progress = run_tournament(DEFINITION, store, executor=executor)
    assert progress.is_complete
    assert progress.recorded == 6


class Plain(Executor):
    def __init__(self, store):
        self.store, self.seen = store, []

    def __exit__(self, *_):
        pass

    def run(self, queue):
        yield []
        self.seen.append(self.store.live_state(self.store.tournament("t")).progress())
        yield from Scripted().run(queue)


def test_an_executor_that_knows_nothing_of_watching_plays_and_leaves_nothing_nor_what_a_killed_run_left(store, state):
    executor = Plain(store)
    state.show([live(5)])
    assert run_tournament(DEFINITION, store, executor=executor).is_complete
    (seen,) = executor.seen
    assert (seen.progress.recorded, seen.progress.scheduled) == (0, 6)
    assert (state.progress(), state.live_match(5)) == (None, None)


def test_a_void_match_is_no_longer_shown(store):
    seen = []

    class Unlucky(Scripted):
        def run(self, queue):
            spec = queue.take()
            state = store.live_state(store.tournament("t"))
            self.states = [live(spec.match)]
            yield []
            seen.append(state.live_match(spec.match))
            yield [Void(spec, "no luck")]
            seen.append(state.live_match(spec.match))
            yield from super().run(queue)

    assert run_tournament(DEFINITION, store, executor=Unlucky()).is_complete
    assert [found is None for found in seen] == [False, True]


def test_a_watched_match_of_functions_is_in_the_store_while_it_is_played(home):
    """A slow bot looks; its rival is quick."""
    shown = []

    def first(game, state, clock):
        return game.legal_actions(state)[0]

    def looks(game, state, clock):
        live_state = home.store.live_state(home.store.tournament("t"))
        live_state.watch(1, 60)
        live = live_state.live_match(1)
        if live is not None and live.state.seat == 0:
            shown.append(live.state)
        if not shown:
            time.sleep(0.3)
        return game.legal_actions(state)[0]

    fields = {"options": {"size": 7}, "time_control": {"per_action_seconds": 60.0}}
    definition = make_definition("t", "plusminus", [looks, first], **fields)
    assert run_tournament(definition, home.store).is_complete
    assert shown
    assert all(state.match == 1 for state in shown)
