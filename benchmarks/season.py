"""A whole season in one process: the real scheduler, director, store and ratings, with players in the arena's process.

For 32, 100, 316 and 1,000 bots, everybody meets everybody in one encounter: 992 to 999,000 matches. Each size runs in a
process of its own. ``--plot FILE`` draws how the cost grows.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.analysis.measures.standings_cache import standings_of
from arena.base.definition import Definition, GameChoice
from arena.base.records import Bot, Limits, TimeControl
from arena.base.seeds import pick_below
from arena.games import make_game
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.protocol.messages import Wants
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Executor, Played
from benchmarks.common import machine

BATCH = 200
GAME = make_game("differences", size=3)


def chooser(skill, seed):
    """Choose the action that is best at once with probability ``skill``, else any."""

    def choose(request):
        legal = request.legal
        if pick_below(1000, seed, request.ply) < 1000 * skill:
            state = GAME.state_from_observation(request.observation)
            seat = GAME.seat_to_act(state)

            def lead(action):
                scores = GAME.scores(GAME.apply(state, action))
                return scores[seat] - scores[1 - seat]

            return max(legal, key=lead)
        return legal[pick_below(len(legal), seed, request.ply, "any")]

    return choose


class InProcess(Executor):
    """Plays every match at once, with players of graded skill."""

    def __init__(self, bots):
        self.skill = {bot.label: k / len(bots) for k, bot in enumerate(bots)}
        self.seconds = 0.0

    def __exit__(self, *_):
        pass

    def run(self, queue):
        batch = []
        while (spec := queue.take()) is not None:
            started = time.perf_counter()
            players = [
                ScriptedPlayer(chooser(self.skill[bot.label], (spec.rng_seed, seat)), Wants())
                for seat, bot in enumerate(spec.bots)
            ]
            batch.append(Played(row_of(Referee(spec, players).play())))
            self.seconds += time.perf_counter() - started
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch


def peak_mebibytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def season(size):
    """Play a season of ``size`` bots; return what it cost."""
    bots = tuple(Bot(name=f"bot{k:04}", version="1", command=("x",), directory="/") for k in range(size))
    choice = GameChoice(game="differences", options=GAME.options, players=2)
    definition = Definition(
        name="t",
        games=(choice,),
        entrants=bots,
        format="round-robin",
        encounters=1,
        opening_plies=1,
        time_control=TimeControl(),
        limits=Limits(),
        rng_seed=1,
        isolation="none",
        fresh_bots=False,
        workers=1,
    )
    with tempfile.TemporaryDirectory(dir=os.environ.get("SEASON_DIRECTORY")) as directory, ArenaHome(directory) as home:
        executor = InProcess(bots)
        started = time.perf_counter()
        progress = run_tournament(definition, home.store, executor=executor)
        took = time.perf_counter() - started
        peak = peak_mebibytes()
        tournament = home.store.tournament("t")
        half = progress.recorded // 2
        return {
            "bots": size,
            "matches": progress.recorded,
            "director_seconds": took - executor.seconds,
            "players_seconds": executor.seconds,
            "director_peak_mebibytes": peak,
            "database_bytes": sum(path.stat().st_size for path in Path(directory).glob("arena.sqlite3*")),
            "standings_seconds": timed(lambda: standings_of(home.store, "t", cache_directory=home.cache_directory)),
            "again_seconds": timed(lambda: standings_of(home.store, "t", cache_directory=home.cache_directory)),
            "tournament_seconds": timed(lambda: home.store.tournament("t")),
            "record_seconds": timed(lambda: home.store.record_of(tournament, half)),
            "faults_seconds": timed(lambda: home.store.faults_of(bots[0].label)),
            "peak_mebibytes": peak_mebibytes(),
        }


def draw(rows, path):
    from matplotlib.figure import Figure

    names = {
        "players_seconds": "playing (players included)",
        "director_seconds": "scheduling and recording",
        "standings_seconds": "standings",
        "record_seconds": "one record",
    }
    figure = Figure(figsize=(8, 4.4), layout="tight")
    axes = figure.subplots()
    for (key, title), marker in zip(names.items(), "osD^", strict=True):
        axes.loglog([row["matches"] for row in rows], [row[key] for row in rows], marker=marker, label=title)
    axes.set(title="What a season costs", xlabel="matches", ylabel="seconds")
    axes.legend()
    axes.grid(alpha=0.4)
    figure.savefig(path, format="svg", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, help="only this many bots, as JSON")
    parser.add_argument("--most", type=int, default=1000, help="bots at most")
    parser.add_argument("--plot", help="draw the growth into this SVG")
    chosen = parser.parse_args()
    if chosen.size:
        print(json.dumps(season(chosen.size)))
        return
    print(machine())
    rows = []
    for size in (size for size in (32, 100, 316, 1000) if size <= chosen.most):
        text = subprocess.check_output([sys.executable, "-m", "benchmarks.season", "--size", str(size)], text=True)
        row = json.loads(text)
        rows.append(row)
        matches = row["matches"]
        print(
            f"{size:5} bots {matches:9,} matches: director {1e6 * row['director_seconds'] / matches:5.0f} us a match,"
            f" players {1e6 * row['players_seconds'] / matches:4.0f}; peak {row['director_peak_mebibytes']:.0f} MiB;"
            f" database {row['database_bytes'] / matches:.0f} bytes a match;"
            f" standings {row['standings_seconds']:.2f} s, again {row['again_seconds']:.2f} s"
            f" (peak {row['peak_mebibytes']:.0f} MiB);"
            f" tournament {1e3 * row['tournament_seconds']:.1f} ms, a record {1e3 * row['record_seconds']:.1f} ms,"
            f" a bot's faults {1e3 * row['faults_seconds']:.1f} ms",
            flush=True,
        )
    if chosen.plot:
        draw(rows, chosen.plot)


if __name__ == "__main__":
    main()
