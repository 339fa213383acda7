"""What the kernel of a game for two knows of any state, and the tables that it makes in memory for this."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.kernels.loading import solver_of
from arena.games.kernels.solver import SOLVED, KernelSolver, TablePlan
from arena.games.plusminus import Plusminus
from arena.lab.solving.limits import Limits
from arena.lab.solving.tables import KernelTable, KernelTableFile, TableError, kernel_table_path, room_for, values_of

# What the state after each action is worth, for any state of a game for two, by its kernel.
#
# A kernel makes tables: the values of all states that can follow from one, its root. The widest root whose table fits
# is chosen, so that one table answers for a whole match, and that of the first state for all matches.

MAX_TABLE_BYTES = 1 << 30
"""A larger table is not made, whatever memory there is: a smaller root will do as soon as the match has gone on."""

_KEPT_TABLES = 4
"""The tables to keep besides that of the first state, if there is room for them."""

_SHARE_OF_TIME = 0.8
"""The share of a question's time for a table; if it is not full by then, the rest is for a search."""

_MOST_SECONDS = 120.0
"""How long questions together fill a table before it is given up."""


def has_all_values(game: Game[Any], limits: Limits) -> bool:
    """Return whether the kernel of a game knows the values of all states, by a table that fits or without one."""
    try:
        kernel = solver_of(game)
    except KernelError:
        return False
    plan, needs = kernel.table_plan(), kernel.needs()
    return fits(plan, limits) if plan is not None else needs is not None and not needs.states


def fits(plan: TablePlan, limits: Limits) -> bool:
    """Return whether a table is small enough to be made."""
    return plan.table_bytes <= MAX_TABLE_BYTES and plan.memory_bytes <= limits.memory_bytes


class _Filling:
    """A table that is being filled: what is done by a deadline is kept for the next one."""

    def __init__(self, root: KernelSolver, plan: TablePlan) -> None:
        self._root, self._values, self.memory_bytes = root, room_for(plan), plan.memory_bytes
        self._call = root.filling(self._values)
        self.seconds = 0.0
        """How long it has been filled so far."""

    def table(self, deadline: float) -> KernelTable | None:
        """Continue; return the table, or None at the deadline. KernelError without memory."""
        begun = time.monotonic()
        code = self._call.run(deadline)
        self.seconds += time.monotonic() - begun
        return KernelTable(self._root, self._values) if code == SOLVED else None

    def end(self) -> None:
        """Give it up, and free what filling has allocated."""
        self._call.end()


class KernelValues:
    """Answers what actions are worth, and keeps the tables that it makes for this."""

    def __init__(self, game: Game[Any], limits: Limits) -> None:
        """Ask the kernel of one of the five games for two; KernelError without one."""
        self._game = game
        self._limits = limits
        self._kernel = solver_of(game)
        self._start_table = self._saved()
        self._other_tables: list[KernelTable] = []
        self._fillings: dict[Any, _Filling] = {}
        """Of tables that are not full, by their roots: that of the first state and one other."""
        self._given_up: set[Any] = set()
        weakref.finalize(self, _end_all, self._fillings)

    def prepare(self, deadline: float, state: Any = None) -> None:
        """Make the table of a state (the first one by default), if there is one and time for it."""
        first = self._game.initial_state()
        root = first if state is None else state
        if self._start_table is None and self._table_of(root, deadline) is None:
            self._give_up(root)

    def after_actions(self, state: Any, deadline: float = float("inf")) -> list[int] | None:
        """Return the values after the legal actions of a state; None if unknown. KernelError without memory."""
        kernel = self._kernel
        kernel.set_state(state)
        for table in self._tables():
            pairs = table.after_actions(kernel)
            if pairs is not None:
                return values_of(self._game, pairs)
        pairs = kernel.look_up(None, None, deadline)
        if pairs is None:
            new_table = self._new_table(state, deadline)
            if new_table is not None:
                pairs = new_table.after_actions(kernel)
        return values_of(self._game, pairs) if pairs is not None else None

    def _saved(self) -> KernelTable | None:
        try:
            return KernelTableFile(self._game, kernel_table_path(self._game)).table
        except (FileNotFoundError, TableError):
            return None

    def _tables(self) -> Iterator[KernelTable]:
        if self._start_table is not None:
            yield self._start_table
        yield from self._other_tables

    def _new_table(self, state: Any, deadline: float) -> KernelTable | None:
        now = time.monotonic()
        stop_at = now + _SHARE_OF_TIME * (deadline - now)
        first = self._game.initial_state()
        if first in self._fillings and state != first:  # it takes long: try a smaller one first
            smaller = self._table_of(state, (now + stop_at) / 2)
            is_enough = smaller is not None and deadline == float("inf")
            whole = None if is_enough else self._table_of(first, stop_at)
            return smaller or whole
        for root in self._roots(state, first):
            table = self._table_of(root, stop_at)
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
        for other in self._other_tables[: _KEPT_TABLES - 1]:
            room -= other.bytes
            if room >= 0:
                kept.append(other)
        self._other_tables = kept

    def _table_of(self, root: Any, stop_at: float) -> KernelTable | None:
        """Fill the table of a root, and keep it; None if that takes longer."""
        is_tried = root not in self._given_up and time.monotonic() < stop_at
        filling = self._filling_of(root) if is_tried else None
        if filling is None:
            return None
        table = filling.table(stop_at)
        if table is None:
            if filling.seconds > _MOST_SECONDS:
                self._give_up(root)
            return None
        del self._fillings[root]
        if root == self._game.initial_state():
            self._start_table = table
        else:
            self._keep(table)
        return table

    def _filling_of(self, root: Any) -> _Filling | None:
        """Return the filling of a root's table, begun before or new; None if there is no room for it."""
        if root in self._fillings:
            return self._fillings[root]
        kernel = solver_of(self._game)
        kernel.set_state(root)
        plan = kernel.table_plan()
        if plan is None or not fits(plan, self._limits):
            return None
        first = self._game.initial_state()
        for other, filling in list(self._fillings.items()):
            if other != first:
                self._fillings.pop(other).end()
            elif filling.memory_bytes + plan.memory_bytes > self._limits.memory_bytes:
                self._give_up(other)
        self._fillings[root] = _Filling(kernel, plan)
        return self._fillings[root]

    def _give_up(self, root: Any) -> None:
        self._given_up.add(root)
        if root in self._fillings:
            self._fillings.pop(root).end()


def _end_all(fillings: dict[Any, _Filling]) -> None:
    for filling in fillings.values():
        filling.end()
