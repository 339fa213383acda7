"""Solves a game by its kernel: what its states are worth, or what each of three and more seats gets."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arena.base.errors import KernelError
from arena.base.results import double_points_of as points_of
from arena.games import Game
from arena.games.kernels.kernel import Kernel, plaid_state
from arena.games.plaid import Plaid

# Solves a game by its kernel: what its first state is worth with best play, and all that can follow from any state.

PLAID_PARTS = 10**9
"""Parts of a point in a margin of plaid."""

DECIDER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32)
"""What the kernel asks about an end whose scores are too near to say who wins."""

WAITER = ctypes.CFUNCTYPE(ctypes.c_int32)
"""Waits until a call continues; whether it does."""


class Job(ctypes.Structure):
    """A long call into C: ``job`` in solving.h."""

    _fields_ = (
        ("stop", ctypes.POINTER(ctypes.c_int32)),
        ("wait", WAITER),
        ("decide", DECIDER),
        ("outcome", ctypes.c_int32),
        ("margin", ctypes.c_int64),
        ("states", ctypes.c_int64),
        ("edges", ctypes.c_int64),
        ("best", ctypes.c_char_p),
        ("in_pairs", ctypes.c_int32),
    )


Watch = Callable[[int], None]
"""Is given now and then how many states have been looked at."""

SOLVED, _STOPPED, _NO_MEMORY = range(3)
_STACK_BYTES = 64 << 20
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """States of a game (0 if not known before), and the memory that its kernel takes."""

    states: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstState:
    """What the first state is worth to seat 0, and all best first actions in the order of the rules.

    The margin of plaid is in ``PLAID_PARTS`` of a point, rounded.
    """

    outcome: int
    margin: int
    best: tuple[Any, ...]
    states: int
    edges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """What a table of all states after one takes; ``memory_bytes`` is for filling it, the values included."""

    states: int
    table_bytes: int
    memory_bytes: int


class LongCall:
    """A long call into C, in a thread with a deep stack, that a deadline ends or, if it ``pauses``, lets wait.

    The thread that waits keeps what the call has allocated until ``run`` is called again, or ``end``.
    """

    def __init__(self, solver: KernelSolver, job: Job, call: Callable[[], int], pauses: bool = False) -> None:
        """Prepare the call, which takes the job."""
        self._solver, self._job, self._call = solver, job, call
        self._stop = ctypes.c_int32(0)
        self._code: int | None = None
        self._problem: Exception | None = None
        self._has_parked, self._may_continue = threading.Event(), threading.Event()
        self._is_given_up = False
        job.stop, job.decide = ctypes.pointer(self._stop), DECIDER(self._decide)
        if pauses:
            job.wait = WAITER(self._wait)
        self._thread = threading.Thread(target=self._work, name="kernel solver", daemon=True)

    def run(self, deadline: float, watch: Watch | None = None) -> int:
        """Begin, or continue; return the code of the end, or of a stop at the deadline. KernelError without memory."""
        if self._code is None and self._problem is None:
            self._continue(deadline, watch)
        if self._problem is not None:
            raise self._problem
        if self._code == _NO_MEMORY:
            raise KernelError(f"the kernel of {self._solver.game.name} has not enough memory")
        return _STOPPED if self._code is None else self._code

    def _continue(self, deadline: float, watch: Watch | None) -> None:
        self._stop.value = time.monotonic() >= deadline
        self._has_parked.clear()
        if self._thread.ident is None:
            with _deep_stack():
                self._thread.start()
        else:
            self._may_continue.set()
        try:
            while not self._has_parked.wait(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic()))):
                if time.monotonic() >= deadline:
                    break
                if watch is not None:
                    watch(self._job.states)
        finally:  # also when the user interrupts: nobody else can stop a call into C
            self._stop.value = 1
            self._has_parked.wait()

    def end(self) -> None:
        """Give up a call that waits."""
        self._is_given_up = True
        self._may_continue.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            self._code = self._call()
        except Exception as error:
            self._problem = error
        self._has_parked.set()

    def _wait(self) -> int:
        self._may_continue.clear()
        self._has_parked.set()
        if not self._is_given_up:
            self._may_continue.wait()
        return not self._is_given_up

    def _decide(self, lines: Any, count: int) -> int:
        try:
            return self._solver.decided(lines[:count])
        except Exception as error:  # C could not pass it on
            self._problem = error
            self._is_given_up = True
            self._stop.value = 1
            return 0


class KernelSolver(Kernel):
    """The kernel of a game for two, which knows what states are worth."""

    def needs(self) -> Needs | None:
        """Return what solving the first state takes; None if the kernel does not solve the game with its options."""
        found = (ctypes.c_int64 * 2)()
        if not self._library.solver_needs(self._handle, found):
            return None
        return Needs(states=found[0], memory_bytes=found[1])

    def solve(
        self, deadline: float = float("inf"), watch: Watch | None = None, in_pairs: bool = False
    ) -> FirstState | None:
        """Solve the first state; None at the deadline (``time.monotonic``). KernelError without memory.

        ``in_pairs``: of marks and lines the first seat makes one, then each seat two in turn.
        """
        best = ctypes.create_string_buffer(len(self._actions))
        job = Job(best=ctypes.cast(best, ctypes.c_char_p), in_pairs=in_pairs)
        if LongCall(self, job, lambda: self._library.solver_solve(self._handle, job)).run(deadline, watch) != SOLVED:
            return None
        chosen = tuple(action for action, is_best in zip(self._actions, best.raw, strict=True) if is_best)
        return FirstState(outcome=job.outcome, margin=job.margin, best=chosen, states=job.states, edges=job.edges)

    def table_plan(self) -> TablePlan | None:
        """Return what a table of all that can follow from the state takes; None if the kernel makes none."""
        found = (ctypes.c_int64 * 3)()
        if not self._library.table_needs(self._handle, found):
            return None
        return TablePlan(states=found[0], table_bytes=found[1], memory_bytes=found[1] + found[2])

    def fill(self, values: Any, deadline: float = float("inf"), watch: Watch | None = None) -> bool:
        """Fill a buffer of ``table_plan``'s size; return False at the deadline. KernelError without memory."""
        call = self.filling(values)
        try:
            return call.run(deadline, watch) == SOLVED
        finally:
            call.end()

    def filling(self, values: Any) -> LongCall:
        """Return a call that fills a buffer of ``table_plan``'s size, and pauses at its deadlines."""
        address, job = ctypes.addressof(ctypes.c_char.from_buffer(values)), Job()
        return LongCall(self, job, lambda: self._library.table_fill(self._handle, job, address), pauses=True)

    def look_up(
        self, root: KernelSolver | None, address: int | None, deadline: float = float("inf")
    ) -> list[tuple[int, int]] | None:
        """Return outcome and margin of the state after each legal action; None if unknown. KernelError without memory.

        ``root`` is the kernel whose state the table at ``address`` is of.
        """
        count = self._library.kernel_count_actions(self._handle)
        found = (ctypes.c_int64 * (2 * count))()
        # a value in a table needs no decision: it was made when the table was filled
        handle, job = root and root._handle, Job(stop=ctypes.pointer(ctypes.c_int32(0)))

        def call() -> int:
            code: int = self._library.table_look_up(handle, address, self._handle, job, found)
            return code

        code = LongCall(self, job, call).run(deadline) if root is None else call()
        return list(zip(found[::2], found[1::2], strict=True)) if code == SOLVED else None

    def decided(self, lines: list[int]) -> int:
        """Return who wins a sheet of plaid whose scores are near to each other, by the exact sums of the rules."""
        ranks = self.game.ranks(plaid_state(self.game, lines))
        return (ranks[0] < ranks[1]) - (ranks[1] < ranks[0])


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


