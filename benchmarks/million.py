"""A home with a million matches of a thousand bots, for figures about the site.

``python -m benchmarks.million DIRECTORY`` makes it, in some minutes. One tournament is a round robin in two games. Its
records are those of real matches under other names, so that every board can be replayed up to its last action; some are
made to end by a fault or at the limit of plies. Small tournaments of some of the bots follow. Strengths are spread
evenly, and who wins is decided by a hash.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from functools import partial
from hashlib import blake2b
from itertools import combinations, islice
from pathlib import Path

from arena.base.bot_text import OPERATOR
from arena.base.definition import Definition, GameChoice
from arena.base.enums import FaultKind
from arena.base.records import Bot, Limits, MatchRecord, ScheduledMatch, TimeControl
from arena.match.single_match import play_match
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of

BOTS = 1000
SMALL_TOURNAMENTS = 20
SMALL_BOTS = 10
RECORDS_AT_A_TIME = 20_000
GAMES = (("differences", {"size": 4, "scoring": "distinct"}), ("multiplication", {"players": 2, "size": 7}))
DRAWS, FAULTS, ADJUDICATED = 0.10, 0.01, 0.003
"""Shares of the matches."""
PLACES = ([1, 2], [2, 1], [1, 1])


def templates():
    """Return rows of real matches by game, ranks and kind of fault; None stands for no fault."""
    found = defaultdict(list)
    for number, (game, options) in enumerate(GAMES):
        for seed in range(60):
            chance = random.Random(seed)
            played = play_match(game, *[partial(_choose, chance)] * 2, options=options, rng_seed=seed)
            for ranks in PLACES:
                _add(found, number, played, ranks)
    return found


def _choose(chance, game, state, clock):
    return chance.choice(list(game.legal_actions(state)))


def _add(found, game, played, ranks):
    """Add a match with some ranks: as it was, or as if it had ended otherwise."""
    values = {
        **played.to_json(OPERATOR),
        "bots": ["A@1", "B@1"],
        "ranks": ranks,
        "tournament": "season",
        "match": 0,
        "encounter": 0,
    }
    if played.ranks == tuple(ranks):
        found[game, tuple(ranks), None].append(_template(values))
        found[game, tuple(ranks), "adjudication"].append(_template({**values, "termination": "adjudication"}))
    if ranks != [1, 1]:
        for kind in FaultKind:
            fault = {"seat": ranks.index(2), "kind": kind, "ply": len(played.actions) - 1, "detail": f"made up: {kind}"}
            found[game, tuple(ranks), kind].append(_template({**values, "termination": "forfeit", "faults": [fault]}))


def _template(values):
    return row_of(MatchRecord.from_json(json.loads(json.dumps(values))))


def definition(name, bots):
    """Return the definition of a tournament of some bots."""
    return Definition(
        name=name,
        games=tuple(GameChoice(game=game, options=options, players=2) for game, options in GAMES),
        entrants=tuple(Bot(name=f"bot{k:04}", version="1", command=("x",), directory="/") for k in bots),
        format="round-robin",
        encounters=1,
        opening_plies=0,
        time_control=TimeControl(),
        limits=Limits(),
        rng_seed=1,
        isolation="none",
        fresh_bots=False,
        workers=1,
    )


def schedule(count):
    """Yield the matches: each pair's encounter with both seats, in one of the games."""
    match = 0
    for encounter, pair in enumerate(combinations(range(count), 2), 1):
        for seats in (pair, pair[::-1]):
            match += 1
            yield ScheduledMatch(
                match=match, encounter=encounter, round=1, game=encounter % 2, seats=seats, opening=encounter,
                opening_actions=(), rng_seed=match,
            )  # fmt: skip


def rows(name, bots, found):
    """Yield the records of a tournament in the form they are stored."""
    for line in schedule(len(bots)):
        hashed = blake2b(f"{name}/{line.match}".encode(), digest_size=12).hexdigest()
        chance, other, pick = (int(hashed[k : k + 8], 16) / 2**32 for k in (0, 8, 16))
        better = 0.5 + 0.49 * (bots[line.seats[0]] - bots[line.seats[1]]) / BOTS
        ranks = (1, 1) if chance < DRAWS else (1, 2) if (chance - DRAWS) / (1 - DRAWS) < better else (2, 1)
        end = None
        if other < FAULTS and ranks != (1, 1):
            end = list(FaultKind)[int(other / FAULTS * len(FaultKind))]
        elif FAULTS <= other < FAULTS + ADJUDICATED:
            end = "adjudication"
        choice = found[line.game, ranks, end] or found[line.game, ranks, None] or found[line.game, (1, 2), None]
        template = choice[int(pick * len(choice))]
        labels = [f"bot{bots[seat]:04}@1" for seat in line.seats]
        text = json.dumps(labels, separators=(",", ":"))
        record = template.record.replace('"tournament":"season"', f'"tournament":"{name}"', 1)
        record = record.replace('["A@1","B@1"]', text, 1).replace('"match":0', f'"match":{line.match}', 1)
        yield template._replace(
            match=line.match,
            encounter=line.encounter,
            bots=text,
            opening_hash=f"{line.opening:024x}",
            actions_hash=hashed,
            record=record.replace('"encounter":0', f'"encounter":{line.encounter}', 1),
            faults=tuple((seat, labels[seat], kind) for seat, _, kind in template.faults),
        )


def make(directory):
    """Make the home."""
    found = templates()
    with ArenaHome(directory) as home:
        small = [range(k * 40, k * 40 + SMALL_BOTS * 4, 4) for k in range(SMALL_TOURNAMENTS)]
        for name, bots in [("season", range(BOTS)), *((f"cup {k:02}", bots) for k, bots in enumerate(small, 1))]:
            tournament = home.store.create_tournament(definition(name, bots), schedule(len(bots)))
            coming = rows(name, bots, found)
            while some := list(islice(coming, RECORDS_AT_A_TIME)):
                home.store.record(tournament, some)
            home.store.set_finished(tournament, True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description="Make a big home.")
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    started = time.perf_counter()
    make(directory)
    print(f"{directory}: made in {time.perf_counter() - started:.0f} s")
