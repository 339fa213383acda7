"""The director's peak memory at 1,000 and at 100,000 instant matches played in its own process."""

import resource
import subprocess
import sys
import tempfile

from arena.games import make_game
from arena.match.referee import play_match
from arena.players.scripted import ScriptedPlayer
from arena.protocol.messages import Wants
from arena.records import Bot, TimeControl
from arena.store.rows import row_of
from arena.tournament.arena_home import ArenaHome
from arena.tournament.definition import Definition, GameChoice
from arena.tournament.director import run_tournament
from arena.tournament.executors import Played
from benchmarks.common import machine

BATCH = 50


class InProcess:
    """Plays every match at once, with scripted players."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, specs):
        batch = []
        for spec in specs:
            players = [ScriptedPlayer(lambda request: request.legal[0], Wants(observation=False)) for _ in spec.bots]
            batch.append(Played(row_of(play_match(spec, players))))
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch

    def play_again(self, spec):
        raise AssertionError("nothing is void here")


def peak_mebibytes(matches):
    """Run a tournament of that many matches and return this process's peak memory."""
    game = make_game("differences", size=4)
    bots = tuple(Bot(f"bot{k}", "1", ("x",), "/") for k in range(5))
    choice = GameChoice("differences", game.options, 2)
    definition = Definition("t", (choice,), bots, "round-robin", matches // 20, 1, TimeControl(), 1, "none", False, 1)
    with tempfile.TemporaryDirectory() as directory, ArenaHome(directory) as home:
        progress = run_tournament(definition, home.store, executor=InProcess())
        assert progress.recorded == matches
        home.standings("t")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    if len(sys.argv) > 1:
        print(f"{peak_mebibytes(int(sys.argv[1])):.1f}")
        return
    print(machine())
    for matches in (1_000, 10_000, 100_000):
        peak = subprocess.check_output([sys.executable, "-m", "benchmarks.memory", str(matches)], text=True).strip()
        print(f"{matches:,} matches: {peak} MiB at most")


if __name__ == "__main__":
    main()
