"""What the state after each action is worth, for any state of a game for two, by its kernel.

A kernel makes tables: the values of all states that can follow from one, its root. The widest root whose table fits is
chosen, so that one table answers for a whole match, and that of the first state for all matches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.loading import solver_of
from arena.games.kernels.solver import TablePlan
from arena.games.plusminus import Plusminus
from arena.lab.solving.kernel_tables import KernelTable, KernelTableFile, fill_table, kernel_table_path, values_of
from arena.lab.solving.limits import Limits
from arena.lab.solving.mapped_table import TableError

MAX_TABLE_BYTES = 1 << 30
"""A larger table is not made, whatever memory there is: a smaller root will do as soon as the match has gone on."""

_KEPT_TABLES = 4
"""Besides that of the first state, if there is room for them."""

_SHARE_OF_TIME = 0.8
"""Of the time for a question, for a table; if it is not full by then, the rest is for a search."""


def has_all_values(game: Game[Any], limits: Limits) -> bool:
    """Return whether the kernel of a game knows the values of all states, by a table that fits or without one.

    Args:
        game: the rules.
        limits: the memory for the table.
    """
    try:
        kernel = solver_of(game)
    except KernelError:
        return False
    plan, needs = kernel.table_plan(), kernel.needs()
    return fits(plan, limits) if plan is not None else needs is not None and not needs.states


def fits(plan: TablePlan, limits: Limits) -> bool:
    """Return whether a table is small enough to be made."""
    return plan.table_bytes <= MAX_TABLE_BYTES and plan.memory_bytes <= limits.memory_bytes


class KernelValues:
    """Answers what actions are worth, and keeps the tables that it makes for this."""

    def __init__(self, game: Game[Any], limits: Limits) -> None:
        """Prepare it.

        Args:
            game: one of the five games, for two.
            limits: the memory for tables.

        Raises:
            KernelError: with why there is no kernel.
        """
        self._game = game
        self._limits = limits
        self._kernel = solver_of(game)
        self._first = self._saved()
        self._others: list[KernelTable] = []
        self._too_slow: set[Any] = set()

    def prepare(self, deadline: float, state: Any = None) -> None:
        """Make the table of a state, if it is one that can be made and there is time for it.

        Args:
            deadline: of ``time.monotonic``.
            state: the state; by default the first one.
        """
        first = self._game.initial_state()
        root = first if state is None else state
        if self._first is not None or root in self._too_slow:
            return
        table = self._made(root, deadline)
        if root == first:
            self._first = table
        elif table is not None:
            self._keep(table)

    def after_actions(self, state: Any, deadline: float = float("inf")) -> list[int] | None:
        """Return the value after each legal action of a state, in the order of the rules; None if it is not known.

        Args:
            state: a state in which a seat is to act.
            deadline: of ``time.monotonic``, for a table that is not there yet.

        Raises:
            KernelError: if there is no memory.
        """
        kernel = self._kernel
        kernel.set_state(state)
        for table in self._tables():
            found = table.after_actions(kernel)
            if found is not None:
                return values_of(self._game, found)
        found = kernel.look_up(None, None, deadline)
        if found is None:
            table_or_none = self._new_table(state, deadline)
            if table_or_none is not None:
                found = table_or_none.after_actions(kernel)
        return values_of(self._game, found) if found is not None else None

    def _saved(self) -> KernelTable | None:
        """Return the table that was saved, if it is one that may be used."""
        try:
            return KernelTableFile(self._game, kernel_table_path(self._game)).table
        except (FileNotFoundError, TableError):
            return None

    def _tables(self) -> Iterator[KernelTable]:
        if self._first is not None:
            yield self._first
        yield from self._others

    def _new_table(self, state: Any, deadline: float) -> KernelTable | None:
        """Return a table that has a state; None if there is no time or no memory for one, or the game has none."""
        first = self._game.initial_state()
        now = time.monotonic()
        stop_at = now + _SHARE_OF_TIME * (deadline - now)
        for root in self._roots(state, first):
            table = None if root in self._too_slow else self._made(root, stop_at)
            if table is not None and root == first:
                self._first = table
            elif table is not None:
                self._keep(table)
            if table is not None:
                return table
        return None

    def _roots(self, state: Any, first: Any) -> Iterator[Any]:
        """Yield the states whose table would have a state, the widest one first."""
        if not isinstance(self._game, Plusminus) or self._game.is_predicting(state):
            yield first  # that of plusminus has no grids
        if state != first:
            yield state

    def _keep(self, table: KernelTable) -> None:
        """Keep a table, and of the others the latest ones that there is room for."""
        room = min(MAX_TABLE_BYTES, self._limits.memory_bytes) - table.bytes
        kept = [table]
        for other in self._others[: _KEPT_TABLES - 1]:
            room -= other.bytes
            if room >= 0:
                kept.append(other)
        self._others = kept

    def _made(self, root: Any, stop_at: float) -> KernelTable | None:
        kernel = solver_of(self._game)
        kernel.set_state(root)
        plan = kernel.table_plan()
        if plan is None or not fits(plan, self._limits):
            return None
        values = fill_table(kernel, plan, stop_at)
        if values is None:
            self._too_slow.add(root)
            return None
        return KernelTable(kernel, values)
