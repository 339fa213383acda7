import logging
import shutil
from unittest.mock import Mock

import pytest

from arena.base.definition import GameChoice
from arena.base.enums import EventKind
from arena.base.errors import StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import Bot
from arena.server.http.opened_home import OpenedHome
from arena.server.http.topics import parse_cursor
from arena.server.http.watcher import MAX_LOGS, Watcher
from arena.store.home import ArenaHome
from arena.store.results.connection import Database
from arena.store.results.live_state import RunProgress
from arena.store.results.values import StoredBot
from tests.databases import DATABASES, on_both
from tests.store.results.samples import definition, line, record


@pytest.fixture(params=DATABASES)
def place(request, tmp_path):
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return tmp_path / "home", url


@pytest.fixture
def home(place):
    directory, url = place
    with ArenaHome(directory, store=url) as home:
        yield home


@pytest.fixture
def tournament(home):
    return home.store.create_tournament(definition(name="t"), [line(match) for match in range(1, 9)])


class Watching:
    def __init__(self, directory, url=None):
        self.home = OpenedHome(directory, url)
        self.changes = []
        self.watcher = Watcher(self.home, self.changes.append)

    def look(self):
        self.changes.clear()
        self.watcher.look()
        assert len(self.changes) <= 1
        return self.changes[0] if self.changes else None

    def changed_by(self, topics, change, of="version_of"):
        ask = getattr(self.watcher, of)
        before = [ask([topic]) for topic in topics]
        change()
        self.look()
        return [topic for topic, old in zip(topics, before, strict=True) if ask([topic]) != old]

    def close(self):
        self.watcher.stop()
        self.home.close()


@pytest.fixture
def watching(place, home, tournament):
    watching = Watching(*place)
    yield watching
    watching.close()


def kinds(change):
    return [(event.tournament, event.stored.seq, event.stored.kind) for event in change.events]


@on_both
def test_it_says_what_was_committed_and_nothing_else(home, tournament, watching):
    assert watching.look() is None
    home.store.record(tournament, [record(1), record(2)])
    home.store.record(tournament, [record(3)])
    change = watching.look()
    assert kinds(change) == [(1, 2, EventKind.RESULTS), (1, 3, EventKind.RESULTS)]
    assert [event.stored.details.matches for event in change.events] == [(1, 2), (3,)]
    assert change.state.last_events == {1: 3}
    assert (change.missed, change.is_replaced) == (frozenset(), False)
    assert watching.look() is None


def test_names_lead_to_tournaments_and_follow_every_change(home, tournament, watching):
    assert watching.watcher.state.tournaments == {"t": 1}
    tournament = home.store.rename(tournament, "u")
    assert watching.look().state.tournaments == {"u": 1}
    home.store.create_tournament(definition(name="t"), [line(1)])
    assert watching.look().state.tournaments == {"u": 1, "t": 2}
    home.store.delete(tournament)
    assert watching.look().state.tournaments == {"t": 2}
    home.store.restore(home.store.deleted_tournament("u"), "v")
    assert watching.look().state.tournaments == {"v": 1, "t": 2}
    home.store.delete(home.store.tournament("v"))
    home.store.erase(home.store.deleted_tournament("v"))
    change = watching.look()
    assert change.state.tournaments == {"t": 2}
    assert not change.is_replaced


def test_a_bot_and_a_game_change_with_their_own_tournaments_only(home, tournament, watching):
    bot = Bot(name="z", version="1", command=("z",), directory="")
    surds = (GameChoice(game="surds", options={}, players=2),)
    made = definition(name="other", games=surds, entrants=(definition().entrants[0], bot))
    other = home.store.create_tournament(made, [line(1)])
    watching.look()
    common = ["bots/a", "bots/a%401"]
    here, there = ["bots/b", "bots/a/versus/b", "games/differences"], ["bots/a/versus/z", "games/surds"]
    row = record(1, tournament="other", bots=["a@1", "z@1"], game="surds")
    for store_of, rows, own in ((tournament, [record(1)], here), (other, [row], there)):
        changed = watching.changed_by([*common, *here, *there], lambda a=store_of, b=rows: home.store.record(a, b))
        assert changed == [*common, *own]


