import contextlib
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.base.records import Bot, MatchSpec
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.protocol.messages import Wants
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.tournament.executors import local, table, worker
from arena.tournament.executors.executor import Job, Void, WorkQueue
from arena.tournament.executors.local import MAX_SPECS, LocalExecutor, WorkerProcess
from arena.tournament.executors.table import InProcessExecutor
from arena.tournament.executors.worker import LiveReports, LiveWeight, Notice
from tests.matches import small_match
from tests.tournament.test_live_writer import live


@pytest.fixture
def executor(monkeypatch):
    monkeypatch.setattr(local, "choose_isolation", lambda _: Isolation())  # which starts no process
    return LocalExecutor(Job(workers=1, isolation="none"))


@pytest.fixture
def watched():
    theirs, ours = multiprocessing.Pipe(duplex=False)
    with ours, theirs:
        yield theirs, ours


@pytest.fixture
def pipe(executor, watched):
    ours, theirs = multiprocessing.Pipe()
    executor._workers.append(WorkerProcess(process=None, pipe=ours, watching=watched[1]))
    with ours, theirs:
        yield theirs


def matches(count):
    fields = {"tournament": "t", "game": "g", "options": {}, "bots": ()}
    return WorkQueue(MatchSpec(match=k, rng_seed=k, **fields) for k in range(count))


def play(executor, queue, pipe, count):
    executor._hand_out(queue)
    (worker,) = executor._workers
    had = len(worker.unanswered)
    for spec in list(worker.unanswered)[:count]:
        pipe.send(Void(spec, "not played"))
    assert len(executor._collect(queue, 1.0)) == count
    return had


def test_a_worker_has_the_next_match_and_more_up_to_a_bound_if_it_answers_several(executor, pipe):
    queue = matches(100)
    assert [play(executor, queue, pipe, 1) for _ in range(5)] == [2] * 5
    queue = matches(100)
    assert [play(executor, queue, pipe, had) for had in (2, 3, 4, 5, 6, 7, 8, 8)] == [2, 3, 4, 5, 6, 7, 8, 8]
    assert MAX_SPECS == 8
    assert [play(executor, queue, pipe, 3), play(executor, queue, pipe, 1)] == [8, 5]
    assert [play(executor, queue, pipe, 1) for _ in range(4)] == [4, 3, 2, 2]


def test_a_worker_has_further_matches_before_what_it_has_played_is_recorded(executor, pipe):
    queue = matches(10)
    executor._hand_out(queue)
    (worker,) = executor._workers
    for spec in list(worker.unanswered):
        pipe.send(Void(spec, "not played"))
    assert [void.match for void in next(executor.run(queue))] == [0, 1]
    assert [spec.match for spec in worker.unanswered] == [2, 3, 4]


def test_a_ready_worker_plays_the_first_match_it_has(executor, pipe, monkeypatch):
    instants = iter([10.0, 20.0, 30.0])
    monkeypatch.setattr(local, "time", SimpleNamespace(time=lambda: next(instants), monotonic=time.monotonic))
    executor._hand_out(matches(10))  # at 10
    assert executor.playing() == []
    pipe.send(Notice.READY)
    executor._collect(matches(0), 1.0)  # at 20
    assert executor.playing() == [(0, 20.0)]
    pipe.send(Void(executor._workers[0].unanswered[0], "not played"))
    executor._collect(matches(0), 1.0)  # at 30
    assert executor.playing() == [(1, 30.0)]


def test_a_worker_is_told_of_its_own_watched_matches_when_they_change(executor, pipe, watched):
    told, queue = [], matches(10)

    def hand_out(watched_matches):
        executor.watch(frozenset(watched_matches))
        executor._hand_out(queue)
        while watched[0].poll():
            told.append(set(watched[0].recv()))

    for watched_matches in ((), (7, 8), (0, 7), (0, 8), (0, 1), ()):
        hand_out(watched_matches)
    assert told == [{0}, {0, 1}, set()]


def test_of_the_states_of_a_match_the_latest_is_kept_until_it_is_taken(executor, pipe):
    executor._hand_out(matches(10))
    for state in (live(0, 1), live(0, 2)):
        pipe.send(state)
    assert executor._collect(matches(0), 1.0) == []
    assert executor.live_matches() == [live(0, 2)]
    assert executor.live_matches() == []
    assert len(executor._workers[0].unanswered) == 2


def test_a_match_with_a_result_is_no_longer_live(executor, pipe):
    executor._hand_out(matches(10))
    pipe.send(live(0, 1))
    pipe.send(Void(executor._workers[0].unanswered[0], "not played"))
    pipe.send(live(1, 1))
    assert [result.match for result in executor._collect(matches(0), 1.0)] == [0]
    assert executor.live_matches() == [live(1, 1)]


TRACES = """
import ctypes, os, signal, sys
traced = int(sys.argv[1]) if sys.argv[1:] else os.getpid()
if sys.argv[1:] or os.fork() == 0:
    ctypes.CDLL(None).ptrace(0x4206, traced, 0, 0)  # PTRACE_SEIZE
    ctypes.CDLL(None).ptrace(0x4207, traced, 0, 0)  # PTRACE_INTERRUPT
    while open(f"/proc/{traced}/stat").read().rpartition(")")[2].split()[0] != "t":
        pass
    print("traced", flush=True)
    signal.pause()
sys.stdin.readline()
print("on", flush=True)
sys.stdin.read()
"""


def output_of(process):
    assert select.select([process.stdout], [], [], 30.0)[0]
    return process.stdout.readline()


@pytest.mark.skipif(sys.platform != "linux", reason="ptrace(2) as on Linux")
def test_a_worker_that_its_bot_traces_goes_on_and_a_debugger_is_left_alone(executor, pipe, monkeypatch):
    monkeypatch.setattr(local, "REFRESH_SECONDS", 0.0)
    (worker,) = executor._workers
    command, pipes = [sys.executable, "-c", TRACES], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **pipes) as worker.process, contextlib.ExitStack() as stack:
        stack.callback(os.killpg, worker.process.pid, signal.SIGKILL)
        assert output_of(worker.process) == b"traced\n"
        worker.process.stdin.write(b"go\n")
        worker.process.stdin.flush()
        executor._collect(WorkQueue(()), 0.0)
        assert output_of(worker.process) == b"on\n"
        with subprocess.Popen([*command, str(worker.process.pid)], **pipes) as debugger:
            stack.callback(debugger.kill)
            assert output_of(debugger) == b"traced\n"
            executor._collect(WorkQueue(()), 0.0)
            assert debugger.poll() is None
            debugger.kill()


# what a worker sends of the match that it plays, while somebody watches

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


def play_here(pool, answer, match=1):
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
    play_here(pool, answer)
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

    play_here(pool, answer)
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
    play_here(pool, lambda ply: taken.wait())
    pool.referee = None
    pipes.reports.send("result of 1")
    ended.set()
    monkeypatch.undo()
    pipes.watching.send(frozenset({2}))
    messages = []
    play_here(pool, lambda ply: len(messages) > 1 or messages.append(pipes.messages.recv()), match=2)
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
