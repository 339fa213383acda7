import json

import pytest

from arena.analysis.measures import leaderboards as leaderboard_cache
from arena.analysis.measures.bot_profile import bot_profile
from arena.analysis.measures.kept_files import digest_of
from arena.analysis.measures.leaderboards import Leaderboard, history_over_tournaments, leaderboard
from arena.analysis.measures.resting_leaderboards import (
    LEAST_CPU_SECONDS,
    REST_PER_CPU_SECOND,
    RestingLeaderboards,
    let_leaderboards_rest,
)
from arena.analysis.measures.standings_cache import standings_of
from arena.store.results.scope import Scope
from arena.store.results.store import Store
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.store.results.samples import definition, line, record


@pytest.fixture
def store(tmp_path):
    """Two tournaments; a has won a match of each, and b one."""
    store = Store(tmp_path / "arena.sqlite3")
    for name in ("first", "second"):
        tournament = store.create_tournament(definition(name=name), map(line, range(1, 9)))
        store.record(tournament, [record(1, ranks=[1, 2]), record(2, ranks=[2, 1], actions=[[0, (1, 2)]])])
    yield store
    store.close()


@pytest.fixture
def computed(monkeypatch):
    calls = []
    real = leaderboard_cache.read_results
    monkeypatch.setattr(leaderboard_cache, "read_results", lambda *given: calls.append(given) or real(*given))
    leaderboard_cache._read.cache_clear()
    return calls


def test_a_leaderboard_is_that_of_the_command_and_sees_a_new_record(store, tmp_path, computed):
    board = leaderboard(store, store.tournaments(), None, tmp_path / "cache")
    assert board.lines == standings_of(store, Scope()).lines
    assert leaderboard(store, store.tournaments(), None, tmp_path / "cache") == board
    assert (board.matches, [one.label for one in board.lines]) == (4, ["a@1", "b@1"])
    store.record(store.tournament("first"), [record(3)])
    assert leaderboard(store, store.tournaments(), None, tmp_path / "cache").matches == 5
    assert len(computed) == 2


def test_profiles_of_all_bots_share_leaderboards(store, tmp_path, computed):
    for bot in ("a@1", "b@1", "a@1"):
        profile = bot_profile(store, bot, cache_directory=tmp_path / "cache")
        found = [(point.tournament, point.matches) for point in profile.history]
        assert found == [("first", 2), ("second", 4)]
    assert len(computed) == 2
    leaderboard_cache._read.cache_clear()  # as in another process
    history_over_tournaments(store, "differences", cache_directory=tmp_path / "cache")
    assert len(computed) == 2


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "link", "many", "other"])
def test_a_file_that_was_harmed_is_not_used(store, tmp_path, computed, harm):
    board = leaderboard(store, store.tournaments(), None, tmp_path / "cache")
    (path,) = (tmp_path / "cache").iterdir()
    content = path.read_bytes()
    whole = json.loads(content[:-16])
    if harm == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        whole["lines"][0]["matches"] = {"many": 10**400, "other": "x"}.get(harm, 2)
        text = json.dumps(whole).encode() + b"\n"
        harmed = {"cut": content[:-40], "changed": content.replace(b'"a@1"', b'"c@1"'), "empty": b""}
        path.write_bytes(harmed.get(harm, text + digest_of(text)))
    leaderboard_cache._read.cache_clear()
    assert leaderboard(store, store.tournaments(), None, tmp_path / "cache") == board
    assert len(computed) == 2


@pytest.mark.parametrize(
    ("most", "titles"), [(None, "first second"), (6, "first second"), (5, "second"), (4, "second"), (3, ""), (0, "")]
)
def test_a_history_that_would_take_too_long_loses_its_beginning(store, most, titles):
    """Two matches are rated for the leaderboard after the first tournament, and four after the second."""
    snapshots = history_over_tournaments(store, "differences", max_matches=most)
    assert [snapshot.title for snapshot in snapshots] == titles.split()


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
    quick = Clocks(LEAST_CPU_SECONDS / 2)
    boards = quick.boards()
    assert [boards.newest("a", quick.compute).matches for _ in range(3)] == [1, 2, 3], "what is quick does not rest"


@pytest.fixture
def resting(store, computed, monkeypatch):
    """A store whose leaderboards take two seconds each of a processor that nobody has."""
    clocks, read = Clocks(2.0), leaderboard_cache.read_results
    monkeypatch.setattr(leaderboard_cache, "read_results", lambda *given: (clocks.compute(), read(*given))[1])
    let_leaderboards_rest(clocks.boards())
    yield store
    let_leaderboards_rest(None)


@pytest.mark.parametrize(
    ("change", "matches", "times"),
    [
        (lambda store: store.record(store.tournament("first"), [record(3)]), 4, 1),
        (lambda store: void_matches(store, "first", [1], reason="a test"), 3, 2),
        (lambda store: store.set_finished(store.tournament("first"), True), 4, 2),
    ],
    ids=["a match", "a correction", "the end"],
)
def test_it_rests_until_a_correction_or_the_end_of_the_tournament(resting, tmp_path, computed, change, matches, times):
    assert leaderboard(resting, resting.tournaments(), None, tmp_path).matches == 4
    change(resting)
    assert leaderboard(resting, resting.tournaments(), None, tmp_path).matches == matches
    assert len(computed) == times