def test_a_submitted_bot_is_a_change_of_its_own_pages_only(home, tournament, watching):
    topics = ["arena", "bots/mine", "bots/mine%402", "bots/mine/versus/a", "bots/a", "bots/a/versus/b"]
    topics += ["games/differences", "tournaments/t"]
    first, second = (StoredBot("mine", version, version * 32, "bot.py", "2026-11-20T12:00:00Z") for version in "12")
    of_any_version = ["arena", "bots/mine", "bots/mine/versus/a"]
    assert watching.changed_by(topics, lambda: home.store.add_bot(first)) == of_any_version
    assert watching.changed_by(topics, lambda: home.store.add_bot(second)) == topics[:4]
    assert watching.changed_by(topics, lambda: home.store.remove_bot(first)) == of_any_version
    cursor = parse_cursor(watching.watcher.version_of(topics[:4]))
    restarted = Watcher(lambda: home, lambda change: None)
    assert restarted.version_of(topics[:4]) == f"{cursor}"
    restarted.stop()


def test_versions_differ_after_any_event_and_what_is_corrected_or_deleted_is_told_from_it(home, tournament, watching):
    topics = ["arena", "tournaments/t", "tournaments/t/matches/1", "tournaments/unknown"]
    without = watching.watcher.version_of([])
    assert watching.changed_by(topics, lambda: home.store.record(tournament, [record(1)])) == topics[:3]
    assert watching.watcher.version_of([]) == without
    with pytest.raises(Exception, match="topic 'x'"):
        watching.watcher.version_of(["x"])
    topics = ["arena", "tournaments/t", "bots/a", "games/differences"]
    for change in (
        lambda: home.store.record(tournament, [record(2)]),
        lambda: home.store.change_definition(tournament, definition(name="t")),
    ):
        assert watching.changed_by(topics, change, "corrections_of") == []
    gone = watching.changed_by(topics, lambda: home.store.delete(home.store.tournament("t")), "corrections_of")
    assert gone == topics


def test_events_that_were_pruned_before_they_were_read_or_are_of_a_newer_arena_are_missed(
    home, tournament, watching, caplog
):
    for match in range(1, 6):
        home.store.record(tournament, [record(match)])
    home.store._database.write(lambda connection: connection.exec_driver_sql("DELETE FROM events WHERE seq < 4"))
    change = watching.look()
    assert change.missed == {1}
    assert change.events == ()
    assert change.state.last_events == {1: 6}
    home.store.record(tournament, [record(6)])
    change = "UPDATE events SET body = '{\"what\": 1}' WHERE seq = 7"
    home.store._database.write(lambda connection: connection.exec_driver_sql(change))
    with caplog.at_level(logging.WARNING):
        assert watching.look().missed == {1}
    assert "a newer arena is needed" in caplog.text


@pytest.mark.slow(sample=("sqlite",))
def test_many_changes_at_once_are_read_again(place, home):
    for number in range(MAX_LOGS + 1):
        home.store.create_tournament(definition(name=f"t{number}"), [line(1)])
    watching = Watching(*place)
    for number in range(MAX_LOGS + 1):
        name = f"t{number}"
        home.store.record(home.store.tournament(name), [record(1, tournament=name)])
    assert len(watching.look().missed) == MAX_LOGS + 1
    watching.close()


def live(match, plies):
    return LiveMatch(
        match=match, started_at="2026-11-22T12:00:00+00:00", since="2026-11-22T12:00:00+00:00",
        actions=tuple((0, 1) for _ in range(plies)), wall_seconds=(0.5,) * plies, cpu_seconds=(None,) * plies,
        bank_seconds=(None, None),
    )  # fmt: skip


@on_both
def test_watched_matches_are_seen(home, tournament, watching):
    state = home.store.live_state(tournament)
    state.show([live(3, 1), live(4, 1)])
    change = watching.look()
    assert [(one.place, one.stored.seq) for one in change.live] == [((1, 3), 1), ((1, 4), 1)]
    assert change.gone == frozenset()
    state.show([live(4, 2)])
    change = watching.look()
    assert [(one.place, one.stored.summary.plies) for one in change.live] == [((1, 4), 2)]
    assert change.state.last_states == {(1, 3): 1, (1, 4): 2}
    state.remove([3])
    change = watching.look()
    assert (change.live, change.gone, change.state.last_states) == ((), {(1, 3)}, {(1, 4): 2})


