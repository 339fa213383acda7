"""What ``adjudicate = "settled"`` saves: plies of matches of random and of greedy bots, and the time of a check."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from arena.games import GAMES, Game, make_game
from arena.match.replay import settled_ranks

MATCHES = 60
TRIED_ACTIONS = 24
"""Of a greedy bot, drawn from the legal ones."""
PLY_LIMIT = 10_000


def main() -> None:
    """Print a line for each game: plies, and the share that is saved by random and by greedy bots."""
    for name in GAMES:
        game = make_game(name)
        parts = []
        for is_greedy in (False, True):
            played = [measured(game, is_greedy, random.Random(seed)) for seed in range(MATCHES)]
            plies, saved, seconds = (sum(part) for part in zip(*played, strict=True))
            parts.append(f"{plies / MATCHES:.1f} plies, {100 * saved / plies:.0f} % saved")
        print(f"{name}: random {parts[0]}; greedy {parts[1]}; a check {1000 * seconds / plies:.2f} ms")


def measured(game: Game[Any], is_greedy: bool, generator: random.Random) -> tuple[int, int, float]:
    """Return the plies of a match, those after it was settled, and the CPU seconds of all checks."""
    state, plies, settled_at, seconds = game.initial_state(), 0, None, 0.0
    while (seat := game.seat_to_act(state)) is not None:
        if settled_at is None:
            began = time.process_time()
            ranks = settled_ranks(game, state, PLY_LIMIT - plies)
            seconds += time.process_time() - began
            settled_at = None if ranks is None else plies
        actions = list(game.legal_actions(state))
        tried = generator.sample(actions, min(TRIED_ACTIONS, len(actions)) if is_greedy else 1)
        state = greedy(game, state, seat, tried)
        plies += 1
    return plies, plies - (plies if settled_at is None else settled_at), seconds


def greedy(game: Game[Any], state: Any, seat: int, tried: Sequence[Any]) -> Any:
    """Return the state after that of some actions which leaves the seat best beside its best rival."""
    return max((game.apply(state, action) for action in tried), key=lambda after: lead(game.scores(after), seat))


def lead(scores: Sequence[float], seat: int) -> float:
    """Return by how much a seat is ahead of the best of the others."""
    return scores[seat] - max(score for other, score in enumerate(scores) if other != seat)


if __name__ == "__main__":
    main()
