"""How many matches the local executor gives a worker, which is played by a pipe here."""

import multiprocessing

import pytest

from arena.executors import local
from arena.executors.executor import Job, Void
from arena.executors.local import MAX_SPECS, LocalExecutor, _Worker
from arena.executors.work_queue import WorkQueue
from arena.isolation.sandbox_policy import Isolation
from arena.records import MatchSpec


@pytest.fixture
def executor(monkeypatch):
    monkeypatch.setattr(local, "choose_isolation", lambda _: Isolation())  # which starts no process
    return LocalExecutor(Job(workers=1, isolation="none"))


@pytest.fixture
def pipe(executor):
    ours, theirs = multiprocessing.Pipe()
    executor._workers.append(_Worker(process=None, pipe=ours))
    with ours, theirs:
        yield theirs


def matches(count):
    return WorkQueue(
        MatchSpec(match=k, tournament="t", game="g", options={}, bots=(), rng_seed=k) for k in range(count)
    )


def play(executor, queue, pipe, count):
    """Let the worker answer, and return how many matches it had, and the numbers of those it is sent next."""
    executor._hand_out(queue)
    (worker,) = executor._workers
    had = len(worker.given)
    for spec in list(worker.given)[:count]:
        pipe.send(Void(spec, "not played"))
    assert len(executor._collect(queue, 1.0)) == count
    return had


def test_a_worker_has_the_match_it_plays_and_the_next_one(executor, pipe):
    queue = matches(100)
    assert [play(executor, queue, pipe, 1) for _ in range(5)] == [2] * 5


def test_a_worker_that_answers_several_at_a_time_has_more_up_to_a_bound(executor, pipe):
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
    assert len(received) == 8 + len(executor._workers[0].given)