def test_a_home_that_is_gone_is_found_again(place, home, tournament, watching, caplog):
    directory, url = place
    if url is not None:
        pytest.skip("a server is another test")
    moved = directory.with_name("moved")
    home.close()
    directory.rename(moved)
    for _ in range(3):
        assert watching.look() is None
    assert watching.watcher.lost_at is not None
    assert len(caplog.records) == 1, "it says so once"
    assert not directory.exists(), "nothing was created in its place"
    moved.rename(directory)
    change = watching.look()
    assert watching.watcher.lost_at is None
    assert change is None or not change.is_replaced
    with ArenaHome(directory) as again:
        again.store.record(again.store.tournament("t"), [record(1)])
    assert kinds(watching.look()) == [(1, 2, EventKind.RESULTS)]


def test_a_replaced_file_is_another_store(place, home, tournament, watching, tmp_path):
    directory, url = place
    if url is not None:
        pytest.skip("a server has no file")
    before = watching.watcher.version_of(["arena"])
    with ArenaHome(tmp_path / "other") as other:
        for name in ("x", "y"):
            other.store.create_tournament(definition(name=name), [line(1)])
    home.close()
    for path in directory.glob("arena.sqlite3*"):
        path.unlink()
    shutil.copy(tmp_path / "other" / "arena.sqlite3", directory / "arena.sqlite3")
    change = watching.look()
    assert change.is_replaced
    assert (change.events, change.missed) == ((), frozenset())
    assert change.state.tournaments == {"x": 1, "y": 2}
    assert watching.watcher.version_of(["arena"])[:8] != before[:8]


def test_an_earlier_copy_is_another_store(home, tournament, watching):
    home.store.record(tournament, [record(1)])
    watching.look()
    home.store._database.write(lambda connection: connection.exec_driver_sql("UPDATE topics SET seq = 1"))
    home.store._database.write(lambda connection: connection.exec_driver_sql("DELETE FROM events WHERE seq > 1"))
    assert watching.look().is_replaced


@on_both
def test_a_store_that_can_not_be_read_is_read_later(home, tournament, watching, monkeypatch):
    home.store.record(tournament, [record(1)])
    with monkeypatch.context() as patch:
        patch.setattr(Database, "read", Mock(side_effect=StoreError("locked")))
        assert watching.look() is None
        assert watching.watcher.lost_at is not None
    assert kinds(watching.look()) == [(1, 2, EventKind.RESULTS)]
    assert watching.watcher.lost_at is None


def test_contests_change_what_is_said_of_them_and_no_page_of_tournaments(place, home, tournament):
    """Nor is anything read again when only they have changed."""
    changes, numbers = [], [7]
    opened = OpenedHome(*place)
    watcher = Watcher(opened, changes.append, contests=lambda: numbers[-1])
    contests, tournaments = watcher.version_of(["contests"]), watcher.version_of(["arena", "tournaments/t"])
    watcher.look()
    assert changes == []
    numbers.append(8)
    watcher.look()
    assert watcher.version_of(["contests"]) != contests
    assert watcher.version_of(["arena", "tournaments/t"]) == tournaments
    assert [(change.events, change.is_replaced) for change in changes] == [((), False)]
    watcher.look()
    assert len(changes) == 1
    watcher.stop()
    opened.close()


def test_progress_is_no_event_and_is_noticed(home, tournament, watching):
    topics, live = ["arena", "tournaments/t", "tournaments/unknown"], home.store.live_state(tournament)
    version = watching.watcher.version_of(["arena"])
    progress = RunProgress(recorded=1, scheduled=8)
    assert watching.changed_by(topics, lambda: live.write_progress(progress), "progress_of") == topics[:2]
    assert (watching.changes[0].progressed, watching.changes[0].events) == ({1}, ())
    assert watching.watcher.version_of(["arena"]) == version
    live.clear()
    assert watching.look().progressed == {1}
