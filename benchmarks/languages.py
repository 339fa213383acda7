"""The kits beside each other: building, starting, and a turn in each language, beside C in the same run."""

import os
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from arena.base.records import DEFAULT_LIMITS, Bot, MatchSpec, TimeControl
from arena.games import make_game
from arena.kits.languages import LANGUAGES
from arena.kits.new_bot import new_bot
from arena.match.players.building import build_bots
from arena.match.players.manifest import load_bot
from arena.match.players.player import ScriptedPlayer
from arena.match.players.process_player import ProcessPlayer
from arena.match.referee import Referee
from arena.sandbox.isolation.levels import choose_isolation
from benchmarks.common import machine

STARTS, MATCHES = 15, 40
GAME = "differences"


def turns(bot, isolation):
    """Milliseconds to the first answer of a fresh process, and seconds of its later actions."""
    rules = make_game(GAME)
    first, later = [], []
    for start in range(STARTS):
        player = ProcessPlayer(bot, isolation, DEFAULT_LIMITS)
        draw = random.Random(start)
        try:
            for match in range(MATCHES if start == 0 else 1):
                other = ScriptedPlayer(lambda request, draw=draw: draw.choice(list(request.legal)))
                bots = (bot, Bot(name="other", version="1", command=(), directory=""))
                spec = MatchSpec(
                    match=match,
                    tournament="",
                    game=GAME,
                    options=rules.options,
                    bots=bots,
                    rng_seed=match,
                    time_control=TimeControl(per_action_seconds=5.0),
                )
                began = time.perf_counter()
                record = Referee(spec, [player, other], isolation.label).play()
                assert record.faults == ()
                if match == 0:
                    first.append(1e3 * (time.perf_counter() - began))
                elif match > MATCHES // 2:  # the runtime is warm
                    own = (ply for ply, (seat, _) in enumerate(record.actions) if seat == 0)
                    later += [record.wall_seconds[ply] for ply in own]
        finally:
            player.close()
    return statistics.median(first), statistics.median(later)


def main():
    print(machine())
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # a match and its bots share a core
    isolation = choose_isolation("auto")
    rows = {}
    with tempfile.TemporaryDirectory() as base:
        for name, language in LANGUAGES.items():
            if not all(shutil.which(tool) for tool in language.tools):
                continue
            place = Path(base, name)
            new_bot(place, language, (GAME,))
            bot = load_bot(place)
            began = time.perf_counter()
            build_bots([bot], isolation)
            rows[name] = (time.perf_counter() - began, *turns(bot, isolation))
    floor = rows["c"][2]
    print("| kit | build | a first match | a turn | beside C |\n| --- | --- | --- | --- | --- |")
    for name, (build, first, turn) in rows.items():
        built = f"{build:.1f} s" if LANGUAGES[name].build else "–"
        print(f"| {name} | {built} | {first:.0f} ms | {1e6 * turn:.0f} µs | {turn / floor:.1f}× |")


if __name__ == "__main__":
    main()
