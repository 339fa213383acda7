"""One door to what is known of a game's states: proofs, tables, kernels and search, in this order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from arena.errors import KernelError, UsageError
from arena.games.game import Game
from arena.lab.kernel_values import KernelValues
from arena.lab.kernels.loading import has_solver, is_built
from arena.lab.limits import Limits
from arena.lab.proofs import proof_of
from arena.lab.search import Search
from arena.lab.state_count import count_states
from arena.lab.tables import Table
from arena.lab.worth import Known, Worth, ranks_follow_scores, value_of, worth_between

_FEW_STATES = 20_000
"""A game of so few is searched before a kernel would be built."""


@dataclass(frozen=True, slots=True)
class ActionWorth:
    """An action, and what the state after it is worth to seat 0."""

    action: Any
    worth: Worth


class Oracle:
    """Answers what a state of a game for two is worth, and how that is known."""

    def __init__(
        self,
        game: Game[Any],
        path: str,
        limits: Limits | None = None,
        table: Table | None = None,
        within_seconds: float | None = None,
    ) -> None:
        """Prepare an oracle.

        Args:
            game: the rules; those from outside come from ``checked_game``.
            path: the game's name or dotted path.
            limits: the deadline of all questions, and the memory for the search.
            table: values that are known.
            within_seconds: how long one question may take; by default up to the deadline. The first question also waits
                for the kernel to be built, if it was never built here, unless there is a deadline.

        Raises:
            UsageError: if the game is not for two.
        """
        if game.players != 2:
            raise UsageError(f"players = {game.players}: only a game for two has one value; others have shares")
        self._game = game
        self._path = path
        self._table = table
        self._limits = limits or Limits()
        self._within_seconds = within_seconds
        self._follows = ranks_follow_scores(game)
        self._search: Search | None = None
        self._kernel: KernelValues | None = None
        self._asks_kernel = has_solver(game)

    def worth(self, state: Any) -> Worth:
        """Return what a state is worth, exactly or by bounds."""
        game = self._game
        if game.is_over(state):
            value = value_of(game.scores(state), game.ranks(state))
            return worth_between(value, value, Known.TABLE, self._follows)
        proof = proof_of(game, self._path, state)
        if proof.low == proof.high:
            return worth_between(proof.low, proof.high, Known.PROVED)
        value_or_none = self._table.value(state) if self._table is not None else None
        if value_or_none is not None:
            return worth_between(value_or_none, value_or_none, Known.TABLE, self._follows)
        deadline = self._deadline()
        after = self._after_actions(state, deadline)
        if after is not None:
            value = max(after) if game.seat_to_act(state) == 0 else min(after)
            return worth_between(value, value, Known.TABLE, self._follows)
        found = self._searching(deadline).bounds(state, proof.low, proof.high)
        low, high = max(proof.low, found.low), min(proof.high, found.high)
        known = Known.PROVED if (low, high) == (proof.low, proof.high) and proof.names else Known.SEARCH
        return worth_between(low, high, known, self._follows)

    def actions(self, state: Any) -> list[ActionWorth]:
        """Return the legal actions, in their order, with what the states after them are worth."""
        game = self._game
        known = self._known_actions(state)
        if known is not None:
            return known
        return [ActionWorth(one, self.worth(game.apply(state, one))) for one in game.legal_actions(state)]

    def exact_actions(self, state: Any) -> list[ActionWorth] | None:
        """Return what ``actions`` does if all worths are exact; None as soon as one is not."""
        known = self._known_actions(state)
        if known is not None:
            return known
        found = []
        for one in self._game.legal_actions(state):
            worth = self.worth(self._game.apply(state, one))
            if not worth.is_exact:
                return None
            found.append(ActionWorth(one, worth))
        return found

    def _known_actions(self, state: Any) -> list[ActionWorth] | None:
        """Return the legal actions by the kernel; None if it does not know them."""
        if self._game.is_over(state):
            return []
        after = self._after_actions(state, self._deadline()) if self._table is None else None
        if after is None:
            return None
        worths = {value: worth_between(value, value, Known.TABLE, self._follows) for value in set(after)}
        actions = self._game.legal_actions(state)
        return [ActionWorth(one, worths[value]) for one, value in zip(actions, after, strict=True)]

    def _deadline(self) -> float:
        """Return the deadline of a question that is asked now."""
        deadline = self._limits.deadline
        return deadline if self._within_seconds is None else min(deadline, time.monotonic() + self._within_seconds)

    def _after_actions(self, state: Any, deadline: float) -> list[int] | None:
        """Return the values after all actions of a state by its kernel; None if it does not know them."""
        if not self._asks_kernel:
            return None
        try:
            if self._kernel is None:
                self._asks_kernel = self._is_worth_asking()
                if not self._asks_kernel:
                    return None
                self._kernel = KernelValues(self._game, self._limits)
            return self._kernel.after_actions(state, deadline)
        except KernelError:
            self._asks_kernel = False
            return None

    def _is_worth_asking(self) -> bool:
        """Return whether the kernel is there; or there is time to build it, and reason to."""
        if is_built(self._game):
            return True
        states = count_states(self._game, self._path)
        return self._limits.deadline == float("inf") and (states is None or states > _FEW_STATES)

    def _searching(self, deadline: float) -> Search:
        """Return the search, which keeps what it has learned, with the deadline of a question."""
        limits = replace(self._limits, deadline=deadline)
        if self._search is None:
            self._search = Search(self._game, limits)
        self._search.limits = limits
        return self._search
