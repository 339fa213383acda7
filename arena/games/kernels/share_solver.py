"""What each seat gets in a game for three and more, by its kernel, after each legal action of a state."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from arena.base.ranking import points_of
from arena.games.kernels.encoding import plaid_state
from arena.games.kernels.solver import SOLVED, KernelSolver, Needs

Points = tuple[int, ...]
"""Of each seat, two for each rival that it beats and one for each that it ties with."""

_BITS = 4
"""Of the points of a seat, in what is decided about a near tie of plaid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterActions:
    """What each seat gets after each legal action of a state, in the order of the rules.

    Attributes:
        shared: the points of each seat when every seat plays for its own and takes, of equally good actions, the one
            listed first.
        held: those that each seat can hold when all others play together against it.
        states: how many states were looked at.
        edges: how many actions were looked at.
    """

    shared: tuple[Points, ...]
    held: tuple[Points, ...]
    states: int
    edges: int


class ShareSolver(KernelSolver):
    """The kernel of a game for three and more, which is asked what each seat gets."""

    def share_needs(self) -> Needs | None:
        """Return what ``after_actions`` of the state takes; None if the kernel does not know it."""
        found = (ctypes.c_int64 * 2)()
        if not self._library.shares_needs(self._handle, found):
            return None
        return Needs(states=found[0], memory_bytes=found[1])

    def after_actions(self, deadline: float = float("inf")) -> AfterActions | None:
        """Return what each seat gets after each legal action; None if that is not known by the deadline.

        Args:
            deadline: of ``time.monotonic``.

        Raises:
            KernelError: if there is no memory.
        """
        count, players = self._library.kernel_count_actions(self._handle), self.game.players
        looked_at = (ctypes.c_int64 * 2)()
        found = (ctypes.c_uint8 * max(1, 2 * players * count))()
        code = self._run(
            deadline, lambda stop, decide: self._library.shares_look_up(self._handle, stop, decide, looked_at, found)
        )
        if code != SOLVED:
            return None
        rows = [tuple(found[begin : begin + players]) for begin in range(0, 2 * players * count, players)]
        return AfterActions(shared=tuple(rows[::2]), held=tuple(rows[1::2]), states=looked_at[0], edges=looked_at[1])

    def _decided(self, lines: list[int]) -> int:
        """Return the points of all seats on a sheet of plaid, ``_BITS`` each, by the exact sums of the rules."""
        ranks = self.game.ranks(plaid_state(self.game, lines))
        packed = sum(points << _BITS * seat for seat, points in enumerate(points_of(ranks)))
        return ctypes.c_int32(packed).value
