"""What watching costs a tournament: the same one with nobody watching, with viewers of its page, and of its matches.

    python -m benchmarks.watching [--rounds 8] [--seconds 10] [--viewers 20] [--watched 2]

One run each of quick matches (bots that answer at once) and of slow ones (bots that compute), with a worker for each
core, so that whatever the site takes is missing. Each round has every way of watching once, in an order that is turned
from round to round, and is compared with itself. Viewers do what a browser does: they read events of their page, and
ask for the page again when one concerns it. They run on the same machine, so what they take is missing too.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import instant_bot, machine
from benchmarks.site import HOST, TICKS, Server
from benchmarks.site_client import HEADERS

NAME = "watched"
TOURNAMENT = """
game = "plusminus"
options = {{ size = 11 }}
format = "round-robin"
encounters = 500000
workers = {workers}

[time_control]
per_action_seconds = {seconds}

[[entrants]]
bot = "{bot}"
name = "one"
args = ["busy", "{busy}"]

[[entrants]]
bot = "{bot}"
name = "two"
args = ["busy", "{busy}"]
"""
KINDS = {"quick": 0, "slow": 20_000}
"""Microseconds of CPU time for each of the 31 actions of a match."""

SETTLE_SECONDS = 3.0
LOOK_SECONDS = 0.02
AHEAD = 8
"""Matches that whoever watches them asks for before they begin."""

RESAMPLES = 10_000
COUNTED = ("events", "states", "pages")
HEADING = (
    "matches",
    "watched",
    "matches/s",
    "of those with nobody",
    "too late",
    "director / web / builders / viewers, % of a core",
    "events / states / pages a second",
    "refused",
)


@dataclass
class Seen:
    """What viewers were sent, and what has become of the tournament.

    Attributes:
        events: of streams.
        states: of matches, among the events.
        pages: that viewers asked for.
        refused: pages that were not there.
        per_second: matches that were recorded in a second.
        timeouts: faults of bots that were too late, and matches that were void.
        cores: the CPU time in a second of the director, of the web process, of its builders, and of the viewers.
    """

    events: int = 0
    states: int = 0
    pages: int = 0
    refused: int = 0
    per_second: float = 0.0
    timeouts: int = 0
    cores: dict = field(default_factory=dict)


class Tournament:
    """A tournament that is played in the background, in a session of its own as in a terminal of its own."""

    def __init__(self, home, kind, workers, seconds):
        self.home = home
        file = Path(home) / f"{NAME}.toml"
        bot = instant_bot().command[0]
        file.write_text(TOURNAMENT.format(bot=bot, busy=KINDS[kind], workers=workers, seconds=seconds))
        command = [sys.executable, "-m", "arena", "run", str(file), "--home", str(home), "-q"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        while self.recorded() < 5:
            assert self.process.poll() is None
            time.sleep(0.2)

    def recorded(self):
        """Return how many matches have a record."""
        (count,) = self._ask("SELECT record_count FROM tournaments") or (0,)
        return count

    def timeouts(self):
        """Return how many actions came too late, or perhaps did."""
        (late,) = self._ask("SELECT count(*) FROM faults WHERE kind = 'timeout'") or (0,)
        (void,) = self._ask("SELECT count(*) FROM voids") or (0,)
        return late + void

    def _ask(self, question):
        path = f"file:{self.home}/arena.sqlite3?mode=ro"
        with contextlib.suppress(sqlite3.OperationalError), closing(sqlite3.connect(path, uri=True)) as connection:
            return connection.execute(question).fetchone()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Viewer:
    """Somebody with a page open.

    Args:
        port: of the server.
        seen: counts what it is sent.
    """

    def __init__(self, port, seen):
        self.port, self.seen, self.etags, self.refreshing = port, seen, {}, {}

    async def read(self, topics):
        """Read events, and ask for pages again as live.js does, until this is cancelled."""
        reader, writer = await self._get(f"/events?topics={','.join(topics)}")
        try:
            kind = ""
            while line := (await reader.readline()).decode():
                if line.startswith("event: "):
                    kind = line[7:].strip()
                elif line.startswith("data: "):
                    self._hear(kind, json.loads(line[6:])["topic"], topics)
        finally:
            writer.close()
            for task in self.refreshing.values():
                task.cancel()

    def _hear(self, kind, topic, topics):
        self.seen.events += 1
        self.seen.states += kind == "live"
        if topic in topics and (topic not in self.refreshing or self.refreshing[topic].done()):
            pause = 0.0 if kind == "live" else 0.3 * random.random()
            self.refreshing[topic] = asyncio.create_task(self._refresh(topic, pause))

    async def _refresh(self, topic, pause):
        await asyncio.sleep(pause)
        for late in range(1, 100):
            reader, writer = await self._get(f"/{topic}", self.etags.get(topic))
            data = await reader.read(-1)
            writer.close()
            head = data.partition(b"\r\n\r\n")[0].decode().lower()
            self.seen.pages += 1
            self.seen.refused += head.split(" ")[1] not in ("200", "202", "304")
            if found := re.search(r"^etag: (.*)$", head, re.M):
                self.etags[topic] = found[1].strip()
            again = re.search(r"^retry-after: (\d+)", head, re.M)
            if not again:
                return
            await asyncio.sleep(max(int(again[1]), min(late, 30)))

    async def _get(self, path, etag=None):
        reader, writer = await asyncio.open_connection(HOST, self.port, limit=2**20)
        condition = f"If-None-Match: {etag}\r\n" if etag else ""
        host = HEADERS.format(host=f"{HOST}:{self.port}")
        close = "" if path.startswith("/events") else "Connection: close\r\n"
        writer.write(f"GET {path} HTTP/1.1\r\n{close}{condition}{host}\r\n".encode())
        return reader, writer


async def follow_matches(viewer, tournament, number, of):
    """Watch every match whose number leaves a rest, from before it begins until it has ended."""
    while True:
        recorded = await asyncio.to_thread(tournament.recorded)
        coming = [match for match in range(recorded + 1, recorded + 1 + of * AHEAD) if match % of == number]
        reading = asyncio.create_task(viewer.read([f"tournaments/{NAME}/matches/{match}" for match in coming]))
        try:
            while await asyncio.to_thread(tournament.recorded) < coming[AHEAD // 2]:
                await asyncio.sleep(0.1)
        finally:
            reading.cancel()


async def watched(tournament, server, way, options):
    """Return what is seen in some seconds of one way of watching."""
    seen = Seen()
    if way == "page":
        viewers = [Viewer(server.port, seen).read([f"tournaments/{NAME}"]) for _ in range(options.viewers)]
    elif way == "matches":
        viewers = [
            follow_matches(Viewer(server.port, seen), tournament, number, options.watched)
            for number in range(options.watched)
        ]
    else:
        viewers = []
    tasks = [asyncio.create_task(viewer) for viewer in viewers]
    await asyncio.sleep(SETTLE_SECONDS)
    seen.events = seen.states = seen.pages = seen.refused = 0
    late, cpu, began = tournament.timeouts(), cpu_seconds(tournament, server), time.monotonic()
    seen.per_second = await rate(tournament, options.seconds)
    lasted = time.monotonic() - began
    seen.cores = {
        name: (after - cpu.get(name, 0.0)) / lasted for name, after in cpu_seconds(tournament, server).items()
    }
    seen.timeouts = tournament.timeouts() - late
    for name in COUNTED:
        setattr(seen, name, getattr(seen, name) / lasted)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return seen


async def rate(tournament, seconds):
    """Return the matches per second, from one record to another."""
    counts, began = [], time.monotonic()
    while time.monotonic() - began < seconds or len(counts) < 2:
        count = await asyncio.to_thread(tournament.recorded)
        if not counts or counts[-1][1] != count:
            counts.append((time.monotonic(), count))
        await asyncio.sleep(LOOK_SECONDS)
    (first_at, first), (last_at, last) = counts[1 if len(counts) > 2 else 0], counts[-1]
    return (last - first) / (last_at - first_at)


def cpu_seconds(tournament, server):
    """Return the CPU time so far of the processes that are of interest."""
    web, *builders = server.processes()
    return {
        "director": cpu_of([tournament.process.pid]),
        "web": cpu_of([web]),
        "builders": cpu_of(builders),
        "viewers": time.process_time(),
    }


def cpu_of(pids):
    used = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
    return used / TICKS


def interval(ratios):
    """Return where the middle 95 % of bootstrapped medians are."""
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def measure(kind, options):
    """Print what each way of watching costs."""
    ways = ["nobody", "page", "matches"] if KINDS[kind] else ["nobody", "page"]
    with tempfile.TemporaryDirectory() as home:
        tournament = Tournament(home, kind, options.workers, options.per_action_seconds)
        server = Server(home)
        try:
            rounds = []
            for number in range(options.rounds):
                turned = ways[number % len(ways) :] + ways[: number % len(ways)]
                one = {way: asyncio.run(watched(tournament, server, way, options)) for way in turned}
                rounds.append(one)
                print(" ".join(f"{way} {seen.per_second:.2f}" for way, seen in one.items()), file=sys.stderr)
        finally:
            tournament.end()
            server.end()
    for way in ways:
        all_seen = [one[way] for one in rounds]
        ratios = [one[way].per_second / one["nobody"].per_second for one in rounds]
        low, high = interval(ratios)
        cores = {name: statistics.mean(seen.cores.get(name, 0) for seen in all_seen) for name in all_seen[0].cores}
        seen_by = [f"{statistics.mean(getattr(one, name) for one in all_seen):.1f}" for name in COUNTED]
        cells = [
            kind,
            way,
            f"{statistics.median(seen.per_second for seen in all_seen):.2f}",
            f"{100 * statistics.median(ratios):.1f} % ({100 * low:.1f} to {100 * high:.1f})",
            str(sum(seen.timeouts for seen in all_seen)),
            " / ".join(f"{100 * share:.1f}" for share in cores.values()),
            " / ".join(seen_by),
            str(sum(seen.refused for seen in all_seen)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each way of watching in a round")
    parser.add_argument("--viewers", type=int, default=20, help="of the tournament's page")
    parser.add_argument("--watched", type=int, default=2, help="viewers of matches; together they watch every match")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--per-action-seconds", type=float, default=0.5)
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    options = parser.parse_args()
    print(f"{machine()}\n")
    print(f"| {' | '.join(HEADING)} |\n|{' --- |' * len(HEADING)}")
    for kind in options.kinds:
        measure(kind, options)


if __name__ == "__main__":
    main()
