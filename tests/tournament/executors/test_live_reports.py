"""What a worker sends of the match that it plays, while somebody watches; the director is played by pipes here."""

import multiprocessing
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.base.records import Bot
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.protocol.messages import Wants
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.tournament.executors import table, worker
from arena.tournament.executors.executor import Job
from arena.tournament.executors.table import InProcessExecutor
from arena.tournament.executors.worker import LiveReports, LiveWeight
from tests.matches import small_match
from tests.tournament.test_live_writer import live

LEGAL = Wants(legal=True, observation=False)


@pytest.fixture
def pool():
    return SimpleNamespace(referee=None)


@pytest.fixture
def pipes(pool, monkeypatch):
    monkeypatch.setattr(worker, "LIVE_SECONDS", 0.001)
    messages, theirs = multiprocessing.Pipe()
    watched, watching = multiprocessing.Pipe(duplex=False)
    reports = LiveReports(pool, theirs, watched)
    reports.start()
    with messages, theirs, watching, watched:
        yield SimpleNamespace(messages=messages, watching=watching, reports=reports)


def play(pool, answer, match=1):
    def choose(request):
        answer(request.ply)
        return request.legal[0]

    bots = [Bot(name=name, version="1", command=("x",), directory="/") for name in "ab"]
    pool.referee = Referee(small_match(*bots, match=match), [ScriptedPlayer(choose, LEGAL) for _ in bots])
    pool.referee.play()


def test_each_position_of_a_watched_match_is_sent_while_the_next_action_is_awaited(pool, pipes):
    """A bot here answers only when its position has arrived, so none is left out."""
    seen = []

    def answer(ply):
        state = pipes.messages.recv()
        seen.append(pipes.messages.recv() if state.seat is None else state)  # it began before the first question

    pipes.watching.send(frozenset({1, 5}))
    play(pool, answer)
    assert [len(state.actions) for state in seen] == list(range(len(seen)))
    assert [state.seat for state in seen] == [ply % 2 for ply in range(len(seen))]
    assert {state.match for state in seen} == {1}


def test_a_watch_that_begins_while_a_bot_thinks_shows_the_position_at_once(pool, pipes):
    seen = []

    def answer(ply):
        if ply == 3:
            pipes.watching.send(frozenset({1}))
            seen.append(pipes.messages.recv())
            pipes.watching.send(frozenset())

    play(pool, answer)
    assert len(seen[0].actions) == 3


def test_in_this_process_the_caller_may_look_four_times_a_second(monkeypatch):
    """At once while there were fewer: the position of a slow bot may follow that of a quick one."""
    now, looks = [], []
    monkeypatch.setattr(table, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(table, "isolation_for", lambda *_: Isolation())  # which starts no process
    executor = InProcessExecutor(Job())
    executor.meanwhile = lambda: looks.append(now[0])
    for second in (0.0, 0.1, 0.2, 0.9, 0.95, 0.99, 1.0, 1.05, 1.1, 1.2, 7.0):
        now[:] = [second]
        executor._call_meanwhile()
    assert looks == [0.0, 0.1, 0.2, 0.9, 1.0, 1.1, 1.2, 7.0]


def test_a_state_is_not_sent_after_the_result(pool, pipes, monkeypatch):
    """The thread has taken the state when the match ends and its result is sent; it is held up in between."""
    taken, ended = threading.Event(), threading.Event()

    def live(referee, take=Referee.live):
        state = take(referee)
        taken.set()
        ended.wait()
        return state

    monkeypatch.setattr(Referee, "live", live)
    pipes.watching.send(frozenset({1}))
    play(pool, lambda ply: taken.wait())
    pool.referee = None
    pipes.reports.send("result of 1")
    ended.set()
    monkeypatch.undo()
    pipes.watching.send(frozenset({2}))
    messages = []
    play(pool, lambda ply: len(messages) > 1 or messages.append(pipes.messages.recv()), match=2)
    assert messages[0] == "result of 1"
    assert messages[1].match == 2


def test_the_actions_of_a_state_that_is_too_large_are_left_out(monkeypatch):
    """Each weighs at least the 100 characters of its text."""
    monkeypatch.setattr(worker, "MAX_LIVE_BYTES", 1500)
    weight = LiveWeight()
    whole = replace(live(1, 20), actions=tuple([ply % 2, "x" * 100] for ply in range(20)))

    def until(plies, match=1):
        seconds = (None,) * plies
        return replace(whole, match=match, actions=whole.actions[:plies], wall_seconds=seconds, cpu_seconds=seconds)

    assert weight.bounded(until(5)) == until(5)
    assert weight.bounded(until(10)) == until(10)
    assert weight.bounded(until(16)) == until(16).without_actions()
    assert weight.bounded(until(20)).left_out == 20
    assert weight.bounded(until(3, match=2)) == until(3, match=2)
    assert weight.bounded(until(16, match=2)).left_out == 16
    assert weight.bounded(until(3)) == until(3)


def test_a_usual_match_of_ten_thousand_plies_is_shown():
    assert LiveWeight().bounded(live(1, 10_000)).left_out == 0
