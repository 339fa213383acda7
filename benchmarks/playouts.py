"""Random playouts per second of each game's rules, in plain Python.

Beside them, where ``pip install open_spiel`` has been run, OpenSpiel's own game in Python, tic-tac-toe.
"""

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


def openspiel_playouts_per_second():
    import pyspiel
    from open_spiel.python.games import tic_tac_toe  # noqa: F401 - registers the game

    game = pyspiel.load_game("python_tic_tac_toe")
    rng = random.Random(1)
    count = plies = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            plies += 1
        state.returns()
        count += 1
    return count / elapsed, plies / count


def main():
    print(machine())
    for name in GAMES:
        rate, plies = playouts_per_second(name)
        print(f"{name}: {rate:,.0f} playouts/s of {plies:.1f} plies each, {1e6 / rate / plies:.1f} us a ply")
    try:
        rate, plies = openspiel_playouts_per_second()
    except ImportError:
        return
    print(f"OpenSpiel, tic-tac-toe: {rate:,.0f} playouts/s of {plies:.1f} plies, {1e6 / rate / plies:.1f} us a ply")


if __name__ == "__main__":
    main()
