import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

from arena.base.errors import UsageError
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import Choices, MatchState


class Playing:
    def __init__(self, directory, people, slots):
        self.matches = people.unrated_matches
        self._directory, self._slots = directory, slots
        self._submitted, self._begun = 0, []

    def start(self):
        arguments = [str(os.getpid()), str(self._directory), str(self._slots)]
        self.host = subprocess.Popen([sys.executable, "-m", "arena.community.play.host_program", *arguments])
        while self.matches.menu() is None:
            time.sleep(0.05)

    def kill(self):
        self.host.kill()
        self.host.wait()

    def submit(self, program, name):
        """Submit a bot, without a check, under a name that begins so; return what it is chosen by."""
        self._submitted += 1
        path = self._directory / f"{name}{self._submitted}.py"
        path.write_text(program)
        with ArenaHome(self._directory) as home:
            copy = home.bots.copy_in(path)
            home.bots.add(copy)
            return copy.label

    def begin(self, game="differences", bot="arena:greedy", seat=0, milliseconds=60_000, challenger="", **options):
        chosen = {"game": game, "options": json.dumps(options), "seat": seat, "bot": bot, "challenger": challenger}
        choices = Choices(**chosen, per_action_milliseconds=milliseconds)
        one = self.matches.begin(choices, None, f"192.0.2.{len(self._begun)}")
        self._begun.append(one)
        return one

    def leave(self):
        for one in self._begun:
            with contextlib.suppress(UsageError):  # it is over already
                self.matches.end(one.number, "You resigned.")

    def ready(self, one):
        """Return a match when the play host has nothing left to do for it; a limit for every test ends the wait."""
        while (found := self.matches.find(one.secret)).is_waiting:
            time.sleep(0.02)
        return found

    def request(self, one, request, action=""):
        self.matches.request(one.number, request, self.ready(one).position.plies, action)
        return self.ready(one)


@contextlib.contextmanager
def home_to_play_in(directory):
    with ArenaHome(directory):
        pass
    with open_people(directory) as people:
        found = Playing(directory, people, 4)
        try:
            yield found
        finally:
            if getattr(found, "host", None) is not None:
                found.kill()


@pytest.fixture
def playing(tmp_path):
    """Yield a home whose play host has four slots, two for visitors; it is not started."""
    with home_to_play_in(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    with home_to_play_in(tmp_path_factory.mktemp("play-home")) as found:
        found.start()
        yield found


@pytest.fixture
def hosted(started):
    """The same with a play host that has started, for all tests of a module; one that was idle has ended."""
    if started.host.poll() is not None:
        started.start()
    yield started
    started.leave()


def view(match):
    return json.loads(match.position.view)


def actions(match):
    played = [(seat, action) for seat, action, *_ in json.loads(match.position.actions)]
    return [(seat, tuple(action) if isinstance(action, list) else action) for seat, action in played]


__all__ = ["MatchState", "actions", "view"]
