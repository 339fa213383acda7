"""One door to what is known of a game's states: strategies that are proved, tables, and search, in this order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from arena.errors import UsageError
from arena.games.game import Game
from arena.lab.limits import Limits
from arena.lab.proofs import proof_of
from arena.lab.search import Search
from arena.lab.tables import Table
from arena.lab.worth import Known, Worth, ranks_follow_scores, value_of, worth_between


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
            within_seconds: how long a search for one question may take; by default up to the deadline.

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
        found = self._searching().bounds(state, proof.low, proof.high)
        low, high = max(proof.low, found.low), min(proof.high, found.high)
        known = Known.PROVED if (low, high) == (proof.low, proof.high) and proof.names else Known.SEARCH
        return worth_between(low, high, known, self._follows)

    def actions(self, state: Any) -> list[ActionWorth]:
        """Return the legal actions, in their order, with what the states after them are worth."""
        game = self._game
        return [ActionWorth(one, self.worth(game.apply(state, one))) for one in game.legal_actions(state)]

    def _searching(self) -> Search:
        """Return the search, which keeps what it has learned, with the deadline of a new question."""
        limits = self._limits
        if self._within_seconds is not None:
            limits = replace(limits, deadline=min(limits.deadline, time.monotonic() + self._within_seconds))
        if self._search is None:
            self._search = Search(self._game, limits)
        self._search.limits = limits
        return self._search
