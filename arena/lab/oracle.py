"""One door to what is known of a game's states: proofs, tables, kernels and search, in this order."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from arena.base.errors import KernelError, UsageError, expect
from arena.base.until import is_number
from arena.games import GAMES
from arena.games.game import Game
from arena.games.kernels.loading import has_solver, is_built
from arena.games.pie import SWAP, Pie
from arena.lab.solving.kernel_values import KernelValues
from arena.lab.solving.limits import FEW_STATES, Limits, count_states
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.search import Search
from arena.lab.solving.tables import Table
from arena.lab.solving.worth import HIGHEST, LOWEST, Known, Worth, ranks_follow_scores, value_of, worth_between

PREPARE_SECONDS = 120.0
"""For the table that serves all questions; on a busy machine it takes longer than a question may."""


@dataclass(frozen=True, slots=True)
class ActionWorth:
    """An action, and what the state after it is worth to seat 0."""

    action: Any
    worth: Worth


_Bounds = tuple[int, int, Known]
"""The bounds of a value, and how they are known."""


class Oracle:
    """Answers what a state of a game for two is worth, and how that is known."""

    def __init__(
        self,
        game: Game[Any],
        path: str,
        limits: Limits | None = None,
        table: Table | None = None,
        within_seconds: float | None = None,
        builds_kernel: bool = True,
    ) -> None:
        """Answer questions about a game for two; UsageError for others.

        Args:
            game: the rules; those from outside come from ``checked_game``.
            path: the game's name or dotted path.
            limits: the deadline of all questions, and the memory for the search.
            table: known values.
            within_seconds: the time for one question; by default up to the deadline.
            builds_kernel: whether the first question may wait for the kernel to be built, which takes some seconds,
                once on a machine. If not, or with a deadline of all questions, it is used only if it is there.
        """
        if game.players != 2:
            raise UsageError(f"players = {game.players}: only a game for two has one value; others have shares")
        expect(path not in GAMES or path == game.name, "path", path, f"{game.name!r}, the name of the game")
        self._game = game
        self._path = path
        self._table = table
        self._limits = limits or Limits()
        self._within_seconds = within_seconds
        self._deadline(within_seconds)  # is checked now, and not with the first question
        self._builds_kernel = builds_kernel and self._limits.deadline == float("inf")
        self._ranks_follow_scores = ranks_follow_scores(game)
        self._search: Search | None = None
        self._kernel: KernelValues | None = None
        self._asks_kernel = has_solver(game)
        self._without_pie = (
            Oracle(game.rules, path, limits, None, None, builds_kernel) if isinstance(game, Pie) else None
        )
        self._exact_with_pie: dict[Any, _Bounds] = {}

    def worth(self, state: Any) -> Worth:
        """Return what a state is worth, exactly or by bounds."""
        return self._worth(state, self._deadline(self._within_seconds))

    def _worth(self, state: Any, deadline: float) -> Worth:
        return worth_between(*self._bounds(state, deadline), self._ranks_follow_scores)

    def _bounds(self, state: Any, deadline: float) -> _Bounds:
        game = self._game
        if game.is_over(state):
            value = value_of(game.scores(state), game.ranks(state))
            return value, value, Known.TABLE
        proof = proof_of(game, self._path, state)
        if proof.low == proof.high:
            return proof.low, proof.high, Known.PROVED
        value_or_none = self._table.value(state) if self._table is not None else None
        if value_or_none is not None:
            return value_or_none, value_or_none, Known.TABLE
        if self._without_pie is not None:
            return self._with_pie(self._without_pie, state, deadline)
        after = self._after_actions(state, deadline)
        if after is not None:
            value = max(after) if game.seat_to_act(state) == 0 else min(after)
            return value, value, Known.TABLE
        found = self._searching(deadline).bounds(state, proof.low, proof.high)
        low, high = max(proof.low, found.low), min(proof.high, found.high)
        known = Known.PROVED if (low, high) == (proof.low, proof.high) and proof.names else Known.SEARCH
        return low, high, known

    def _with_pie(self, inner: Oracle, state: Any, deadline: float) -> _Bounds:
        """Return what a state is worth by what the states without the pie rule are worth."""
        if state in self._exact_with_pie:
            return self._exact_with_pie[state]
        if state.left:
            found = self._before_choice(inner, state, deadline)
        else:
            low, high, known = inner._bounds(state.state, deadline)
            swapped = -high, -low, known
            if state.choice:
                return swapped if state.choice == SWAP else (low, high, known)
            found = min(low, -high), min(0, high, -low), known
        if found[0] == found[1]:
            self._exact_with_pie[state] = found
        return found

    def _before_choice(self, inner: Oracle, state: Any, deadline: float) -> _Bounds:
        """Return what a state is worth in which seat 0 makes one of the first actions."""
        after = inner._after_actions(state.state, deadline) if state.left == 1 else None
        if after is not None:
            value = max(-abs(value) for value in after)
            return value, value, Known.TABLE
        actions = self._game.legal_actions(state)
        kinds: set[Known] = set()
        low, high = LOWEST, LOWEST
        for number, action in enumerate(actions):
            now = self._limits.clock()
            if now >= deadline:
                return low, 0, Known.SEARCH  # seat 1 loses nothing by its choice
            share = now + (deadline - now) / (len(actions) - number)
            after_low, after_high, known = self._bounds(self._game.apply(state, action), share)
            low, high, kinds = max(low, after_low), max(high, after_high), {*kinds, known}
        return low, high, kinds.pop() if len(kinds) == 1 else Known.SEARCH

    def actions(self, state: Any, within_seconds: float | None = None) -> list[ActionWorth]:
        """Return the legal actions, in their order, with the worth of the state after each; unknown where time ran out.

        ``within_seconds`` replaces the time for one question.
        """
        deadline = self._deadline(self._within_seconds if within_seconds is None else within_seconds)
        known = self._known_actions(state, deadline)
        return list(self._one_by_one(state, deadline)) if known is None else known

    def exact_actions(self, state: Any) -> list[ActionWorth] | None:
        """Return what ``actions`` does if all worths are exact; None as soon as one is not."""
        deadline = self._deadline(self._within_seconds)
        known = self._known_actions(state, deadline)
        if known is not None:
            return known
        exact = []
        for choice in self._one_by_one(state, deadline):
            if not choice.worth.is_exact:
                return None
            exact.append(choice)
        return exact

    def prepare(self, within_seconds: float, state: Any = None) -> None:
        """Make the kernel's table of a state (the first one by default), if the game has it.

        Without this the first question does it, in the time for one question.
        """
        if self._without_pie is not None:
            return self._without_pie.prepare(within_seconds, None if state is None else state.state)
        try:
            kernel = self._kernel_values()
            if kernel is not None:
                kernel.prepare(self._by_system_clock(self._deadline(within_seconds)), state)
        except KernelError:
            self._asks_kernel = False

    def _known_actions(self, state: Any, deadline: float) -> list[ActionWorth] | None:
        if self._game.is_over(state):
            return []
        after = self._after_actions(state, deadline) if self._table is None else None
        if after is None:
            return None
        worths = {value: worth_between(value, value, Known.TABLE, self._ranks_follow_scores) for value in set(after)}
        actions = self._game.legal_actions(state)
        return [ActionWorth(action, worths[value]) for action, value in zip(actions, after, strict=True)]

    def _one_by_one(self, state: Any, deadline: float) -> Iterator[ActionWorth]:
        """Yield the legal actions, each of which has its share of the time that is left."""
        actions = self._game.legal_actions(state)
        for number, action in enumerate(actions):
            now = self._limits.clock()
            if now < deadline:
                share = now + (deadline - now) / (len(actions) - number)
                worth = self._worth(self._game.apply(state, action), share)
            else:
                worth = worth_between(LOWEST, HIGHEST, Known.SEARCH, self._ranks_follow_scores)
            yield ActionWorth(action, worth)

    def _deadline(self, within_seconds: float | None) -> float:
        is_time = within_seconds is None or is_number(within_seconds, 0, math.inf)
        expect(is_time, "within_seconds", within_seconds, "a number from 0")
        deadline = self._limits.deadline
        return deadline if within_seconds is None else min(deadline, self._limits.clock() + within_seconds)

    def _by_system_clock(self, deadline: float) -> float:
        """Return when a deadline is by the clock that kernels read; that of the limits may leave pauses out."""
        return time.monotonic() + deadline - self._limits.clock()

    def _after_actions(self, state: Any, deadline: float) -> list[int] | None:
        if not self._asks_kernel:
            return None
        try:
            kernel = self._kernel_values()
            return kernel.after_actions(state, self._by_system_clock(deadline)) if kernel is not None else None
        except KernelError:
            self._asks_kernel = False
            return None

    def _kernel_values(self) -> KernelValues | None:
        if self._kernel is None:
            self._asks_kernel = self._asks_kernel and self._is_worth_asking()
            self._kernel = KernelValues(self._game, self._limits) if self._asks_kernel else None
        return self._kernel

    def _is_worth_asking(self) -> bool:
        if is_built(self._game):
            return True
        states = count_states(self._game, self._path)
        return self._builds_kernel and (states is None or states > FEW_STATES)

    def _searching(self, deadline: float) -> Search:
        limits = replace(self._limits, deadline=deadline)
        if self._search is None:
            self._search = Search(self._game, limits)
        self._search.limits = limits
        return self._search
