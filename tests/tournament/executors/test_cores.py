"""Two arenas on one machine give their workers different cores, and say so where there are too few."""

import contextlib
import json

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.records import MatchRecord, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.executors import worker_start as cores
from arena.tournament.executors.executor import Job
from arena.tournament.executors.local import LocalExecutor
from arena.tournament.executors.worker_start import CoreLocks
from benchmarks import zoo_bots as zoo
from tests.matches import small_match

HERE = [901, 902]
"""Cores that no machine of these tests has, so that other runs on it have not taken them."""


@pytest.fixture
def arenas(monkeypatch):
    monkeypatch.setattr(cores, "available_cores", lambda: HERE)
    with contextlib.ExitStack() as stack:

        def take(workers):
            locks = stack.enter_context(contextlib.closing(CoreLocks()))
            return locks.take(workers), locks.notice

        take.close = stack.close
        yield take


PINNED = [frozenset({core}) for core in HERE]


def test_each_arena_takes_cores_that_no_other_has(arenas):
    assert arenas(1) == (PINNED[:1], "")
    assert arenas(1) == (PINNED[1:], "")
    pinned, notice = arenas(1)
    assert pinned == [None]
    assert notice.startswith("Another arena on this machine plays on cores 901, 902, which this run shares")
    arenas.close()
    assert arenas(2) == (PINNED, "")


def test_too_few_free_cores_are_shared_by_all_workers_and_nobody_else_gets_them(arenas):
    assert arenas(1) == (PINNED[:1], "")
    pinned, notice = arenas(2)
    assert pinned == [None, None]
    assert "on core 901, which" in notice
    assert "cores 901, 902" in arenas(1)[1]


def test_more_workers_than_cores_disturb_only_themselves(arenas):
    assert arenas(3) == ([None] * 3, "")


def test_a_worker_is_told_that_it_shares_its_core_and_records_say_so(arenas):
    job = Job(workers=1, isolation="none")
    with LocalExecutor(job) as first, LocalExecutor(job) as second, LocalExecutor(job) as third:
        assert [one.notice for one in (first, second)] == ["", ""]
        assert third.notice
        told = [(one._settings[0].cores, one._settings[0].shares_cores) for one in (first, second, third)]
    assert told == [(PINNED[0], False), (PINNED[1], False), (None, True)]
    bots = [load_bot(zoo.honest_bot(f"honest_{name}")) for name in "ab"]
    match = small_match(*bots, time_control=TimeControl(per_action_seconds=20.0, startup_seconds=20.0))
    for shares_cores in (False, True):
        with BotPool(choose_isolation("auto"), shares_cores=shares_cores) as pool:
            stored = json.loads(json.dumps(pool.play(match).to_json(OPERATOR)))
        assert stored.get("shares_cores") == (True if shares_cores else None)
        assert MatchRecord.from_json(stored).shares_cores == shares_cores
