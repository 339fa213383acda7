"""What the local executor gives a worker and learns from it; the worker is played by pipes here."""

import contextlib
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from arena.base.records import MatchSpec
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.tournament.executors import local
from arena.tournament.executors.executor import Job, Void, WorkQueue
from arena.tournament.executors.local import MAX_SPECS, LocalExecutor, WorkerProcess
from arena.tournament.executors.worker import Ready
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


def test_matches_are_sent_in_their_order_and_only_once(executor, pipe):
    queue = matches(12)
    for count in (2, 3, 2, 1):
        play(executor, queue, pipe, count)
    executor._hand_out(queue)
    received = []
    while pipe.poll():
        received += [spec.match for spec in pipe.recv()]
    assert received == list(range(len(received)))
    assert len(received) == 8 + len(executor._workers[0].unanswered)


def test_a_ready_worker_plays_the_first_match_it_has(executor, pipe, monkeypatch):
    instants = iter([10.0, 20.0, 30.0])
    monkeypatch.setattr(local, "time", SimpleNamespace(time=lambda: next(instants), monotonic=time.monotonic))
    executor._hand_out(matches(10))  # at 10
    assert executor.playing() == []
    pipe.send(Ready())
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
