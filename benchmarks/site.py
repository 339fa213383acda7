"""The site with a million matches in the store, while a tournament is played and a thousand readers wait for events.

    python -m benchmarks.site [--home DIRECTORY] [--readers 1000] [--rate 300] [--seconds 30]

The home is made once, in benchmarks/build. Server, readers, requests and the tournament share this machine.
"""

import argparse
import asyncio
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from arena.store.home import ArenaHome
from benchmarks import million
from benchmarks.common import BUILD, instant_bot, machine
from benchmarks.site_client import Reader, ask, ask_at_a_rate, ms, percentile, read_events

HOST = "127.0.0.1"
NAME = "season"
TICKS = os.sysconf("SC_CLK_TCK")
LATE_SECONDS = 0.3
"""The goal for 99 % of the requests for new pages."""

TOURNAMENT = """
game = "plusminus"
format = "round-robin"
encounters = 100000
isolation = "none"
workers = 1

[[entrants]]
bot = "{bot}"
name = "one"

[[entrants]]
bot = "{bot}"
name = "two"
"""

PAGES = {
    "overview": "/",
    "tournament": f"/tournaments/{NAME}",
    "matches": f"/tournaments/{NAME}/matches",
    "matches of a bot": f"/tournaments/{NAME}/matches?bot=bot{{bot:04}}",
    "match": f"/tournaments/{NAME}/matches/{{number}}",
    "bot": "/bots/bot{bot:04}",
    "versus": "/bots/bot{bot:04}/versus/bot0007",
    "leaderboard": "/leaderboards/differences",
    "game": "/games/plaid",
    "health": "/health",
}


