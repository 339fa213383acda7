"""The work queue: every match is settled once, and the schedule is read only as far as it is played."""

from itertools import count

import pytest

from arena.base.records import MatchSpec
from arena.tournament.executors.executor import WorkQueue


def match(number):
    return MatchSpec(match=number, tournament="t", game="differences", options={}, bots=(), rng_seed=0)


def test_a_queue_is_finished_when_every_match_is_settled():
    queue = WorkQueue([match(1), match(2)])
    assert not queue.is_finished()
    assert (queue.take(), queue.take(), queue.take()) == (match(1), match(2), None)
    queue.done(2)
    assert not queue.is_finished()
    queue.done(1)
    assert queue.is_finished()


def test_an_empty_queue_is_finished():
    assert WorkQueue([]).is_finished()


def test_a_requeued_match_comes_before_the_rest_of_the_schedule():
    queue = WorkQueue(map(match, count(1)))
    assert [queue.take().match for _ in range(3)] == [1, 2, 3]
    queue.requeue(match(2))
    assert [queue.take().match for _ in range(3)] == [2, 4, 5]


def test_the_last_match_may_be_requeued_after_the_queue_had_none_left():
    queue = WorkQueue([match(1)])
    spec = queue.take()
    assert queue.take() is None
    queue.requeue(spec)
    assert not queue.is_finished()
    assert queue.take() == match(1)


def test_an_endless_schedule_is_read_one_match_at_a_time():
    schedule = map(match, count(1))
    queue = WorkQueue(schedule)
    assert not queue.is_finished()
    assert queue.take() == match(1)
    assert next(schedule) == match(2)


@pytest.mark.parametrize("settle", [lambda queue: queue.done(1), lambda queue: queue.requeue(match(1))])
def test_a_match_is_settled_only_while_it_is_taken(settle):
    queue = WorkQueue([match(1)])
    with pytest.raises(KeyError):
        settle(queue)
    queue.take()
    queue.done(1)
    with pytest.raises(KeyError):
        settle(queue)
