"""Positions of a match: the line of play that leads to one, its state, the seat to act and the legal actions."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arena.base.errors import IllegalActionError
from arena.games.conformance.calls import Calls
from arena.games.conformance.finding import MistakeError, shown

Line = tuple[Any, ...]
"""Actions from the start; None takes the seat to act out of the match."""

_TAKEN_OUT = 0.1
"""The share of plies at which a seat is taken out, in matches with such seats."""

_LOOP_STATES = 1000
"""The most positions to search for a loop."""

OnMistake = Callable[[MistakeError, Line], None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Position:
    """A state and what the game reports about it, with the way to it.

    ``before`` and ``action`` are None at the start; ``action`` also where a seat was taken out, by ``withdraw``.
    """

    calls: Calls
    state: Any
    seat: int | None
    legal: list[Any]
    before: Position | None = None
    action: Any = None
    taken_out: frozenset[int] = frozenset()

    @property
    def actions(self) -> list[tuple[int, Any]]:
        """The actions from the start, each with its seat, as ``render_after`` gets them."""
        pairs: list[tuple[int, Any]] = []
        position = self
        while position.before is not None:
            pairs.append((position.before.seat or 0, position.action))
            position = position.before
        return pairs[::-1]

    @property
    def line(self) -> Line:
        """The actions from the start."""
        return tuple(action for _, action in self.actions)

    def state_after(self, action: Any) -> Any:
        """Return the state after a legal action, or without the seat to act if it is None; MistakeError otherwise."""
        if action is None:
            method, check, state = "withdraw", "elimination", self.calls("withdraw", self.state)
        else:
            method, check, state = "apply", "apply", self._applied(action)
        if state is None:
            raise MistakeError(f"{method} returned None", check=check, action=action)
        return state

    def _applied(self, action: Any) -> Any:
        try:
            return self.calls("apply", self.state, action)
        except IllegalActionError as error:
            sentence = f"apply refused {shown(action)} ({error.reason}), which is among the legal actions"
            raise MistakeError(sentence, check="apply", action=action) from error
        except MistakeError as mistake:
            mistake.action = action
            raise

    def then(self, action: Any) -> Position:
        """Return the position after a legal action; MistakeError on the way, or about the new position."""
        state = self.state_after(action)
        taken_out = self.taken_out | {self.seat} if action is None and self.seat is not None else self.taken_out
        seat, legal = _seat_and_legal(self.calls, state)
        if seat in taken_out:
            raise MistakeError(f"seat {seat} is to act after withdraw has taken it out", check="elimination")
        return Position(
            calls=self.calls, state=state, seat=seat, legal=legal, before=self, action=action, taken_out=taken_out
        )


@contextmanager
def shown_by(action: Any) -> Iterator[None]:
    """Add an action to the line of play of a mistake that is met after it."""
    try:
        yield
    except MistakeError as mistake:
        if mistake.action is None:
            mistake.action = action
        raise


def _seat_and_legal(calls: Calls, state: Any) -> tuple[int | None, list[Any]]:
    """Return the seat to act and the legal actions; MistakeError if they are not what they must be."""
    seat = _seat_of(calls, state)
    legal = _legal_of(calls, state)
    if (seat is None) == bool(legal):
        contradiction = (
            "nobody is to act, yet there are legal actions" if legal else f"seat {seat} is to act without legal actions"
        )
        raise MistakeError(f"{contradiction}: seat_to_act returned {seat}, legal_actions {shown(legal)}", check="seats")
    return seat, legal


def first_position(calls: Calls) -> Position:
    """Return the position before the first action."""
    state = calls("initial_state")
    seat, legal = _seat_and_legal(calls, state)
    return Position(calls=calls, state=state, seat=seat, legal=legal)


def state_after(calls: Calls, line: Line) -> Any:
    """Return the state after a line of play from the start; MistakeError if an action is refused this time."""
    state = calls("initial_state")
    for ply, action in enumerate(line):
        try:
            state = calls("withdraw", state) if action is None else calls("apply", state, action)
        except IllegalActionError as error:
            raise MistakeError(
                f"the same line of play was refused when it was played again: at ply {ply} {error}",
                check="repeatability",
                ends=True,
            ) from error
    return state


def _seat_of(calls: Calls, state: Any) -> int | None:
    seat = calls("seat_to_act", state)
    players = calls.game.players
    if seat is not None and (type(seat) is not int or not 0 <= seat < players):
        raise MistakeError(
            f"seat_to_act returned {shown(seat)}; expected None or a whole number from 0 to {players - 1}",
            check="seats",
        )
    is_over = calls("is_over", state)
    if is_over is not (seat is None):
        raise MistakeError(f"is_over returned {shown(is_over)}, although seat_to_act returned {seat}", check="seats")
    return seat


def _legal_of(calls: Calls, state: Any) -> list[Any]:
    listed = calls("legal_actions", state)
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence):
        raise MistakeError(
            f"legal_actions returned {shown(listed)}, of the type {type(listed).__name__}; expected a list or a tuple",
            check="legal_actions",
        )
    legal: list[Any] = calls.run(list, listed, method="legal_actions")
    return legal


def breadth_first(start: Position, states: int, on_mistake: OnMistake) -> Iterator[Position]:
    """Yield up to ``states`` positions from the start on, the shortest lines first, each state once.

    It passes each mistake on the way to a position to ``on_mistake``, with the line that leads to it.
    """
    queue = deque([start])
    seen: set[Any] = set()
    count = 1
    while queue:
        position = queue.popleft()
        yield position
        for action in [*position.legal, *_taking_out(position)][: max(0, states - count)]:
            try:
                following = position.then(action)
            except MistakeError as mistake:
                on_mistake(mistake, (*position.line, action))
                continue
            if not _is_known(following.state, seen):
                count += 1
                queue.append(following)


def _taking_out(position: Position) -> list[None]:
    """Return None, the action that takes the seat to act out, if the game knows that in a match of three or more."""
    if position.seat is None or position.calls.game.players < 3:
        return []
    try:
        return [] if position.calls("withdraw", position.state) is None else [None]
    except MistakeError:
        return [None]


def _is_known(state: Any, seen: set[Any]) -> bool:
    try:
        if state in seen:
            return True
        seen.add(state)
    except Exception:  # the author's __hash__ and __eq__; a check of its own names what they raise
        return False
    return False


def random_match(
    start: Position, draw: random.Random, plies: int, withdraws: bool, on_mistake: OnMistake
) -> Iterator[Position]:
    """Yield the positions of a match of random actions, up to the end, a mistake or ``plies``.

    ``withdraws`` takes seats out now and then, as after forfeits. A mistake goes to ``on_mistake`` with its line.
    """
    position = start
    yield position
    for _ in range(plies):
        if position.seat is None:
            return
        takes_out = withdraws and draw.random() < _TAKEN_OUT and _taking_out(position)
        action = None if takes_out else draw.choice(position.legal)
        try:
            position = position.then(action)
        except MistakeError as mistake:
            on_mistake(mistake, (*position.line, action))
            return
        yield position


def shortest_loop(start: Position, seconds: float) -> tuple[Line, Line] | None:
    """Return a line of play and a longer one to the same state; None if ``seconds`` of CPU time find none."""
    end = time.process_time() + seconds
    for position in breadth_first(start, _LOOP_STATES, lambda mistake, line: None):
        for action in position.legal:
            if time.process_time() > end:
                return None
            try:
                state = position.state_after(action)
                earlier = next((before for before in _back_from(position) if before.state == state), None)
            except Exception:  # another check names it
                continue
            if earlier is not None:
                return earlier.line, (*position.line, action)
    return None


def _back_from(position: Position | None) -> Iterator[Position]:
    while position is not None:
        yield position
        position = position.before
