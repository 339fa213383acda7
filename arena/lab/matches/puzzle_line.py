"""How a puzzle continues: the only action at each turn of its seat, what refutes the others, and its theme."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from arena.games.game import Game
from arena.lab.matches.puzzle import MAX_TURNS, Choice, Theme, Turn
from arena.lab.oracle import Oracle
from arena.lab.solving.worth import Outcome

MIN_CHOICES, MAX_CHOICES = 3, 1000
"""Of two actions one is right every other time."""


@dataclass(frozen=True, slots=True)
class LineFinder:
    """Finds the turns of ``seat``, which keeps the outcome ``goal`` for seat 0.

    ``within_seconds`` is the time for one question, which all replies to an action share.
    """

    game: Game[Any]
    oracle: Oracle
    seat: int
    goal: Outcome
    within_seconds: float | None

    def turns(self, state: Any) -> tuple[Turn, ...]:
        """Return the turns from a state on, with refutations; none unless exactly one action keeps the outcome there.

        The other seat replies so that again exactly one action keeps the outcome; then with the best margin for it.
        """
        found, turn = list[Turn](), self._turn(state)
        while turn is not None:
            found.append(self._refuted(state, turn))
            if len(found) == MAX_TURNS:
                break
            replied = self._replied(self.game.apply(state, self.game.legal_actions(state)[turn.solution]))
            state, turn = replied or (state, None)
        return tuple(found)

    def _turn(self, state: Any, reply: str = "", within_seconds: float | None = None) -> Turn | None:
        """Return the turn in a state; None unless it is known that exactly one of enough actions keeps the outcome."""
        if self.game.seat_to_act(state) != self.seat:
            return None
        if not MIN_CHOICES <= len(self.game.legal_actions(state)) <= MAX_CHOICES:
            return None
        choices, keeping = list[Choice](), list[int]()
        for number, one in enumerate(self.oracle.actions(state, within_seconds)):
            outcome = one.worth.outcome
            if outcome is None:
                return None
            text = str(self.game.format_action(one.action))
            choices.append(Choice(text=text, outcome=outcome, margin=one.worth.margin))
            keeping += [number] if outcome is self.goal else []
        return Turn(reply=reply, choices=tuple(choices), solution=keeping[0]) if len(keeping) == 1 else None

    def _replied(self, state: Any) -> tuple[Any, Turn] | None:
        """Return the state after the reply, and the turn there; None if no reply leaves exactly one action."""
        replies = list(self._replies(state, self.goal))
        share = None if self.within_seconds is None else self.within_seconds / max(len(replies), 1)
        for action in replies:
            after = self.game.apply(state, action)
            turn = self._turn(after, str(self.game.format_action(action)), share)
            if turn is not None:
                return after, turn
        return None

    def _refuted(self, state: Any, turn: Turn) -> Turn:
        """Return a turn with a reply to each wrong action, where one is known."""
        share = None if self.within_seconds is None else self.within_seconds / len(turn.choices)
        choices = list(turn.choices)
        for number, action in enumerate(self.game.legal_actions(state)):
            if number != turn.solution:
                replies = self._replies(self.game.apply(state, action), choices[number].outcome, share)
                texts = (str(self.game.format_action(one)) for one in replies)
                choices[number] = replace(choices[number], refutation=next(texts, ""))
        return replace(turn, choices=tuple(choices))

    def _replies(self, state: Any, outcome: Outcome, within_seconds: float | None = None) -> Iterator[Any]:
        """Yield the actions of the other seat that lead to an outcome, the best margin first."""
        if self.game.seat_to_act(state) == 1 - self.seat:
            sign = 1 if self.seat == 0 else -1
            found = [one for one in self.oracle.actions(state, within_seconds) if one.worth.outcome is outcome]
            yield from (one.action for one in sorted(found, key=lambda one: sign * (one.worth.margin or 0)))


def leads_of(game: Game[Any], state: Any) -> tuple[float, list[float]]:
    """Return how far ahead the seat to act is by the scores, and would be after each legal action."""
    sign = 1 if game.seat_to_act(state) == 0 else -1
    states = [state, *(game.apply(state, action) for action in game.legal_actions(state))]
    now, *after = (sign * (first - second) for first, second in map(game.scores, states))
    return now, after


def theme_of(now: float, leads: list[float], solution: int) -> Theme:
    """Return the first theme that holds, by how far ahead the seat is now, and would be after each action."""
    if leads[solution] < now:
        return Theme.SACRIFICE
    if leads[solution] < max(leads):
        return Theme.GREED_FAILS
    return Theme.QUIET if leads[solution] == now else Theme.GAIN
