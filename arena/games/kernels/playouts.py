"""Random playouts and counts of lines: by the kernel where there is one, else the same from the rules, slower."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.generator import Generator
from arena.games.kernels.kernel import PlayoutTotals, Trace
from arena.games.kernels.loading import kernel_of
from arena.games.space import Space


def trace(game: Game[Any], seed: int, index: int) -> Trace:
    """Return random playout number ``index`` of a seed, ply by ply."""
    kernel = kernel_of(game)
    return trace_by_rules(game, seed, index) if isinstance(kernel, KernelError) else kernel.trace(seed, index)


def random_playouts(game: Game[Any], seed: int, first: int, count: int, opening: Sequence[Any] = ()) -> PlayoutTotals:
    """Play random playouts ``first``, ``first + 1``, … of a seed from an opening on, and return their totals."""
    kernel = kernel_of(game)
    if isinstance(kernel, KernelError):
        return playouts_by_rules(game, seed, first, count, opening)
    return kernel.playouts(seed, first, count, opening)


def count_lines(game: Game[Any], depth: int) -> int:
    """Return the number of sequences of ``depth`` legal actions, of 1 or more, from the initial state."""
    kernel = kernel_of(game)
    if isinstance(kernel, KernelError):
        return lines_by_rules(game, game.initial_state(), depth)
    return kernel.lines(depth)


def trace_by_rules(game: Game[Any], seed: int, index: int) -> Trace:
    """Return a random playout by the rules in Python."""
    space = game.space()
    assert isinstance(space, Space)  # a game with a kernel has one, and others are not traced
    codes = {action: code for code, action in enumerate(space.actions)}
    generator = Generator(seed, index)
    state = game.initial_state()
    plies = []
    while (seat := game.seat_to_act(state)) is not None:
        actions = game.legal_actions(state)
        action = actions[generator.below(len(actions))]
        plies.append((seat, len(actions), codes[action]))
        state = game.apply(state, action)
    return Trace(plies=tuple(plies), scores=tuple(map(float, game.scores(state))), ranks=game.ranks(state))


def playouts_by_rules(game: Game[Any], seed: int, first: int, count: int, opening: Sequence[Any] = ()) -> PlayoutTotals:
    """Play random playouts by the rules in Python."""
    start = game.initial_state()
    for action in opening:
        start = game.apply(start, action)
    ranked = [[0] * game.players for _ in range(game.players)]
    scores: list[tuple[float, ...]] = []
    plies = 0
    for index in range(first, first + count):
        generator = Generator(seed, index)
        state = start
        while not game.is_over(state):
            actions = game.legal_actions(state)
            state = game.apply(state, actions[generator.below(len(actions))])
            plies += 1
        scores.append(game.scores(state))
        for seat, rank in enumerate(game.ranks(state)):
            ranked[seat][rank - 1] += 1
    return PlayoutTotals(
        played=count,
        plies=plies,
        ranked=tuple(map(tuple, ranked)),
        score_sums=tuple(fsum(of_seat) for of_seat in zip(*scores, strict=True)) if scores else (0.0,) * game.players,
    )


def lines_by_rules(game: Game[Any], state: Any, depth: int) -> int:
    """Return the number of sequences of ``depth`` legal actions from a state, by the rules in Python."""
    actions = game.legal_actions(state)
    if depth == 1:
        return len(actions)
    return sum(lines_by_rules(game, game.apply(state, action), depth - 1) for action in actions)
