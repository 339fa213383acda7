"""Authors of the site: each submits a small bot in Python, waits until it is accepted, and submits the next version,
at once or some time after the last.

They do so over HTTP, each with a token. Bots of the house and of authors are the same program, so that matches take
as long whoever has entered.
"""

import asyncio
import io
import re
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role, Scope
from benchmarks.site_client import ask_json

BUSY_SECONDS = 0.003
HOUSE_BOTS = 3
PAUSE_SECONDS = 0.5
"""Between two questions of an author, as of `arena submit` at first."""
UNFINISHED = ("waiting", "checking")

MANIFEST = 'name = "{name}"\nversion = "{version}"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'
PROGRAM = """import random
import time

from arena.botkit import run


def choose(game, state, clock):
    until = time.process_time() + {busy_seconds}
    while time.process_time() < until:
        pass
    return random.choice(list(game.legal_actions(state)))


run(choose)
"""
LADDER = """
game = "differences"
options = { size = 5 }
format = "ladder"
opening_plies = 2
rng_seed = 1

[ladder]
margin_95 = 0.01

[time_control]
per_action_seconds = 1.0
"""


def make_ladder(home, name):
    """Write a ladder that always has something to play; return its file."""
    text = LADDER
    for number in range(1, HOUSE_BOTS + 1):
        directory = Path(home) / "house" / f"house{number}"
        directory.mkdir(parents=True, exist_ok=True)
        for file, content in _files(f"house{number}", 1).items():
            (directory / file).write_text(content)
        text += f'\n[[entrants]]\nbot = "{directory}"\n'
    file = Path(home) / f"{name}.toml"
    file.write_text(text)
    return file


def _files(name, version):
    manifest = MANIFEST.format(name=name, version=version)
    return {"bot.toml": manifest, "bot.py": PROGRAM.format(busy_seconds=BUSY_SECONDS)}


def _archive(name, version):
    """Return a bot as a zip."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as writing:
        for file, content in _files(name, version).items():
            writing.writestr(f"{name}/{file}", content)
    return archive.getvalue()


@dataclass
class Version:
    """What became of a version; times are of the monotonic clock, None if it did not come so far.

    Attributes:
        bot: its name@version.
        handed_in_at: when the author began to send it.
        taken_at: when the site had it.
        accepted_at: when the author heard that it is accepted.
        rated_at: when the page of the ladder had a rating of it, with an interval.
    """

    bot: str
    submitted_at: float
    taken_at: float | None = None
    accepted_at: float | None = None
    rated_at: float | None = None


@dataclass
class Authors:
    """People with an account and a token.

    Attributes:
        tokens: by the name of the author, which is also that of the bot.
        pause_seconds: between two versions of an author, at least; the authors begin one after another.
        versions: what they have submitted.
        problems: what they did not expect.
    """

    tokens: dict
    pause_seconds: int = 0
    versions: list = field(default_factory=list)
    problems: list = field(default_factory=list)

    @classmethod
    def join(cls, home, count, pause_seconds=0):
        """Make accounts that nobody has had before; what people may submit is limited by the hour."""
        tokens = {}
        with open_people(home) as people:
            for number in range(1, count + 1):
                name = f"author{int(time.time())}x{number}"
                people.accounts.add(name, Role.AUTHOR, "benchmark")
                tokens[name] = people.tokens.make(people.accounts.get(name), "benchmark", [Scope.SUBMIT], 1)
        return cls(tokens, pause_seconds)

    async def work(self, host, port, ladder):
        """Submit versions, and look who is rated, until this is cancelled."""
        hands_in = [self._submit_bot(host, port, *author, place) for place, author in enumerate(self.tokens.items())]
        await asyncio.gather(self._look(host, port, ladder), *hands_in)

    async def _submit_bot(self, host, port, name, token, place):
        begins_at = time.monotonic() + place * self.pause_seconds / len(self.tokens)
        for number in range(1, 1000):
            await asyncio.sleep(max(0.0, begins_at - time.monotonic()))
            begins_at = time.monotonic() + self.pause_seconds
            version = Version(f"{name}@{number}", time.monotonic())
            self.versions.append(version)
            path = f"/submissions?file_name={name}.zip"
            status, answer = await ask_json(host, port, path, token, _archive(name, number))
            version.taken_at = time.monotonic()
            if status != 200:
                self.problems.append(f"{version.bot}: {status}: {answer.get('error')}")
                return
            await self._wait(host, port, token, answer["to"], version)

    async def _wait(self, host, port, token, path, version):
        state = UNFINISHED[0]
        while state in UNFINISHED:
            await asyncio.sleep(PAUSE_SECONDS)
            status, answer = await ask_json(host, port, path, token)
            if status != 200:
                self.problems.append(f"{path}: {status}")
                continue
            state = answer["line"]["state"]
        if state == "accepted":
            version.accepted_at = time.monotonic()
        else:
            self.problems.append(f"{version.bot}: {state}: {answer['details']['reason']}")

    async def _look(self, host, port, ladder):
        """Note when versions are first rated, from what anybody can read."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            status, answer = await ask_json(host, port, f"/tournaments/{ladder}.json")
            if status != 200:
                continue
            rated = {line["label"] for line in answer["standings"] if line["margin_95"] is not None}
            for version in self.versions:
                if version.rated_at is None and version.bot in rated:
                    version.rated_at = time.monotonic()


def remove_bots(home):
    """Take the bots of all authors out of the arena, so that they do not enter the ladder of the next run."""
    with ArenaHome(home) as arena_home:
        for ladder in arena_home.store.tournaments():
            if re.fullmatch(r"ladder\d+", ladder.name):
                arena_home.store.set_finished(ladder, True)
        for bot in arena_home.store.submitted_bots():
            if re.fullmatch(r"author\d+x\d+", bot.name):
                arena_home.store.remove_bot(bot)  # the files stay: matches that were scheduled may need them
