import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from arena.community.contests.contest_places import has_embargoed_home
from arena.community.contests.stages import open_embargoed_home
from arena.store.people.contest import ContestPhase
from arena.store.results.connection import Database
from tests.community.contests.samples import DEADLINE, FREEZE, SEALED
from tests.community.contests.world import World
from tests.store.people.conftest import FakeClock


class KilledError(BaseException):
    """What a test raises in the place of SIGKILL: nothing may catch it."""


@pytest.fixture
def kill_at(monkeypatch):
    write, left = Database.write, []

    def counted(self, *arguments, **keywords):
        if left:
            left[0] -= 1
            if left[0] == 0:
                raise KilledError
        done = write(self, *arguments, **keywords)
        if left and left[0] == -1:
            raise AssertionError("it was killed already")
        return done

    monkeypatch.setattr(Database, "write", counted)

    def set_at(number):
        left[:] = [] if number is None else [number]

    return set_at


def each_moment(tmp_path, now, kill_at, go_on, check, most=60):
    """From one state, kill at the first, second, … transaction, look, and continue; return how many there were."""
    for number in range(1, most):
        place = tmp_path / f"killed-{number}"
        shutil.copytree(tmp_path / "before", place)
        at = now.seconds
        world = World(place, now, is_new=False)
        was_killed = False
        try:
            kill_at(number)
            go_on(world)
        except KilledError:
            was_killed = True
        finally:
            kill_at(None)
            world.close()
        world = World(place, now, is_new=False)
        check(world, not was_killed)
        go_on(world)
        check(world, True)
        world.close()
        now.seconds = at
        shutil.rmtree(place)
        if not was_killed:
            return number
    raise AssertionError("there are more transactions than were expected")


def just_before_the_freeze(tmp_path):
    now = FakeClock()
    (tmp_path / "before").mkdir()
    world = World(tmp_path / "before", now)
    world.announce()
    world.three_authors()
    now.seconds = FREEZE - 10
    return now, world


@pytest.mark.slow
def test_a_freeze_that_is_killed_at_each_transaction_shows_nothing_more(tmp_path, kill_at):
    now, world = just_before_the_freeze(tmp_path)
    world.play(lambda stored: len(world.results()) >= 4)
    shown, public = world.results(), world.public_canaries()
    assert public
    world.submit_bot("zoe", "zoebot", index=3)()
    world.close()
    now.seconds = FREEZE

    def go_on(world):
        world.play(lambda stored: has_embargoed_home(world.directory, "spring"), steps=3)

    def check(world, is_done):
        assert world.results() == shown
        assert world.public_canaries() <= public
        if is_done:
            with open_embargoed_home(world.directory, "spring") as hidden:
                assert shown.items() <= world.results(hidden).items()

    assert each_moment(tmp_path, now, kill_at, go_on, check) > 5


@pytest.mark.slow(sample=True)
def test_results_that_are_revealed_and_killed_at_each_transaction_are_all_there_once(tmp_path, kill_at):
    now, world = just_before_the_freeze(tmp_path)
    world.play(lambda stored: now.seconds >= FREEZE - 7)
    now.seconds = DEADLINE + 1
    world.play()
    with open_embargoed_home(world.directory, "spring") as hidden:
        expected = world.results(hidden)
    assert {name for name, _ in expected} == {"spring-qualification", "spring"}
    before = world.results()
    assert before != {}
    world.people.contests.ask_to_reveal("dora", "spring")
    world.close()

    def check(world, is_done):
        now_there = world.results()
        for name in world.contest().contest.tournaments:  # each is taken at once
            own, whole = (
                {key: value for key, value in results.items() if key[0] == name} for results in (now_there, expected)
            )
            assert own in (whole, {key: value for key, value in before.items() if key[0] == name})
        if is_done:
            assert (world.phase, now_there) == (ContestPhase.FINISHED, expected)
            world.verify()

    assert each_moment(tmp_path, now, kill_at, World.play, check) >= 3


@pytest.mark.slow
def test_a_program_that_is_killed_plays_a_sealed_contest(tmp_path):
    """With real processes and on the clock of the machine."""
    world = World(tmp_path, time.time)
    begin = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    times = {"opens_at": begin.isoformat(), "deadline_at": (begin + timedelta(seconds=3)).isoformat()}
    world.announce(**SEALED, **times, time_zone='"UTC"', qualification=None, final="{ encounters = 1 }")
    world.three_authors()

    def recorded():
        assert world.public_canaries() == set()
        assert world.home.store.tournaments() == []
        if not has_embargoed_home(world.directory, "spring"):
            return 0
        with open_embargoed_home(world.directory, "spring") as hidden:
            return len(world.results(hidden))

    run_until(world, lambda: recorded() > 0)
    run_until(world, lambda: recorded() == 6 and world.phase is ContestPhase.PLAYED)
    with open_embargoed_home(world.directory, "spring") as hidden:
        expected = world.results(hidden)
    world.people.contests.ask_to_reveal("dora", "spring")
    run_until(world, lambda: world.phase is ContestPhase.FINISHED)
    assert world.results() == expected
    world.verify()
    world.close()


def run_until(world, has_come):
    arguments = [str(os.getpid()), str(world.directory)]
    command = [sys.executable, "-m", "arena.community.contests.director_program", *arguments]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as program:
        while not has_come():
            assert program.poll() is None
            time.sleep(0.2)
        os.killpg(program.pid, signal.SIGKILL)
