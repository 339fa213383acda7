"""Solves a game by its kernel: what the first state is worth with best play, and the best first actions."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arena.errors import KernelError
from arena.games import Game
from arena.games.plaid import Plaid
from arena.lab.kernels.encoding import plaid_state
from arena.lab.kernels.kernel import Kernel

PLAID_PARTS = 10**9
"""Parts of a point in a margin of plaid."""

DECIDER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32)
"""What the kernel asks about an end whose scores are too near to say who wins."""

_SOLVED, _STOPPED = 0, 1
_STACK_BYTES = 64 << 20
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What solving a game takes.

    Attributes:
        states: how many states it has; 0 if that is not known before.
        memory_bytes: how much memory the kernel takes.
    """

    states: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstState:
    """What the first state is worth.

    Attributes:
        outcome: for seat 0: 1, 0 or -1.
        margin: the score of seat 0 minus that of seat 1; of plaid, in ``PLAID_PARTS`` of a point, rounded.
        best: all best first actions, in the order of the rules.
        states: how many states were looked at.
        edges: how many actions were looked at.
    """

    outcome: int
    margin: int
    best: tuple[Any, ...]
    states: int
    edges: int


class Solver(Kernel):
    """The kernel of a game for two, which is asked what the first state is worth."""

    def needs(self) -> Needs | None:
        """Return what it takes; None if the kernel does not solve the game with its options."""
        found = (ctypes.c_int64 * 2)()
        if not self._library.solver_needs(self._handle, found):
            return None
        return Needs(states=found[0], memory_bytes=found[1])

    def solve(self, deadline: float = float("inf")) -> FirstState | None:
        """Return what the first state is worth; None if that is not known by the deadline of ``time.monotonic``.

        Raises:
            KernelError: if there is no memory.
        """
        stop = ctypes.c_int32(0)
        found = (ctypes.c_int64 * 4)()
        best = ctypes.create_string_buffer(len(self._actions))
        problems: list[Exception] = []
        decide = DECIDER(lambda packed, count: self._decided(packed[:count], stop, problems))
        codes: list[int] = []

        def run() -> None:
            codes.append(self._library.solver_solve(self._handle, ctypes.byref(stop), decide, found, best))

        with _deep_stack():
            worker = threading.Thread(target=run, name="kernel solver", daemon=True)
            worker.start()
        try:
            while worker.is_alive():
                worker.join(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
                if time.monotonic() >= deadline:
                    break
        finally:  # also when the user interrupts: nobody else can end a call into C
            stop.value = 1
            worker.join()
        if problems:
            raise problems[0]
        if codes == [_STOPPED]:
            return None
        if codes != [_SOLVED]:
            raise KernelError(f"the kernel of {self.game.name} has not enough memory")
        outcome, margin, states, edges = found
        chosen = tuple(action for action, is_best in zip(self._actions, best.raw, strict=True) if is_best)
        return FirstState(outcome=outcome, margin=margin, best=chosen, states=states, edges=edges)

    def _decided(self, lines: list[int], stop: ctypes.c_int32, problems: list[Exception]) -> int:
        """Return who wins a sheet of plaid whose scores are near to each other, by the exact sums of the rules."""
        try:
            ranks = self.game.ranks(plaid_state(self.game, lines))
            return (ranks[0] < ranks[1]) - (ranks[1] < ranks[0])
        except Exception as error:  # C could not pass it on
            problems.append(error)
            stop.value = 1
            return 0


def parts_of(game: Game[Any]) -> int:
    """Return how many parts of a point the kernel's margins are counted in."""
    return PLAID_PARTS if isinstance(game, Plaid) else 1


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Let threads that start now have a stack for a search as deep as the longest match."""
    before = threading.stack_size(_STACK_BYTES)
    try:
        yield
    finally:
        threading.stack_size(before)
