"""The services of the site are killed at random moments while three authors submit versions and a ladder is played.

No submission is lost or doubled, no match is counted twice, and the ladder plays on with everybody's latest version.
"""

import http.client
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import closing

import pytest

from arena.sandbox.isolation import reaper
from arena.store.home import PEOPLE_VARIABLE, STORE_VARIABLE, ArenaHome, open_people
from arena.store.people.schema import rates
from arena.store.people.values import FINAL, Role, Scope, SubmissionState
from arena.store.results.values import read_whole
from tests import needs
from tests.community.ladders import conftest
from tests.community.ladders.conftest import recorded
from tests.leftovers import command_lines
from tests.waiting import wait_until

LADDER = conftest.LADDER.replace("[ladder]\nmatches = 6\n", "")
"""Without an end."""
BOT = "from arena.botkit import run\n\nrun(lambda game, state, clock: game.legal_actions(state)[{index}])\n"
TOML = 'name = "{name}"\nversion = "{version}"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'

AUTHORS = ("ada", "ben", "cleo")
WEB = "web"
PROGRAMS = {
    "checker": "arena.community.submissions.checker",
    "ladder": "arena.community.ladders.open_ladder",
    "contests": "arena.community.contests.director_program",
    "builder": "arena.server.http.builder",
    "worker": "multiprocessing.spawn",
    "play": "arena.community.play.host_program",
}
DEADLINE_SECONDS = 600


def archive(name, version):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for path, text in (("bot.toml", TOML.format(name=name, version=version)), ("bot.py", BOT.format(index=0))):
            file.writestr(zipfile.ZipInfo(f"{name}/{path}"), text + f"# version {version}\n")
    return written.getvalue()


class Author(threading.Thread):
    def __init__(self, name, token, port, versions):
        super().__init__(daemon=True)
        self.name, self.token, self.port, self.versions = name, token, port, versions
        self.numbers = {}
        self.defects = []

    def run(self):
        for version in range(1, self.versions + 1):
            number = None
            while number is None:
                number = self._submitted(archive(self.name, version))
                if number is None:
                    time.sleep(0.3)
            self.numbers[version] = number

    def _submitted(self, data):
        headers = {
            "authorization": f"Bearer {self.token}",
            "accept": "application/json",
            "content-type": "application/octet-stream",
        }
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
                connection.request("POST", f"/submissions?file_name={self.name}.zip", data, headers)
                answer = connection.getresponse()
                health = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None  # it was killed
        if answer.status == 200:
            return int(re.fullmatch(r"/submissions/(\d+)", health["to"])[1])
        if answer.status not in (429, 503) and "wait already" not in health["error"]:
            self.defects.append(health)
        return None


class Site:
    def __init__(self, home, file, port):
        self.port = port
        self.command = [sys.executable, "-m", "arena", "serve", "--home", str(home), "--port", str(port)]
        self.command += ["--open-to", "authors", "--ladder", str(file)]
        self.log = (home / "site.log").open("ab")
        self.process = None

    def start(self):
        """Start it; the services of one that was killed may hold their locks for a moment."""
        while True:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, text=True)
            if "127.0.0.1" in self.process.stdout.readline():
                return
            self.process.wait()
            self.process.stdout.close()

    def kill(self, part):
        if part == WEB:
            self.process.kill()
            self.end()
            self.start()
            return True
        for pid, words in command_lines(reaper.descendants(self.process.pid)).items():
            if PROGRAMS[part] in " ".join(words):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def end(self):
        self.process.wait()
        self.process.stdout.close()


def run_out(people):
    """Let the limits of uploads run out, for an author here asks again every third of a second."""
    people._database.write(lambda connection: connection.execute(rates.delete()))


def until(condition, what):
    wait_until(condition, DEADLINE_SECONDS, lambda: what)


@pytest.fixture
def at_server(postgres, monkeypatch):
    for variable in (STORE_VARIABLE, PEOPLE_VARIABLE):
        monkeypatch.setenv(variable, postgres.new_database())


@pytest.mark.slow
@pytest.mark.usefixtures("at_server")
def test_on_a_server_whatever_is_killed_nothing_is_lost_and_nothing_counts_twice(tmp_path, port):
    weather_storm(tmp_path, port, 4, 1)


@pytest.mark.soak
def test_whatever_is_killed_nothing_is_lost_and_nothing_counts_twice(tmp_path, port):
    weather_storm(tmp_path, port, 100, 10)


def weather_storm(tmp_path, port, kills, versions):
    needs.contained_uploads()
    rng = random.Random(5)
    directory = tmp_path / "home"
    file = tmp_path / "open.toml"
    file.write_text(LADDER)
    with ArenaHome(directory) as home, open_people(directory) as people:
        tokens = {}
        for name in AUTHORS:
            person = people.accounts.add(name, Role.AUTHOR, "test")
            tokens[name] = people.tokens.make(person, "t", [Scope.SUBMIT], 1)
        site = Site(directory, file, port)
        site.start()
        authors = [Author(name, tokens[name], port, versions) for name in AUTHORS]
        try:
            until(lambda: recorded(home) > 0, "the ladder has not begun")
            for author in authors:
                author.start()
            parts = [WEB, "checker", "ladder", "worker", "builder", "contests", "play"]
            done = 0
            while done < kills:
                time.sleep(rng.uniform(0.1, 3.0))  # at any moment of their work
                part = parts[done % len(parts)] if kills < 20 else rng.choice(parts)
                if site.kill(part) or part not in (WEB, "checker", "ladder", "worker"):
                    done += 1
                run_out(people)
            for author in authors:
                until(
                    lambda author=author: run_out(people) or not author.is_alive(),
                    f"{author.name} could not submit everything",
                )
            until(
                lambda: run_out(people) or all(one.state in FINAL for one in people.submissions.latest()), "undecided"
            )
            latest = {f"{name}@{versions}" for name in AUTHORS}
            until(lambda: latest <= read_whole(lambda: playing(home)), "the latest versions do not play")
            before = recorded(home)
            until(lambda: recorded(home) > before + 5, "the ladder does not go on")
        finally:
            site.process.terminate()
            site.end()
            site.log.close()
        assert [author.defects for author in authors] == [[], [], []]
        everything = people.submissions.latest()
        assert len(everything) == len(AUTHORS) * versions
        assert sorted(one.number for one in everything) == sorted(n for a in authors for n in a.numbers.values())
        assert {one.state for one in everything} == {SubmissionState.ACCEPTED}
        accepted = sorted(one.bot for one in everything)
        assert accepted == sorted(f"{name}@{v}" for name in AUTHORS for v in range(1, versions + 1))
        assert accepted == sorted(bot.label for bot in home.store.submitted_bots())
        matches = [record.match for record in home.store.records("open")]
        assert len(matches) == len(set(matches)) == recorded(home)
    done = subprocess.run([sys.executable, "-m", "arena", "verify", "--home", str(directory)], capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def playing(home):
    tournament = home.store.tournament("open")
    bots = tournament.definition.entrants
    last = home.store.last_round(tournament)
    return {bots[k].label for line in home.store.seatings(tournament) if line.round > last - 20 for k in line.seats}
