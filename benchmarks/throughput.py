"""Matches and plies per second of whole tournaments with instant C bots, from the schedule to the store."""

import tempfile
import time

from arena.base.definition import Definition, GameChoice
from arena.base.records import DEFAULT_LIMITS, TimeControl
from arena.games import make_game
from arena.store.home import ArenaHome
from arena.tournament.director import run_tournament
from benchmarks.common import instant_bot, machine

OPTIONS = {"size": 11}  # plusminus: 31 plies


def rate(workers, encounters, fresh_bots=False, isolation="auto"):
    """Return matches/s and plies/s between the first and the last record: the start of the workers is not counted."""
    game = make_game("plusminus", **OPTIONS)
    bots = (instant_bot("a"), instant_bot("b"))
    choice = GameChoice(game="plusminus", options=game.options, players=2)
    definition = Definition(
        name="t",
        games=(choice,),
        entrants=bots,
        format="round-robin",
        encounters=encounters,
        opening_plies=2,
        time_control=TimeControl(),
        limits=DEFAULT_LIMITS,
        rng_seed=1,
        isolation=isolation,
        fresh_bots=fresh_bots,
        workers=workers,
    )
    times = []
    with tempfile.TemporaryDirectory() as directory, ArenaHome(directory) as home:
        run_tournament(definition, home.store, listener=lambda p: times.append((time.perf_counter(), p.recorded)))
        plies = 31 * 2 * encounters
        assert home.store.fault_counts() == {}
    times = [(at, recorded) for at, recorded in times if recorded]
    (started, first), (ended, last) = times[0], times[-1]
    matches = (last - first) / (ended - started)
    return matches, matches * plies / (2 * encounters)


def main():
    print(machine())
    for fresh in (False, True):
        for workers in (1, 2):
            matches, plies = max(rate(workers, 300 if fresh else 2000, fresh) for _ in range(3))
            kept = "launched for every match" if fresh else "kept"
            print(f"bots {kept}, {workers} workers: {matches:,.0f} matches/s, {plies:,.0f} plies/s")


if __name__ == "__main__":
    main()
