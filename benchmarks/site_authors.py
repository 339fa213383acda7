"""The site open to authors: the load of `benchmarks.site`, with and without people who submit bots.

    python -m benchmarks.site_authors [--home DIRECTORY] [--authors 3] [--pause-seconds 0] [--rounds 3] [--seconds 40]
        [--rate 300] [--readers 1000]

`arena serve --open-to authors` plays a ladder of bots in Python. Each round has three parts, in an order that is
turned: nothing else, requests and readers, and the same with authors. Parts of a round are compared with each other.
All of it shares this machine, also the clients. An author submits the next version when the last one is accepted;
``--pause-seconds 120`` is as often as an author may, thirty times in an hour.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus

from benchmarks.authors import Authors, make_ladder, remove_bots
from benchmarks.site import HOST, PAGES, Server, asked_for, first_event, idle
from benchmarks.site_client import Reader, ask_at_a_rate, ask_json, ms, percentile, read_events
from benchmarks.watching import cpu_of, interval

SETTLE_SECONDS = 3.0
OPEN_PAGES = ("/submissions", "/ladders", "/contests", "/play", "/log")
"""Which are made anew for everybody who asks."""
PARTS = [("no load", False, False), ("load", True, False), ("load and authors", True, True)]
LEFT_SECONDS = 20.0
BUILD_SECONDS = 120.0
"""For a page to be built the first time; those of a bot with a million matches around it take some ten seconds."""
PLAYING_SECONDS = 120.0
UNBUILT = (HTTPStatus.ACCEPTED, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass
class Part:
    """What was seen in a part of a round.

    Attributes:
        per_second: matches of the ladder that were recorded in a second.
        late: forfeits by time, and void matches.
        answers: to the requests.
        heard: how many events each reader got.
        cores: CPU time in a second, of the web process, of what it has started, and of the clients.
        authors: and what they have submitted.
        ended_at: on the monotonic clock.
    """

    per_second: float
    late: int
    answers: list
    heard: list
    cores: tuple
    authors: Authors
    ended_at: float


class Arena:
    """A home, the server, and its ladder.

    Attributes:
        ladder: the name of the ladder; a new one for each run.
    """

    def __init__(self, home):
        self.home, self.ladder = home, f"ladder{int(time.time())}"
        file = make_ladder(home, self.ladder)
        self.server = Server(home, ["--open-to", "authors", "--ladder", str(file)])

    def direct(self, what):
        """Pause or resume the ladder, as a director on this machine does."""
        command = [sys.executable, "-m", "arena", "--home", str(self.home), "ladder", what, self.ladder]
        subprocess.run([*command, "--reason", "benchmark"], check=True, stdout=subprocess.DEVNULL)

    def recorded(self):
        return self._number("SELECT record_count FROM tournaments WHERE name = ?")

    def late(self):
        of = "(SELECT id FROM tournaments WHERE name = ?)"
        return sum(
            self._number(f"SELECT count(*) FROM {table} WHERE {which} tournament_id = {of}")
            for table, which in (("faults", "kind = 'timeout' AND"), ("voids", ""))
        )

    def _number(self, question):
        path = f"file:{self.home}/arena.sqlite3?mode=ro"
        with closing(sqlite3.connect(path, uri=True)) as connection:
            row = connection.execute(question, [self.ladder]).fetchone()
        return row[0] if row else 0

    def cpu_seconds(self):
        web, *others = self.server.processes()
        return cpu_of([web]), cpu_of(others), time.process_time()

    async def until_playing(self):
        """Wait until the ladder records matches, and nothing that was submitted is left to be checked.

        Ends the program with a sentence if that takes too long.
        """
        before, waited_for = self.recorded(), "the ladder did not record three matches"
        try:
            async with asyncio.timeout(PLAYING_SECONDS):
                while self.recorded() < before + 3:
                    await asyncio.sleep(0.2)
                waited_for = "what was submitted was not checked"
                while (await ask_json(HOST, self.server.port, "/submissions"))[1]["waiting"]:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            sys.exit(f"{waited_for} within {PLAYING_SECONDS:g} s")

    def paths(self):
        """Return what is asked for, in turn."""
        known = [path.format(number=1 + 7 * k, bot=k % 50) for k in range(10) for path in PAGES.values()] * 3
        return [*known, *(f"/tournaments/{self.ladder}" for _ in range(10)), *(OPEN_PAGES * 2)]


async def part(arena, options, has_load, has_authors):
    """Return what is seen in some seconds."""
    await arena.until_playing()
    stop, readers = asyncio.Event(), [Reader() for _ in range(options.readers if has_load else 0)]
    topics = f"tournaments/{arena.ladder}"
    tasks = [asyncio.create_task(read_events(HOST, arena.server.port, topics, one, stop)) for one in readers]
    authors = Authors.join(arena.home, options.authors if has_authors else 0, options.pause_seconds)
    tasks.append(asyncio.create_task(authors.work(HOST, arena.server.port, arena.ladder)))
    await asyncio.sleep(SETTLE_SECONDS)
    counts, cpu, began = (arena.recorded(), arena.late()), arena.cpu_seconds(), time.monotonic()
    if has_load:
        answers = await ask_at_a_rate(HOST, arena.server.port, arena.paths(), options.rate, options.seconds)
    else:
        answers = await asyncio.sleep(options.seconds, [])
    lasted = time.monotonic() - began
    seen = Part(
        per_second=(arena.recorded() - counts[0]) / lasted,
        late=arena.late() - counts[1],
        answers=answers,
        heard=[len(reader.arrivals) for reader in readers],
        cores=tuple((after - before) / lasted for before, after in zip(cpu, arena.cpu_seconds(), strict=True)),
        authors=authors,
        ended_at=time.monotonic(),
    )
    stop.set()
    tasks.pop().cancel()
    await asyncio.gather(*tasks)
    return seen


def build_pages(server, paths, within_seconds=BUILD_SECONDS):
    """Ask for every page until it is there: the first time is what `benchmarks.site` measures.

    Ends the program with a sentence if a page is not there in time, or can't be had at all.
    """
    for path in sorted(set(paths)):
        until = time.monotonic() + within_seconds
        while (status := server.ask(path).status) in UNBUILT:
            if time.monotonic() > until:
                sys.exit(f"{path}: expected the page within {within_seconds:g} s, but its status is still {status}")
            time.sleep(0.05)
        if status != HTTPStatus.OK:
            sys.exit(f"{path}: expected the page, but its status is {status}")


def measure(arena, options):
    """Print what is seen in each round, and then of all."""
    build_pages(arena.server, arena.paths())
    seen = {name: [] for name, *_ in PARTS}
    for number in range(options.rounds):
        turned = PARTS[number % len(PARTS) :] + PARTS[: number % len(PARTS)]
        for name, has_load, has_authors in turned:
            one = asyncio.run(part(arena, options, has_load, has_authors))
            seen[name].append(one)
            print(f"round {number + 1}, {name}: {sentence_of(one)}", flush=True)
    for name, before in (("load", "no load"), ("load and authors", "load")):
        ratios = [one.per_second / other.per_second for one, other in zip(seen[name], seen[before], strict=True)]
        print(f"matches/s with {name}, of those with {before}: {ratio_text(ratios)}")
    for name, parts in seen.items():
        print(f"all, {name}: {all_of(parts)}")
    print(f"authors: {authors_text(seen[PARTS[-1][0]], options.seconds + SETTLE_SECONDS)}")


def sentence_of(one):
    web, started, client = (f"{100 * share:.0f} %" for share in one.cores)
    text = f"{one.per_second:.2f} matches/s, {one.late} too late; web {web}, its programs {started}, client {client}"
    return f"{text}; {answers_text([one])}" if one.answers else text


def all_of(parts):
    per_second = statistics.median(one.per_second for one in parts)
    text = f"{per_second:.2f} matches/s, {sum(one.late for one in parts)} too late"
    return f"{text}; {answers_text(parts)}" if parts[0].answers else text


def answers_text(parts):
    """Return how long answers took, and what readers heard."""
    answers = [answer for one in parts for answer in one.answers]
    times, heard = [answer.seconds for answer in answers], [count for one in parts for count in one.heard]
    others = Counter(answer.status for answer in answers if answer.status not in (200, 202))
    built = sum(answer.status == 202 for answer in answers)
    return (
        f"{len(answers)} requests: p50 {ms(percentile(times, 0.5))}, p99 {ms(percentile(times, 0.99))}, most"
        f" {ms(max(times))}; {built} being computed, others {dict(others)}; readers heard {min(heard)} to {max(heard)}"
    )


def authors_text(parts, seconds):
    """Return how long it took from submitting until a version was taken, accepted and rated."""
    versions = [version for one in parts for version in one.authors.versions]
    accepted = [version for version in versions if version.accepted_at is not None]
    early = [
        version
        for one in parts
        for version in one.authors.versions
        if version.accepted_at is not None and version.accepted_at < one.ended_at - LEFT_SECONDS
    ]
    times = {
        "taken": [one.taken_at - one.submitted_at for one in versions if one.taken_at is not None],
        "accepted": [one.accepted_at - one.submitted_at for one in accepted],
        "rated": [one.rated_at - one.submitted_at for one in versions if one.rated_at is not None],
    }
    text = ", ".join(
        f"{what} after {statistics.median(values):.1f} s (most {max(values):.1f}, {len(values)} versions)"
        for what, values in times.items()
        if values
    )
    unrated = sum(one.rated_at is None for one in early)
    per_minute = 60 * len(accepted) / (seconds * len(parts))
    problems = [problem for one in parts for problem in one.authors.problems]
    return (
        f"{per_minute:.1f} accepted in a minute; {text}; {unrated} of {len(early)} were not rated within"
        f" {LEFT_SECONDS:g} s; problems: {problems or 'none'}"
    )


def ratio_text(ratios):
    low, high = interval(ratios)
    return f"{100 * statistics.median(ratios):.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def main():
    options = asked_for(__doc__, 40.0, authors=3, pause_seconds=0, rounds=3)
    arena = Arena(options.home)
    print(f"started in {arena.server.start_seconds:.2f} s")
    try:
        asyncio.run(arena.until_playing())
        arena.direct("pause")
        time.sleep(SETTLE_SECONDS)
        idle(arena.server)
        arena.direct("resume")
        first_event(arena.server, arena.home)
        measure(arena, options)
    finally:
        print(f"ended in {arena.server.end():.2f} s")
        remove_bots(arena.home)


if __name__ == "__main__":
    main()
