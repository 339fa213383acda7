import contextlib

import pytest

from arena.community.play.host_program import LOOK_SECONDS, NEWS_SECONDS, SHUTDOWN_SECONDS, Host, MenuMaker
from arena.site.matches.playing_model import PlayMenu
from arena.store.home import ArenaHome
from arena.store.people.unrated_match import MENU_SECONDS
from arena.store.results.events import Commits
from tests.store.people.conftest import FakeClock
from tests.written_bots import kit_bot


class Matches:
    """In place of the stored matches: notes the names of submitted bots of each menu, looks, and released claims."""

    def __init__(self):
        self.menus, self.looks, self.released = [], 0, []

    def set_menu(self, body, slots):
        names = [bot.name for bot in PlayMenu.model_validate_json(body).bots]
        self.menus.append([name for name in names if not name.startswith("arena:")])

    def waiting(self):
        self.looks += 1
        return []

    def release_left(self, number):
        self.released.append(number)

    def prune(self):
        pass


@pytest.fixture
def world(tmp_path):
    matches, clock = Matches(), FakeClock()
    clock.seconds = 0.0
    with (
        ArenaHome(tmp_path) as home,
        contextlib.closing(MenuMaker(home, 4, True)) as menu,
        contextlib.closing(Commits([home.store.commit_signal()], LOOK_SECONDS, clock)) as commits,
    ):
        host = Host(matches, commits, menu, 4, (), clock)
        host.step()
        yield home, host, matches, clock


def submit(home, tmp_path):
    (tmp_path / "mine.py").write_text(kit_bot())
    copy = home.bots.copy_in(tmp_path / "mine.py")
    home.bots.add(copy)
    return tmp_path / "bots" / copy.digest


def test_a_bot_is_there_at_the_next_look_after_it_is_listed(world, tmp_path):
    home, host, matches, clock = world
    submit(home, tmp_path)
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[], ["mine@1"]]


def test_nobody_looks_who_waits_until_something_is_committed(world, tmp_path):
    home, host, matches, clock = world
    for _ in range(10):
        host.step()
    assert matches.looks == 1
    submit(home, tmp_path)
    host.step()
    assert matches.looks == 2
    clock.seconds += LOOK_SECONDS
    host.step()
    assert matches.looks >= 3


def test_what_has_not_changed_is_written_to_say_that_somebody_is_here(world):
    _, host, matches, clock = world
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[]]
    clock.seconds = MENU_SECONDS / 12
    host.step()
    assert matches.menus == [[], []]


def test_files_that_were_missing_are_looked_for_again(world, tmp_path):
    home, host, matches, clock = world
    files = submit(home, tmp_path)
    files.rename(tmp_path / "away")
    clock.seconds += NEWS_SECONDS
    host.step()
    (tmp_path / "away").rename(files)
    clock.seconds += NEWS_SECONDS
    host.step()
    assert matches.menus == [[]]
    clock.seconds = MENU_SECONDS / 12
    host.step()
    assert matches.menus == [[], ["mine@1"]]


class StuckProcess:
    """The process of a match that does not end; it takes time to wait for it."""

    def __init__(self, clock):
        self.clock, self.exitcode = clock, None

    def is_alive(self):
        return self.exitcode is None

    def terminate(self):
        pass

    def close(self):
        pass

    def join(self, timeout=0.0):
        self.clock.seconds += timeout

    def kill(self):
        self.exitcode = -9


def test_what_a_killed_process_could_not_release_is_released_and_matches_that_do_not_end_are_killed_together(world):
    _, host, matches, clock = world
    for number, exitcode in ((7, -9), (8, 0), (9, 1)):  # one that ends by itself has done that, or will fail again
        host._programs.running = {number: StuckProcess(clock)}
        host._programs.running[number].exitcode = exitcode
        host.step()
        assert (host._programs.running, matches.released) == ({}, [7])
    host._programs.running = {number: StuckProcess(clock) for number in range(4)}
    host.close()
    assert clock.seconds == SHUTDOWN_SECONDS
    assert [one.exitcode for one in host._programs.running.values()] == [-9] * 4