# What each seat gets in a game for three and more, by its kernel, after each legal action of a state.

Points = tuple[int, ...]
"""Of each seat, two for each rival that it beats and one for each that it ties with."""

_BITS = 4
"""Of the points of a seat, in what is decided about a near tie of plaid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterActions:
    """What each seat gets after each legal action of a state, in the order of the rules.

    ``shared``: every seat plays for its own and takes, of equally good actions, the one listed first. ``held``: all
    others play together against it.
    """

    shared: tuple[Points, ...]
    held: tuple[Points, ...]
    states: int
    edges: int


class ShareSolver(KernelSolver):
    """The kernel of a game for three and more, which knows what each seat gets."""

    def share_needs(self) -> Needs | None:
        """Return what ``after_actions`` of the state takes; None if the kernel does not know it."""
        found = (ctypes.c_int64 * 2)()
        if not self._library.shares_needs(self._handle, found):
            return None
        return Needs(states=found[0], memory_bytes=found[1])

    def after_actions(self, deadline: float = float("inf"), watch: Watch | None = None) -> AfterActions | None:
        """Return what each seat gets after each legal action; None at the deadline. KernelError without memory."""
        count, players = self._library.kernel_count_actions(self._handle), self.game.players
        found, job = (ctypes.c_uint8 * max(1, 2 * players * count))(), Job()
        call = LongCall(self, job, lambda: self._library.shares_look_up(self._handle, job, found))
        if call.run(deadline, watch) != SOLVED:
            return None
        rows = [tuple(found[begin : begin + players]) for begin in range(0, 2 * players * count, players)]
        return AfterActions(shared=tuple(rows[::2]), held=tuple(rows[1::2]), states=job.states, edges=job.edges)

    def decided(self, lines: list[int]) -> int:
        """Return the points of all seats on a sheet of plaid, ``_BITS`` each, by the exact sums of the rules."""
        ranks = self.game.ranks(plaid_state(self.game, lines))
        packed = sum(points << _BITS * seat for seat, points in enumerate(points_of(ranks)))
        return ctypes.c_int32(packed).value
