"""What unrated matches in the browser cost a ladder: with nobody playing, and with people who play at once.

    python -m benchmarks.playing_beside [--people 2] [--rounds 5] [--seconds 15] [--workers 1 2]

`arena serve --open-to authors` plays a ladder of bots that compute 20 ms for each action and may take 100 ms. People
play over HTTP, without thinking, against a bot that computes 4.5 of the 5 s that it has for each action, so that their
slots are always busy. Parts with and without them take turns, and each round is compared with itself.
"""

import argparse
import asyncio
import os
import sqlite3
import statistics
import tempfile
from contextlib import closing
from pathlib import Path

from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role, Scope
from benchmarks.common import instant_bot, machine
from benchmarks.site import HOST, Server
from benchmarks.site_client import ask_json
from benchmarks.watching import interval, rate

LADDER = "ladder"
BOTS = 4
BUSY_MICROSECONDS = 20_000
SETTLE_SECONDS = 4.0
LOOK_SECONDS = 0.1
MATCH = {"game": "differences", "bot": "thinker@1", "seat": 0, "seconds": 5.0, "options": {"size": 6}}
TEXT = """
game = "plusminus"
options = {{ size = 11 }}
format = "ladder"
workers = {workers}

[ladder]
margin_95 = 0.01

[time_control]
per_action_seconds = 0.1
"""
ENTRANT = """
[[entrants]]
bot = "{bot}"
name = "bot{number}"
args = ["busy", "{busy}"]
"""
THINKER = {
    "bot.toml": 'name = "thinker"\nversion = "1"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n',
    "bot.py": """import time

from arena.botkit import run


def choose(game, state, clock):
    until = time.process_time() + 4.5
    while time.process_time() < until:
        pass
    return game.legal_actions(state)[0]


run(choose)
""",
}


class Ladder:
    """A home with a ladder, and a bot to play against that is not in it."""

    def __init__(self, home, workers):
        self.home = Path(home)
        directory = self.home / "thinker"
        directory.mkdir(parents=True)
        for name, content in THINKER.items():
            (directory / name).write_text(content)
        with ArenaHome(home) as arena_home:
            arena_home.bots.add(arena_home.bots.copy_in(directory))
        text = TEXT.format(workers=workers)
        for number in range(1, BOTS + 1):
            text += ENTRANT.format(bot=instant_bot().command[0], number=number, busy=BUSY_MICROSECONDS)
        self.file = self.home / f"{LADDER}.toml"
        self.file.write_text(text)

    def recorded(self):
        return self._number("SELECT sum(record_count) FROM tournaments")

    def late(self):
        """Return how many actions came too late, or perhaps did."""
        return self._number("SELECT count(*) FROM faults WHERE kind = 'timeout'") + self._number(
            "SELECT count(*) FROM voids"
        )

    def _number(self, question):
        with closing(sqlite3.connect(f"file:{self.home}/arena.sqlite3?mode=ro", uri=True)) as connection:
            return connection.execute(question).fetchone()[0] or 0


class Person:
    """Somebody who plays.

    Attributes:
        actions: how many they have played.
    """

    def __init__(self, port, token):
        self._port, self._token, self.actions = port, token, 0

    async def play(self):
        """Play match after match, until this is cancelled."""
        while True:
            status, answer = await self._ask("/play", MATCH)
            assert status == 200, answer
            try:
                await self._play_one(answer["to"])
            finally:
                await asyncio.shield(self._ask(f"{answer['to']}/resign", {}))

    async def _play_one(self, address):
        while True:
            status, match = await self._ask(address)
            assert status == 200, match
            if match["is_waiting"]:
                await asyncio.sleep(LOOK_SECONDS)
            elif match["state"] == "person":
                action = {"plies": match["plies"], "action": match["view"]["legal"][0]}
                status, answer = await self._ask(f"{address}/act", action)
                assert status == 200, answer
                self.actions += 1
            else:
                assert match["state"] == "over", match["outcome"]
                return

    async def _ask(self, path, fields=None):
        return await ask_json(HOST, self._port, path, self._token, fields=fields)


async def part(ladder, server, tokens, seconds):
    """Return the matches/s of the ladder, how many actions were late, and how many people played, with a token each."""
    people = [Person(server.port, token) for token in tokens]
    tasks = [asyncio.create_task(person.play()) for person in people]
    await asyncio.sleep(SETTLE_SECONDS)
    late, actions = ladder.late(), sum(person.actions for person in people)
    per_second = await rate(ladder, seconds)
    seen = per_second, ladder.late() - late, sum(person.actions for person in people) - actions
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return seen


async def until_ready(ladder, server):
    """Wait until the ladder and the play host are at work."""
    while ladder.recorded() < 2 or (await ask_json(HOST, server.port, "/play"))[1]["refusal"]:
        await asyncio.sleep(0.2)


async def measure(ladder, server, tokens, options):
    await until_ready(ladder, server)
    rounds = []
    for number in range(options.rounds):
        ways = [[], tokens] if number % 2 else [tokens, []]
        rounds.append({bool(way): await part(ladder, server, way, options.seconds) for way in ways})
    return rounds


def row_of(workers, rounds, options):
    ratios = [one[True][0] / one[False][0] for one in rounds]
    low, high = interval(ratios)
    lasted = options.seconds * len(rounds)
    cells = [
        str(workers),
        *(f"{statistics.median(one[way][0] for one in rounds):.2f}" for way in (False, True)),
        f"{100 * statistics.median(ratios):.1f} % ({100 * low:.1f} to {100 * high:.1f})",
        *(str(sum(one[way][1] for one in rounds)) for way in (False, True)),
        f"{sum(one[True][2] for one in rounds) / lasted:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each part")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, len(os.sched_getaffinity(0))])
    options = parser.parse_args()
    print(f"{machine()}\n")
    print(
        "| workers | matches/s alone | beside play | of those alone | late alone | late beside | actions/s of people |"
    )
    print("|" + " --- |" * 7)
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as home:
            ladder = Ladder(home, workers)
            with open_people(home) as people:
                tokens = []
                for number in range(options.people):
                    people.accounts.add(f"person{number}", Role.AUTHOR, "benchmark")
                    person = people.accounts.get(f"person{number}")
                    tokens.append(people.tokens.make(person, "benchmark", [Scope.PLAY], 1))
            server = Server(home, ["--open-to", "authors", "--ladder", str(ladder.file)])
            try:
                print(row_of(workers, asyncio.run(measure(ladder, server, tokens, options)), options), flush=True)
            finally:
                server.end()


if __name__ == "__main__":
    main()
