"""Whether the time of an answer tells if something hidden is there: each route asked for what is there and what is not.

    python -m benchmarks.refusals [--requests 2000]

Both are asked for in turn, in an order that is drawn, on one connection, of `arena serve --only web --open-to authors`.
What is there is a contest whose sealed results are in an embargoed home, and what an author has submitted. The
difference is the median of those within a turn, with the interval of a sign test at 99 %.
"""

import argparse
import http.client
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt

from arena.community.contests.contest_file import reading_of
from arena.community.contests.stages import open_embargoed_home
from arena.community.submissions.upload_directory import UploadDirectory
from arena.store.home import ArenaHome, open_people, uploads_path
from arena.store.people.values import Role, Scope, SubmissionState
from benchmarks import million
from benchmarks.common import machine
from benchmarks.site import HOST, Server

BOTS = 20
QUANTILE = 2.576
"""Of the normal distribution, for 99 %."""
WARM_UP = 50
CONTEST = """
name = "{name}"
title = "A contest"
game = "differences"
opens_at = {opens_at}
deadline_at = {deadline_at}
time_zone = "UTC"
results = "sealed"

[final]
encounters = 1
"""
THERE, NOT_THERE = "sealed", "vacant"


@dataclass(frozen=True)
class Route:
    """What is asked for.

    Attributes:
        name: of the row.
        who: "visitor", or an author by name.
        there: an address of something that is there.
        not_there: the same of nothing.
        method: of the request.
        is_json: whether a program asks.
    """

    name: str
    who: str
    there: str
    not_there: str
    method: str = "GET"
    is_json: bool = True


def contest(name, path, path_of_nothing=None, who="bob", **options):
    nothing = path.replace(THERE, NOT_THERE) if path_of_nothing is None else path_of_nothing
    return Route(name, who, path, nothing, **options)


HIDDEN = f"/contests/{THERE}/hidden/tournaments/{THERE}"
ROUTES = (
    contest("hidden tournament", HIDDEN),
    contest("hidden tournament, visitor", HIDDEN, who="visitor"),
    contest("hidden match", f"{HIDDEN}/matches/1"),
    contest("hidden list of matches", f"{HIDDEN}/matches"),
    contest("public page of a hidden tournament", f"/tournaments/{THERE}", who="visitor", is_json=False),
    contest("public page of a hidden match", f"/tournaments/{THERE}/matches/1", who="visitor", is_json=False),
    contest("directing a hidden tournament", f"/tournaments/{THERE}/direct"),
    contest("page of the contest", f"/contests/{THERE}", who="visitor"),
    contest("page of the contest, author", f"/contests/{THERE}"),
    contest("grades.csv", f"/contests/{THERE}/grades.csv"),
    contest("result.zip", f"/contests/{THERE}/result.zip", who="visitor"),
    Route("upload of another author", "bob", "/submissions/1/upload", "/submissions/9/upload"),
    Route("withdrawing that of another author", "bob", "/submissions/1/withdraw", "/submissions/9/withdraw", "POST"),
    Route("submission with a note and a report, or without", "bob", "/submissions/1", "/submissions/2"),
    Route("the same, visitor", "visitor", "/submissions/1", "/submissions/2"),
)


def prepare(directory):
    """Make the home; return the tokens of authors."""
    with ArenaHome(directory):
        pass
    now = datetime.now().replace(microsecond=0)
    with open_people(directory) as people:
        for name in (THERE, NOT_THERE):
            times = {"opens_at": now - timedelta(days=1), "deadline_at": now + timedelta(days=9)}
            lines = {key: value.isoformat() for key, value in times.items()}
            people.contests.add("benchmark", reading_of(CONTEST.format(name=name, **lines)).check())
        for name in ("ada", "bob"):
            people.accounts.add(name, Role.AUTHOR, "benchmark")
        ada = people.accounts.get("ada")
        for note, report in (("n" * 2000, "r" * 60_000), ("", "")):
            submit_bot(directory, people, ada, note, report)
        scopes = [Scope.READ, Scope.SUBMIT]
        tokens = {
            name: people.tokens.make(people.accounts.get(name), "benchmark", scopes, 1) for name in ("ada", "bob")
        }
    with open_embargoed_home(directory, THERE) as home:
        tournament = home.store.create_tournament(million.definition(THERE, range(BOTS)), million.schedule(BOTS))
        home.store.record(tournament, list(million.rows(THERE, range(BOTS), million.templates())))
    return tokens


