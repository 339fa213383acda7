"""A season whose records are made up instead of played: a million matches in a minute, for figures about the store.

Every bot meets every other in one encounter of two matches. Strengths are spread evenly, a match is decided by a hash,
and one in ten is a draw. Definitions, schedule and records go through the store's own statements.
"""

import time
from hashlib import blake2b
from itertools import combinations
from math import comb
from pathlib import Path

from arena.base.definition import Definition, GameChoice
from arena.base.records import Bot, Limits, MatchRecord, ScheduledMatch, SeatReport, TimeControl
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from arena.store.results.schema import SCHEMA_VERSION

BUILD = Path(__file__).resolve().parent / "build"
OPTIONS = {"size": 3}
OPENING = (((0, 0), (0, 1)),)
RECORDS_AT_A_TIME = 20_000
NAME = "t"


def definition(bots, encounters=1):
    """Return the definition of a season."""
    return Definition(
        name=NAME,
        games=(GameChoice(game="differences", options=OPTIONS, players=2),),
        entrants=tuple(Bot(name=f"bot{k:04}", version="1", command=("x",), directory="/") for k in range(bots)),
        format="round-robin",
        encounters=encounters,
        opening_plies=1,
        time_control=TimeControl(),
        limits=Limits(),
        rng_seed=1,
        isolation="none",
        fresh_bots=False,
        workers=1,
    )


def schedule(bots, encounters=1):
    """Yield the matches: each pair's encounter with both seats."""
    match = 0
    for cycle in range(encounters):
        for number, pair in enumerate(combinations(range(bots), 2)):
            for seats in (pair, pair[::-1]):
                match += 1
                yield ScheduledMatch(
                    match=match,
                    encounter=(match + 1) // 2,
                    round=1,
                    game=0,
                    seats=seats,
                    opening=cycle * comb(bots, 2) + number,
                    opening_actions=OPENING,
                    rng_seed=match,
                )


def rows(bots, first, last, encounters=1):
    """Yield the records of matches ``first`` to ``last`` in the form they are stored."""
    template = row_of(_record())
    labels = [f"bot{k:04}@1" for k in range(bots)]
    results = {(1, 2): "[1,2]", (2, 1): "[2,1]", (1, 1): "[1,1]"}
    for line in schedule(bots, encounters):
        if line.match > last:
            return
        if line.match < first:
            continue
        digest = blake2b(f"{line.match}".encode(), digest_size=12).hexdigest()
        text = f'["{labels[line.seats[0]]}","{labels[line.seats[1]]}"]'
        yield template._replace(
            match=line.match,
            encounter=line.encounter,
            bots=text,
            ranks=results[_ranks(line.seats, int(digest[:8], 16) / 2**32, bots)],
            opening_hash=f"{line.opening:024x}",
            actions_hash=digest,
            record=template.record.replace('["bot0000@1","bot0001@1"]', text).replace(
                '"match":1,', f'"match":{line.match},'
            ),
        )


def _ranks(seats, chance, bots):
    """Return the ranks of a match: the better bot wins the more often the further the two are apart."""
    if chance < 0.1:
        return (1, 1)
    better = 0.5 + 0.49 * (seats[0] - seats[1]) / bots
    return (1, 2) if (chance - 0.1) / 0.9 < better else (2, 1)


def _record():
    """Return a record of ordinary length."""
    actions = [[ply % 2, [[ply % 3, (ply + 1) % 3], [ply % 2, ply % 3]]] for ply in range(9)]
    return MatchRecord(
        match=1, tournament=NAME, game="differences", options=OPTIONS, bots=["bot0000@1", "bot0001@1"], rng_seed=1,
        encounter=1, opening=0, opening_plies=1, actions=actions, scores=[7, 5], ranks=[1, 2], termination="normal",
        faults=[], wall_seconds=[None] + [0.0001] * 8, cpu_seconds=[None] * 9, seats=[SeatReport(), SeatReport()],
        notes=[], time_control=TimeControl(), isolation="none",
    )  # fmt: skip


def home_of(bots, unplayed=0, encounters=1):
    """Return the directory of a home with a season of which the last ``unplayed`` matches have no record.

    It is made on first use, in ``benchmarks/build``, once for each version of the store.
    """
    directory = BUILD / f"season-{bots}-{encounters}-{unplayed}-schema-{SCHEMA_VERSION}"
    if not (directory / "complete").exists():
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "arena.sqlite3").unlink(missing_ok=True)
        with ArenaHome(directory) as home:
            tournament = home.store.create_tournament(definition(bots, encounters), schedule(bots, encounters))
            record(home, tournament, rows(bots, 1, tournament.scheduled - unplayed, encounters))
            if not unplayed:
                home.store.set_finished(tournament, True)
        (directory / "complete").touch()
    return directory


def record(home, tournament, coming):
    """Record matches, piece by piece."""
    chunk = []
    for row in coming:
        chunk.append(row)
        if len(chunk) == RECORDS_AT_A_TIME:
            home.store.record(tournament, chunk)
            chunk = []
    if chunk:
        home.store.record(tournament, chunk)


if __name__ == "__main__":
    import sys

    started = time.perf_counter()
    print(home_of(*map(int, sys.argv[1:])), f"{time.perf_counter() - started:.1f} s")
