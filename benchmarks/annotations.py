"""1,000 recorded matches annotated: random ones of the five games on boards that are solved, 200 of each.

Records are read from a home and annotations written to it, as by ``arena lab annotate``. The first match of each game
waits for the table of all positions.
"""

import random
import tempfile
import time
from pathlib import Path

from arena.base.definition import Definition, GameChoice
from arena.base.enums import Termination
from arena.base.records import Bot, MatchRecord, ScheduledMatch, SeatReport, TimeControl
from arena.games import make_game
from arena.games.kernels.loading import load
from arena.lab.matches.accuracy import accuracy_of_tournament
from arena.lab.matches.annotating import TournamentAnnotator
from arena.lab.solving.limits import Limits, free_memory_bytes
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from benchmarks.common import machine

GAMES = [
    ("differences", {"size": 8}),
    ("plusminus", {"size": 8}),
    ("multiplication", {"size": 9}),
    ("coprimality", {"size": 10}),
    ("plaid", {"width": 14, "height": 14, "lines": 12}),
]
EACH = 200
OPENING_PLIES = 2


def random_record(match, name, options):
    """Return the record of a match of random actions."""
    game, generator = make_game(name, **options), random.Random(match)
    state, actions = game.initial_state(), []
    while not game.is_over(state):
        action = generator.choice(list(game.legal_actions(state)))
        actions.append([game.seat_to_act(state), action])
        state = game.apply(state, action)
    nothing = (None,) * len(actions)
    return MatchRecord(
        match=match, tournament="t", game=name, options=game.options, bots=("a@1", "b@1"), rng_seed=1,
        encounter=(match + 1) // 2, opening=0, opening_plies=OPENING_PLIES, actions=tuple(actions),
        scores=game.scores(state), ranks=game.ranks(state), termination=Termination.NORMAL, faults=(),
        wall_seconds=nothing, cpu_seconds=nothing, seats=(SeatReport(), SeatReport()), notes=(),
        time_control=TimeControl(), isolation="none",
    )  # fmt: skip


def line(match, game):
    """Return a line of the schedule."""
    values = {"match": match, "encounter": (match + 1) // 2, "round": 1, "game": game, "seats": (0, 1)}
    return ScheduledMatch(**values, opening=0, opening_actions=(), rng_seed=1)


def filled(home):
    """Store a tournament with all matches."""
    games = tuple(
        GameChoice(game=name, options=make_game(name, **options).options, players=2) for name, options in GAMES
    )
    bots = tuple(Bot(name=name, version="1", command=("x",), directory="") for name in "ab")
    numbers = {game: range(game * EACH + 1, (game + 1) * EACH + 1) for game in range(len(GAMES))}
    lines = [line(match, game) for game, matches in numbers.items() for match in matches]
    stored = home.store.create_tournament(Definition(name="t", games=games, entrants=bots), lines)
    for game, matches in numbers.items():
        home.store.record(stored, [row_of(random_record(match, *GAMES[game])) for match in matches])
    return stored


def main():
    print(f"{machine()}\n")
    for name, _ in GAMES:
        load(name)  # built before it is measured
    with tempfile.TemporaryDirectory() as directory, ArenaHome(Path(directory)) as home:
        stored = filled(home)
        print("| game | matches | first | each of the others | value kept |")
        print("| --- | --- | --- | --- | --- |", flush=True)
        began, wall = time.process_time(), time.monotonic()
        annotator = TournamentAnnotator(home.store, stored, Limits(memory_bytes=free_memory_bytes()))
        for name, options in GAMES:
            ends = [time.process_time(), *(time.process_time() for _ in annotator.annotate(name))]
            count = len(ends) - 1
            kept = accuracy_of_tournament(home.store, stored, name).bots[0].kept
            shown = f"{100 * kept.value:.0f} %" if kept else "–"
            board = f"{name}, {next(iter(options))} = {next(iter(options.values()))}"
            print(
                f"| {board} | {count} | {ends[1] - ends[0]:.2f} s"
                f" | {1000 * (ends[-1] - ends[1]) / (count - 1):.1f} ms | {shown} |",
                flush=True,
            )
        seconds = time.process_time() - began
        assert home.store.annotations.count(stored) == EACH * len(GAMES)
        took = f"{seconds:.1f} s of processor time, {time.monotonic() - wall:.1f} s"
        print(f"\n{EACH * len(GAMES)} matches: {took}; goal 60 s")


if __name__ == "__main__":
    main()
