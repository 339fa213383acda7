"""Random playouts, the same in C and in Python: their numbers, margins and speed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from numbers import Integral
from typing import Any

from arena.base.errors import KernelError, expect
from arena.games import Game
from arena.games.game import Space
from arena.games.kernels.kernel import Kernel, PlayoutTotals, Trace
from arena.games.kernels.loading import kernel_of

# The random numbers of playouts: the same in C and in Python, so that playout s is the same sequence of actions.

_GOLDEN = 0x9E3779B97F4A7C15
_BITS = (1 << 64) - 1


def _mixed(bits: int) -> int:
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _BITS
    return bits ^ (bits >> 31)


class Generator:
    """SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014); each playout of a 64-bit seed has one of its own."""

    __slots__ = ("_state",)

    def __init__(self, seed: int, index: int) -> None:
        self._state = _mixed((_mixed((seed + _GOLDEN) & _BITS) + index) & _BITS)

    def next(self) -> int:
        """Return the next 64 bits."""
        self._state = (self._state + _GOLDEN) & _BITS
        return _mixed(self._state)

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound`` - 1; for bounds below 2**31."""
        return (self.next() >> 32) * bound >> 32


# Random playouts: by the kernel where there is one, else the same from the rules, slower; traces and counts of lines.


def random_playouts(game: Game[Any], seed: int, first: int, count: int, opening: Sequence[Any] = ()) -> PlayoutTotals:
    """Play random playouts ``first``, ``first + 1``, … of a seed from an opening on, and return their totals."""
    expect(isinstance(seed, Integral), "seed", seed, "a whole number")
    for name, number in (("first", first), ("count", count)):
        expect(isinstance(number, Integral) and number >= 0, name, number, "a whole number of 0 or more")
    kernel = kernel_of(game)
    if isinstance(kernel, KernelError):
        return playouts_by_rules(game, seed, first, count, opening)
    return kernel.playouts(seed, first, count, opening)


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


# How far seat 0 is ahead at the end of random playouts from an opening: an estimate, and its error.

BATCHES, PLAYOUTS_A_BATCH = 20, 200
PLAYOUTS = BATCHES * PLAYOUTS_A_BATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutMargin:
    """The mean margin of seat 0 in random playouts, and its standard error from the means of batches."""

    mean: float
    error: float

    @property
    def square(self) -> float:
        """The square of the true mean, estimated without bias: that of an inexact mean is larger by its error."""
        return self.mean**2 - self.error**2


def playout_margin(game: Game[Any], opening: Sequence[Any], seed: int) -> PlayoutMargin:
    """Play ``PLAYOUTS`` random playouts of a game for two from an opening on, by its kernel or by the rules."""
    means = []
    for number in range(BATCHES):
        played = random_playouts(game, seed, number * PLAYOUTS_A_BATCH, PLAYOUTS_A_BATCH, opening)
        first, second = played.score_sums
        means.append((first - second) / PLAYOUTS_A_BATCH)
    mean = fsum(means) / BATCHES
    variance = fsum((batch_mean - mean) ** 2 for batch_mean in means) / (BATCHES - 1)
    return PlayoutMargin(mean=mean, error=sqrt(variance / BATCHES))


# How many playouts per second a kernel, or the rules, can play.

_SEED = 1


def playouts_per_second(kernel: Kernel, seconds: float) -> float:
    """Measure the playouts per second of processor time, from which other processes take nothing."""
    first, count = 0, 1
    started = time.process_time()
    while (elapsed := time.process_time() - started) < seconds:
        kernel.playouts(_SEED, first, count)
        first += count
        if elapsed < seconds / 10:
            count *= 2
    return first / elapsed
