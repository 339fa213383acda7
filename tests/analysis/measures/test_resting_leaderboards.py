"""Leaderboards that take long rest where pages are built; elsewhere each is that of all records."""

import pytest

from arena.analysis.measures import leaderboards as leaderboard_cache
from arena.analysis.measures.bot_profile import bot_profile
from arena.analysis.measures.leaderboards import Leaderboard, leaderboard
from arena.analysis.measures.resting_leaderboards import (
    LEAST_CPU_SECONDS,
    REST_PER_CPU_SECOND,
    RestingLeaderboards,
    let_leaderboards_rest,
)
from arena.store.results.store import Store
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.store.results.samples import definition, line, record


class Clocks:
    """The time, and that of the processor: each leaderboard takes some of it."""

    def __init__(self, cpu_seconds):
        self.now, self.worked, self.cpu_seconds, self.computed = 0.0, 0.0, cpu_seconds, 0

    def boards(self):
        return RestingLeaderboards(lambda: self.now, lambda: self.worked)

    def compute(self):
        self.worked += self.cpu_seconds
        self.computed += 1
        return Leaderboard(matches=self.computed, lines=())


def test_one_that_takes_long_rests_ten_times_as_long():
    clocks = Clocks(2.0)
    boards = clocks.boards()
    assert boards.newest("a", clocks.compute).matches == 1
    clocks.now += 2.0 * REST_PER_CPU_SECOND - 0.1
    assert boards.newest("a", clocks.compute).matches == 1
    assert boards.newest("b", clocks.compute).matches == 2
    clocks.now += 0.2
    assert boards.newest("a", clocks.compute).matches == 3
    assert boards.newest("b", clocks.compute).matches == 2


def test_one_that_is_quick_does_not_rest():
    clocks = Clocks(LEAST_CPU_SECONDS / 2)
    boards = clocks.boards()
    assert [boards.newest("a", clocks.compute).matches for _ in range(3)] == [1, 2, 3]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "arena.sqlite3")
    tournament = store.create_tournament(definition(name="t"), [line(k) for k in range(1, 9)])
    store.record(tournament, [record(1, ranks=[1, 2]), record(2, ranks=[2, 1], actions=[[0, (1, 2)]])])
    yield store
    let_leaderboards_rest(None)
    store.close()


@pytest.fixture
def computed(monkeypatch):
    """How often a leaderboard was computed; each takes two seconds of a processor that nobody has."""
    clocks, calls = Clocks(2.0), []
    real = leaderboard_cache.read_results

    def read(*given):
        clocks.compute()
        calls.append(given)
        return real(*given)

    monkeypatch.setattr(leaderboard_cache, "read_results", read)
    leaderboard_cache._read.cache_clear()
    let_leaderboards_rest(clocks.boards())
    return calls


def test_profiles_of_a_ladder_that_is_played_compute_it_once(store, tmp_path, computed):
    for match in range(3, 7):
        store.record(store.tournament("t"), [record(match)])
        for bot in ("a@1", "b@1"):
            bot_profile(store, bot, cache_directory=tmp_path)
    assert len(computed) == 1


def test_without_a_rest_it_is_that_of_all_records(store, tmp_path, computed):
    let_leaderboards_rest(None)
    for match in range(3, 7):
        store.record(store.tournament("t"), [record(match)])
        assert leaderboard(store, store.tournaments(), None, tmp_path).matches == match
    assert len(computed) == 4


def test_after_a_correction_it_does_not_rest(store, tmp_path, computed):
    assert leaderboard(store, store.tournaments(), None, tmp_path).matches == 2
    void_matches(store, "t", [1], reason="a test")
    assert leaderboard(store, store.tournaments(), None, tmp_path).matches == 1


def test_when_the_tournament_is_finished_it_does_not_rest(store, tmp_path, computed):
    assert leaderboard(store, store.tournaments(), None, tmp_path).matches == 2
    store.record(store.tournament("t"), [record(3)])
    assert leaderboard(store, store.tournaments(), None, tmp_path).matches == 2
    store.set_finished(store.tournament("t"), True)
    assert leaderboard(store, store.tournaments(), None, tmp_path).matches == 3
