"""Kept fits and cached leaderboards make the next table quicker and no other, whatever their files hold."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from arena.analysis.measures import kept_files, standings_cache
from arena.analysis.measures import leaderboards as leaderboard_cache
from arena.analysis.measures.bot_profile import bot_profile
from arena.analysis.measures.kept_files import checksum_of, read_start
from arena.analysis.measures.leaderboards import Leaderboard, history_over_tournaments, leaderboard
from arena.analysis.measures.resting_leaderboards import (
    LEAST_CPU_SECONDS,
    REST_PER_CPU_SECOND,
    RestingLeaderboards,
    let_leaderboards_rest,
)
from arena.analysis.measures.standings_cache import standings_of
from arena.ratings.set_fit import SetFit
from arena.store.home import ArenaHome
from arena.store.results.scope import Scope
from arena.store.results.store import Store
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.site.duels import tell
from tests.store.results.samples import definition, line, record

BOTS = tuple(f"{letter}@1" for letter in "abcdef")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(standings_cache, "MIN_KEPT_MATCHES", 10)
    rng = random.Random(7)
    with ArenaHome(tmp_path / "home") as opened:
        matches = []
        for number in range(200):
            bots = sorted(rng.sample(BOTS, 2))
            matches.append((bots, rng.choice([[1, 2], [1, 2], [2, 1], [1, 1]]), number // 2))
        tell(opened, matches, "t", entrants=BOTS, games=("differences",))
        opened.store.set_finished(opened.store.tournament("t"), False)
        yield opened


def table(home, is_kept=True):
    return standings_of(home.store, "t", cache_directory=home.cache_directory if is_kept else None)


def assert_right(home):
    kept, afresh = table(home), table(home, is_kept=False)
    assert np.array(kept.fitted.ratings) == pytest.approx(np.array(afresh.fitted.ratings), rel=1e-9)
    assert kept.fitted.draws == pytest.approx(afresh.fitted.draws, abs=1e-8)
    shown = ("rank", "group", "matches", "wins", "rank_interval")
    assert [[getattr(line, name) for name in shown] for line in kept.lines] == [
        [getattr(line, name) for name in shown] for line in afresh.lines
    ]


def path_of(home):
    (path,) = home.cache_directory.glob("*.fit")
    return path


def test_the_next_table_takes_fewer_sweeps_and_is_the_same(home, monkeypatch):
    sweeps, sweep = [], SetFit.sweep
    monkeypatch.setattr(SetFit, "sweep", lambda *arguments: sweeps.append(1) or sweep(*arguments))
    table(home)
    first, _ = len(sweeps), sweeps.clear()
    table(home)
    assert len(sweeps) < first
    assert_right(home)


def test_a_correction_is_followed(home):
    table(home)
    void_matches(home.store, "t", range(1, 41), reason="a power cut")
    assert_right(home)


def sealed(line, data):
    text = json.dumps(line).encode() + b"\n"
    return text + data + checksum_of(text, data)


@pytest.mark.slow
def test_whatever_the_file_holds_the_table_is_right(home):
    table(home)
    path = path_of(home)
    content = path.read_bytes()
    text, _, rest = content.partition(b"\n")
    line, data = json.loads(text), rest[:-4]
    numbers = np.frombuffer(data).copy()
    spoiled = [
        b"",
        content[:-1],
        content[:-20] + bytes([content[-20] ^ 1]) + content[-19:],
        sealed({**line, "key": ["another version", *line["key"][1:]]}, data),
        sealed({**line, "names": line["names"][::-1]}, data),
        sealed({**line, "names": ["x"] * 6}, data),
        sealed({**line, "draw_probability": 1.0}, data),
        sealed({**line, "prior_width": float("inf")}, data),
        sealed(line, np.where(np.arange(12) == 3, np.nan, numbers).tobytes()),
        sealed(line, np.where(np.arange(12) == 9, 0.0, numbers).tobytes()),
    ]
    for other in spoiled:
        path.write_bytes(other)
        assert read_start(path, home.store.tournament("t")) is None
        assert_right(home)
        assert read_start(path, home.store.tournament("t")) is not None
    wild = sealed({**line, "draw_probability": 0.9, "prior_width": 9e3}, np.linspace(9e3, 1.0, 12).tobytes())
    path.write_bytes(wild)
    assert read_start(path, home.store.tournament("t")) is not None
    assert_right(home)


def test_it_is_of_one_tournament_and_goes_with_its_last_match(home, monkeypatch):
    monkeypatch.setattr(standings_cache, "WORTH_CACHING_SECONDS", 0.0)
    table(home)
    path, stored = path_of(home), home.store.tournament("t")
    assert read_start(path, stored).names == BOTS
    assert read_start(path, replace(stored, number=stored.number + 1)) is None
    home.store.set_finished(stored, True)
    table(home)
    assert not path.exists()


def test_a_fit_that_has_not_settled_is_not_kept(home):
    fitted = table(home, is_kept=False).fitted
    path = home.cache_directory / "x.fit"
    kept_files.write_start(path, home.store.tournament("t"), replace(fitted, is_settled=False))
    assert not path.exists()


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
    whole = json.loads(content[:-4])
    if harm == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        whole["lines"][0]["matches"] = {"many": 10**400, "other": "x"}.get(harm, 2)
        text = json.dumps(whole).encode() + b"\n"
        harmed = {"cut": content[:-40], "changed": content.replace(b'"a@1"', b'"c@1"'), "empty": b""}
        path.write_bytes(harmed.get(harm, text + checksum_of(text)))
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
