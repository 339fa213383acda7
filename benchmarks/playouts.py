"""Random playouts per second of each game's rules, in plain Python."""

import random
import time

from arena.games import GAMES, make_game
from benchmarks.common import machine

SECONDS = 2.0


def playouts_per_second(name):
    game = make_game(name)
    rng = random.Random(1)
    count = plies = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < SECONDS:
        state = game.initial_state()
        while game.seat_to_act(state) is not None:
            state = game.apply(state, rng.choice(game.legal_actions(state)))
            plies += 1
        game.ranks(state)
        count += 1
    return count / elapsed, plies / count


def main():
    print(machine())
    for name in GAMES:
        rate, plies = playouts_per_second(name)
        print(f"{name}: {rate:,.0f} playouts/s of {plies:.1f} plies each")


if __name__ == "__main__":
    main()