class Server:
    """``arena serve`` on a port of its own."""

    def __init__(self, home, arguments=()):
        self.home = home
        begun = time.monotonic()
        command = [sys.executable, "-m", "arena", "serve", "--home", str(home), "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])
        while asyncio.run(ask(HOST, self.port, "/health")).status != 200:
            time.sleep(0.01)
        self.start_seconds = time.monotonic() - begun

    def ask(self, path):
        return asyncio.run(ask(HOST, self.port, path))

    def processes(self):
        """Return the numbers of the server's processes, itself first."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")  # a thread has those that it has started
        children = [int(child) for thread in threads for child in thread.read_text().split()]
        return [self.process.pid, *sorted(children)]

    def cpu_seconds(self):
        """Return the CPU time of the server and of what it has started."""
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.processes()]
        return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS

    def memory_mib(self):
        """Return the memory of each of its processes."""
        return [
            int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024
            for pid in self.processes()
        ]

    def end(self):
        """End it; return how long that took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        return time.monotonic() - begun


def first_times(server, count=30):
    """Print how long each page takes the first time and again, and its size."""
    print(f"{'page':18} {'first p50':>10} {'first max':>10} {'again p50':>10} {'again p99':>10} {'size':>9}")
    for name, path in PAGES.items():
        varies = "{" in path
        paths = [path.format(number=1 + 997 * k, bot=13 * k) for k in range(count)] if varies else [path]
        first = [_until_built(server, one) for one in paths]
        again = [server.ask(paths[0]) for _ in range(100)]
        times = [answer.seconds for answer in again]
        sizes = max(answer.size_bytes for answer in first)
        print(
            f"{name:18} {ms(percentile([a.seconds for a in first], 0.5)):>10} {ms(max(a.seconds for a in first)):>10}"
            f" {ms(percentile(times, 0.5)):>10} {ms(percentile(times, 0.99)):>10} {sizes / 1000:7.1f} kB"
            f" { {a.status for a in first} }"
        )


def _until_built(server, path):
    """Ask for a page until it is there; the time is from the first question."""
    begun = time.monotonic()
    while (answer := server.ask(path)).status == 202:
        time.sleep(0.05)
    answer.seconds = time.monotonic() - begun
    return answer


def idle(server, seconds=10):
    """Print what the server uses when nobody asks."""
    before = server.cpu_seconds()
    time.sleep(seconds)
    share = (server.cpu_seconds() - before) / seconds
    print(f"idle: {100 * share:.1f} % of a core")
    memory_now(server, "when idle")


def memory_now(server, when):
    """Print the memory of each process of the server, the web process first."""
    memory = server.memory_mib()
    print(f"memory {when}: {sum(memory):.0f} MiB, in processes of {', '.join(f'{one:.0f}' for one in memory)}")


class Tournament:
    """A tournament that is played into the home, in the background."""

    def __init__(self, home, name):
        self.log = Path(home) / f"{name}.log"
        file = Path(home) / f"{name}.toml"
        file.write_text(TOURNAMENT.format(bot=instant_bot().command[0]))
        command = [sys.executable, "-m", "arena", "run", str(file), "--home", str(home)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def under_load(server, home, options):
    """Print what readers get and what the tournament loses while both share the machine: first with pages that nobody
    has asked for, then with the same pages again.
    """
    name = f"played{int(time.time())}"
    tournament = Tournament(home, name)
    try:
        time.sleep(5)
        alone = _rate(server, name, 10)
        memory_now(server, "before both loads")
        loads = [asyncio.run(_load(server, name, options)) for _ in range(2)]
        memory_now(server, "after both loads")
        again = _rate(server, name, 10)
    finally:
        tournament.end()
    for load, which in zip(loads, ("new", "known"), strict=True):
        _print_load(*load, which, options)
    beside = ", ".join(f"{load[3]:.0f}" for load in loads)
    print(f"matches/s: {alone:.0f} before, {beside} beside that, {again:.0f} after")


def _print_load(answers, readers, cpu_share, _beside, which, options):
    times = [answer.seconds for answer in answers]
    refused = sum(answer.status not in (200, 202) for answer in answers)
    heard = [len(reader.arrivals) for reader in readers]
    p50, p99 = (ms(percentile(times, share)) for share in (0.5, 0.99))
    pending = sum(answer.status == 202 for answer in answers)
    print(f"{len(answers)} requests for {which} pages at {options.rate:g}/s beside {len(readers)} readers:", end=" ")
    print(f"p50 {p50}, p99 {p99}; {refused} refused, {pending} times 'being computed'")
    print(f"  {100 * cpu_share:.0f} % of a core; readers heard {min(heard)} to {max(heard)} events")
    names = list(PAGES)
    for number, name in enumerate(names):  # the answers are in the order of the requests, which ask for each in turn
        own = answers[number :: len(names)]
        p50, p99 = (ms(percentile([answer.seconds for answer in own], share)) for share in (0.5, 0.99))
        late = sum(answer.seconds > LATE_SECONDS for answer in own)
        pending = sum(answer.status == 202 for answer in own)
        print(
            f"  {name:18} p50 {p50:>9}, p99 {p99:>9}; {late} of {len(own)} after {ms(LATE_SECONDS)}, {pending} pending"
        )


async def _load(server, name, options):
    """Ask at a steady rate while readers wait; return answers, readers, the share of a core, and matches/s."""
    stop, readers = asyncio.Event(), [Reader() for _ in range(options.readers)]
    topics = f"tournaments/{name}"
    reading = [asyncio.create_task(read_events(HOST, server.port, topics, one, stop)) for one in readers]
    await asyncio.sleep(3)
    paths = [path.format(number=1 + 7 * k, bot=k % 50) for k in range(100) for path in PAGES.values()]
    cpu_before, recorded_before, begun = server.cpu_seconds(), await _recorded(server, name), time.monotonic()
    answers = await ask_at_a_rate(HOST, server.port, paths, options.rate, options.seconds)
    seconds = time.monotonic() - begun
    cpu_share = (server.cpu_seconds() - cpu_before) / seconds
    beside = (await _recorded(server, name) - recorded_before) / seconds
    stop.set()
    await asyncio.gather(*reading)
    return answers, readers, cpu_share, beside


def _rate(server, name, seconds):
    """Return how many matches of a tournament are recorded in a second."""
    before, begun = asyncio.run(_recorded(server, name)), time.monotonic()
    time.sleep(seconds)
    return (asyncio.run(_recorded(server, name)) - before) / (time.monotonic() - begun)


async def _recorded(server, name):
    """Return how many matches of a tournament have a record; the database says so without the site."""
    return await asyncio.to_thread(_count, server.home, name)


def _count(home, name):
    with closing(sqlite3.connect(f"file:{home}/arena.sqlite3?mode=ro", uri=True)) as connection:
        row = connection.execute("SELECT record_count FROM tournaments WHERE name = ?", [name]).fetchone()
    return row[0] if row else 0


def first_event(server, home, tries=20):
    """Print how long it takes from a commit to the event at a reader."""
    name = f"heard{int(time.time())}"
    seconds = asyncio.run(_first_events(server, home, name, tries))
    print(f"from a commit to the event: p50 {ms(percentile(seconds, 0.5))}, most {ms(max(seconds))}")


async def _first_events(server, home, name, tries):
    coming = million.rows(name, range(10), million.templates())
    with ArenaHome(home) as arena_home:
        tournament = arena_home.store.create_tournament(million.definition(name, range(10)), million.schedule(10))
        stop, reader, seconds = asyncio.Event(), Reader(), []
        await asyncio.sleep(1)
        reading = asyncio.create_task(read_events(HOST, server.port, f"tournaments/{name}", reader, stop))
        await asyncio.sleep(2)
        for match in range(1, tries + 1):
            known, committed = len(reader.arrivals), time.monotonic()
            arena_home.store.record(tournament, [next(coming)])
            while len(reader.arrivals) == known:
                await asyncio.sleep(0.001)
            seconds.append(reader.arrivals[-1] - committed)
            await asyncio.sleep(0.2 + 0.07 * match)
        stop.set()
        await reading
    return seconds


def asked_for(description, seconds, **others):
    """Return the options of a benchmark of the site; the home is made if it does not exist.

    Args:
        description: of the benchmark.
        seconds: how long it measures by default.
        others: options that are whole numbers, with their defaults.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=BUILD / "million")
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=300.0)
    parser.add_argument("--seconds", type=float, default=seconds, help="of each part")
    for name, default in others.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    options = parser.parse_args()
    print(machine())
    if not options.home.exists():
        million.make(options.home)
    return options


def main():
    options = asked_for(__doc__, 30.0)
    server = Server(options.home)
    print(f"started in {server.start_seconds:.2f} s")
    try:
        idle(server)
        first_times(server)
        first_event(server, options.home)
        under_load(server, options.home, options)
    finally:
        print(f"ended in {server.end():.2f} s")


if __name__ == "__main__":
    main()
