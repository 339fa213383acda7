"""A home in which a contest is played on a clock that tests set: bots that say something new in every match, and a look
into every file that is not the contest's own.
"""

import subprocess
import time
from contextlib import closing
from secrets import token_hex
from unittest import mock

from arena.analysis.measures.verification import verify
from arena.community.contests import played_contest
from arena.community.contests.played_contest import PlayedContest
from arena.community.submissions.upload_directory import tell_owners
from arena.match.players.player import Answer
from arena.store.home import ArenaHome
from arena.store.people.contest import phase_of
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import Role, SubmissionState
from arena.tournament.director import run_tournament
from arena.tournament.directors.supervised_run import Shutdown
from arena.tournament.run import Order, RunControl
from tests.community.contests.samples import OPENS, contest_of
from tests.tournament.test_director import Scripted

BOT = """import secrets
from arena.botkit import Choice, run

def choose(game, state, clock):
    actions = game.legal_actions(state)
    return Choice(actions[{index} % len(actions)], note="canary-" + secrets.token_hex(8))

run(choose)
"""
CANARY = "canary-[0-9a-f]{16}"


class Controls(RunControl):
    def __init__(self, controls):
        self.controls = controls

    def order(self):
        return next((order for one in self.controls if (order := one.order()) is not Order.PLAY), Order.PLAY)


def playing(executor, controls=()):
    """Let contests be played by an executor, and their runs ask these controls too."""

    def run(*args, control, **options):
        return run_tournament(*args, executor=executor, control=Controls([control, *controls]), **options)

    return mock.patch.object(played_contest, "run_tournament", run)


class Noting(Scripted):
    """Plays as these bots do, without a process for any of them."""

    def _chooser(self, spec):
        return lambda request: Answer(request.legal[0], 0.0, None, "canary-" + token_hex(8))


class World:
    """Matches are played by ``executor``, which is set to "in-process" where bots shall have processes."""

    def __init__(self, directory, now, is_new=True):
        self.now, self.directory, self.executor = now, directory / "home", Noting()
        self._bots = directory / "bots"
        if is_new:
            self._bots.mkdir()
            if now is not time.time:
                now.seconds = OPENS - 3600
        self.home = ArenaHome(self.directory, store=self.directory / "arena.sqlite3")
        self.people = PeopleStore(self.directory / "people.sqlite3", now)

    def close(self):
        self.home.close()
        self.people.close()

    def announce(self, **changed):
        return self.people.contests.add("dora", contest_of(house_bots=None, **changed))

    def author(self, name):
        known = {person.name: person for person in self.people.accounts.all()}
        return known.get(name) or self.people.accounts.add(name, Role.AUTHOR, "test")

    def submit_bot(self, author, name, version="1", index=0, games='["differences"]'):
        place = self._bots / f"{name}-{version}"
        place.mkdir()
        (place / "bot.py").write_text(BOT.format(index=index))
        (place / "bot.toml").write_text(
            f'name = "{name}"\nversion = "{version}"\ncommand = ["python3", "bot.py"]\ngames = {games}\n'
        )
        one = self.people.submissions.add(
            self.author(author), f"{token_hex(8)}-{token_hex(8)}", f"{name}-{version}", 100, "bot.py", ""
        )

        def accept():
            claim = self.people.submissions.claim()
            assert claim.submission.number == one.number
            self.home.bots.add(self.home.bots.copy_in(place))
            claim.finish(SubmissionState.ACCEPTED, "", "", f"{name}@{version}")
            tell_owners(self.people, self.home.store)

        return accept

    def three_authors(self):
        for number, name in enumerate(("ada", "bob", "eve")):
            self.submit_bot(name, f"{name}bot", index=number)()

    def contest(self, name="spring"):
        return self.people.contests.get(name)

    @property
    def phase(self):
        return phase_of(self.contest(), self.people.contests.now())

    def verify(self):
        for name in self.contest().contest.tournaments:
            assert verify(self.home, name).problems == []

    def play(self, until=lambda stored: False, controls=(), steps=60):
        played = PlayedContest("spring", self.home, self.people, Shutdown())
        with closing(played), playing(self.executor, controls):
            for _ in range(steps):
                if played.step() is None or until(self.contest()):
                    return
                self.now.seconds += 1
        raise AssertionError(f"nothing more to do was expected: {self.contest()}")

    def results(self, home=None):
        found = {}
        for tournament in (home or self.home).store.tournaments():
            for record in (home or self.home).store.records(tournament):
                found[tournament.name, record.match] = (record.bots, record.ranks)
        return found

    def public_canaries(self):
        return canaries(*(path for path in self.directory.iterdir() if path.name != "contests"))

    def embargoed_canaries(self):
        return canaries(self.directory / "contests") - self.public_canaries()


def canaries(*places):
    """Return what bots have said that is in files.

    Another process reads them: where this one closes a file of a database, it loses its locks on it.
    """
    command = ["grep", "--recursive", "--no-filename", "--only-matching", "--text", "--extended-regexp"]
    return set(subprocess.run([*command, CANARY, *map(str, places)], capture_output=True).stdout.split())


class Looking(RunControl):
    def __init__(self, look):
        self._look = look

    def order(self):
        self._look()
        return Order.PLAY
