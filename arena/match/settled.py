"""Whether a match is settled: no legal play can change its ranks any more.

Either the bounds of the rules on the scores say so, or a search of everything that can still happen, within a budget. A
match that is settled but for which neither shows it continues. Both are pure functions, so a verifier finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from arena.games import Game

MAX_LINES = 20_000
"""Lines of play, estimated along the first of them; of more no search is begun, which would not end in time."""
MAX_PLIES = 100
"""Of the longest line that a search looks at."""
MAX_STATES = 2_000
"""States that a search may reach."""


def settled_ranks(game: Game[Any], state: Any, plies_left: int) -> tuple[int, ...] | None:
    """Return the ranks in which the match is shown to end, however it is played; None if that is not shown.

    Args:
        plies_left: after this many actions the match ends with the scores as they stand.
    """
    bounds = game.score_bounds(state)
    if bounds is not None:
        ranks = tuple(game.ranks(state))
        if _are_fixed(ranks, bounds):
            return ranks
    return _only_end(game, state, plies_left) if _has_few_lines(game, state, plies_left) else None


def _are_fixed(ranks: Sequence[int], bounds: Sequence[tuple[float, float]]) -> bool:
    """Return whether scores within bounds can have no other ranks, which follow from the scores."""
    for a, b in combinations(range(len(ranks)), 2):
        better, worse = (a, b) if ranks[a] < ranks[b] else (b, a)
        if ranks[a] == ranks[b]:
            if len({*bounds[a], *bounds[b]}) > 1:
                return False
        elif bounds[better][0] <= bounds[worse][1]:
            return False
    return True


def _has_few_lines(game: Game[Any], state: Any, plies_left: int) -> bool:
    lines = 1
    last = max(plies_left - MAX_PLIES, 0)
    while plies_left and game.seat_to_act(state) is not None:
        if plies_left == last:
            return False
        actions = game.legal_actions(state)
        lines *= len(actions)
        if lines > MAX_LINES:
            return False
        state, plies_left = game.apply(state, actions[0]), plies_left - 1
    return True


def _only_end(game: Game[Any], state: Any, plies_left: int) -> tuple[int, ...] | None:
    """Return the ranks in which all lines end; None if some end in others, or there are too many states."""
    only: tuple[int, ...] | None = None
    seen: set[tuple[Any, int]] = {(state, plies_left)}
    waiting: list[tuple[Iterator[Any], int]] = [(_after(game, state), plies_left - 1)]
    while waiting:
        following, left = waiting[-1]
        after = next(following, None)
        if after is None:
            waiting.pop()
            continue
        if (after, left) in seen:
            continue
        seen.add((after, left))
        if len(seen) > MAX_STATES:
            return None
        if left and game.seat_to_act(after) is not None:
            waiting.append((_after(game, after), left - 1))
            continue
        ranks = tuple(game.ranks(after))
        if only is not None and ranks != only:
            return None
        only = ranks
    return only


def _after(game: Game[Any], state: Any) -> Iterator[Any]:
    return (game.apply(state, action) for action in game.legal_actions(state))