def submit_bot(directory, people, person, note, report):
    """Submit something that is rejected."""
    uploads = UploadDirectory(uploads_path(directory))
    with uploads.receive() as receiving:
        receiving.write(f"{note[:10]}{time.monotonic()}".encode())
        came = receiving.keep()
    people.submissions.add(person, came.name, came.digest, came.size_bytes, "bot.zip", note)
    people.submissions.claim().finish(SubmissionState.REJECTED, report, "refused")


class Asker:
    """Somebody who asks on one connection."""

    def __init__(self, port, token):
        self._connection = http.client.HTTPConnection(HOST, port)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, route, path):
        """Return the seconds, the status, and the body without the address that was asked for."""
        accept = "application/json" if route.is_json else "text/html"
        begun = time.perf_counter()
        self._connection.request(route.method, path, headers={**self._headers, "Accept": accept})
        response = self._connection.getresponse()
        body = response.read()
        return time.perf_counter() - begun, response.status, body


def compare(asker, route, count):
    """Return the seconds of answers for what is there and what is not, turn by turn."""
    pairs, statuses, sizes = [], set(), set()
    for number in range(WARM_UP + count):
        paths = [(0, route.there), (1, route.not_there)]
        random.shuffle(paths)
        seconds = [0.0, 0.0]
        for which, path in paths:
            seconds[which], status, body = asker.ask(route, path)
            statuses.add(status)
            sizes.add(len(body))
        if number >= WARM_UP:
            pairs.append(seconds)
    return pairs, statuses, sizes


def interval(values):
    """Return the values between which the median is at 99 %, whatever their distribution."""
    ordered, count = sorted(values), len(values)
    reach = QUANTILE * sqrt(count) / 2
    low, high = int(count / 2 - reach), int(count / 2 + reach) + 1
    return ordered[max(0, low)], ordered[min(count - 1, high)]


def row_of(route, pairs, statuses, sizes):
    there, not_there = (statistics.median(one) for one in zip(*pairs, strict=True))
    differences = [one - other for one, other in pairs]
    low, high = interval(differences)
    cells = [
        route.name,
        route.who,
        ", ".join(map(str, sorted(statuses))),
        "yes" if len(statuses) == len(sizes) == 1 else f"no: {sorted(sizes)}",
        f"{1e6 * there:.0f} µs",
        f"{1e6 * not_there:.0f} µs",
        f"{1e6 * statistics.median(differences):+.1f} µs ({1e6 * low:+.1f} to {1e6 * high:+.1f})",
        f"{100 * statistics.median(differences) / not_there:+.1f} %",
    ]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000, help="for each of the two, of each route")
    parser.add_argument("--only", default="", help="routes whose names have this in them")
    options = parser.parse_args()
    print(f"{machine()}\n")
    print("| route | who | status | same size | there | not there | difference (99 %) | |\n|" + " --- |" * 8)
    with tempfile.TemporaryDirectory() as directory:
        tokens = prepare(directory)
        server = Server(directory, ["--only", "web", "--open-to", "authors"])
        try:
            for route in ROUTES:
                if options.only in route.name:
                    asker = Asker(server.port, tokens.get(route.who))
                    print(row_of(route, *compare(asker, route, options.requests)), flush=True)
        finally:
            server.end()


if __name__ == "__main__":
    main()
