"""Whether the states of a game from outside are values: equal states mean the same, and no call changes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.base.errors import GameError
from arena.games import GAMES
from arena.games.checked_game import shown
from arena.games.game import Game


class StateCheck:
    """Checks the states of one game while they are explored; those of the arena's own games have tests for that."""

    def __init__(self, game: Game[Any], path: str) -> None:
        self._game = game
        self._path = path
        self._is_trusted = path in GAMES

    def check_start(self) -> None:
        """Raise GameError unless two calls return the same initial state."""
        if not self._is_trusted and not self._are_equal(self._game.initial_state(), self._game.initial_state()):
            raise self.no_value("those of two calls are not equal", "initial_state")

    def following(self, state: Any) -> Iterator[Any]:
        """Yield the states after each legal action; GameError if a call changes ``state``, or depends on more."""
        game = self._game
        if self._is_trusted:
            yield from (game.apply(state, action) for action in game.legal_actions(state))
            return
        before = repr(game.observation(state))
        actions = list(game.legal_actions(state))
        for action in actions:
            after = game.apply(state, action)
            if repr(game.observation(state)) != before:
                raise self.no_value(f"{game.format_action(action)} changed the state that it was applied to")
            if not self._are_equal(after, game.apply(state, action)):
                raise self.no_value(f"{game.format_action(action)} led to two states that are not equal")
            yield after

    def check_end(self, state: Any) -> None:
        """Raise GameError unless a match that is over has no actions, and keeps its scores."""
        if self._is_trusted:
            return
        actions = self._game.legal_actions(state)
        if actions:
            raise GameError(self._path, "legal_actions", f"returned actions after the end of a match: {shown(actions)}")
        scores, again = tuple(self._game.scores(state)), tuple(self._game.scores(state))
        if scores != again:
            raise GameError(self._path, "scores", f"changed after the end of a match: {shown(scores)}, {shown(again)}")

    def check_equal(self, known: Any, state: Any) -> None:
        """Raise GameError unless two equal states have the same seat to act, actions and scores."""
        if self._is_trusted:
            return
        for method in ("seat_to_act", "legal_actions", "scores"):
            call = getattr(self._game, method)
            one, other = call(known), call(state)
            if (one if method == "seat_to_act" else list(one)) != (other if method == "seat_to_act" else list(other)):
                if method == "scores" and self._game.is_over(state):
                    problem = f"changed after the end of a match: {shown(one)}, {shown(other)} in an equal state"
                    raise GameError(self._path, method, problem)
                raise GameError(self._path, method, f"differs between equal states: {shown(one)}, {shown(other)}")

    def no_value(self, why: str, method: str = "apply") -> GameError:
        """Return the mistake of a state that is no value."""
        return GameError(self._path, method, f"returned a state that is no value: {why}")

    def _are_equal(self, one: Any, other: Any) -> bool:
        try:
            return bool(one == other) and hash(one) == hash(other)
        except TypeError as error:
            raise self.no_value(f"{type(one).__name__} can't be hashed") from error
