"""One seat's view of a match: the state after all actions so far, the seeds, and the time for an action."""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from arena.games import Game
from arena.games.pie import KEEP, SWAP, PieState

SHARE = 0.9
"""The share of its time that an action uses; the rest is for transmission and for the loop that checks the clock."""

SPARE_SECONDS = 0.02
USUAL_ACTIONS_LEFT = 15

GOLDEN_RATIO = 0.618034
"""Multiples of it, without their whole part, are never close to each other."""

T = TypeVar("T")


@dataclass(slots=True)
class Clock:
    """The time for an action.

    Attributes:
        seconds: the time for this action, from the question on.
        bank_seconds: the time left in the bank for all remaining actions; None without a bank.
        asked_at: when the question arrived, by ``time.monotonic()``.
        increment_seconds: added to the bank after each action.
    """

    seconds: float
    bank_seconds: float | None
    asked_at: float
    increment_seconds: float = 0.0

    def seconds_left(self) -> float:
        """Return the remaining part of ``seconds``."""
        return self.seconds - (time.monotonic() - self.asked_at)

    def time_for_this_action(self, actions_left: int = USUAL_ACTIONS_LEFT) -> float:
        """Return how many seconds, from now, the bot should think.

        Nine tenths of the time for the action; with a bank, an even share of the bank and most of the increment, if
        that is less. Never negative. ``actions_left`` counts the bot's own actions in the rest of the match, this one
        included.
        """
        planned = self.seconds
        if self.bank_seconds is not None:
            planned = min(planned, self.bank_seconds / max(1, actions_left) + SHARE * self.increment_seconds)
        left = self.seconds_left()
        used = self.seconds - left
        return max(0.0, min(planned * SHARE - used, left - SPARE_SECONDS))


def until(stop_at: float, items: Iterable[T]) -> Iterator[T]:
    """Yield items, such as the legal actions, before ``stop_at`` by ``time.monotonic()``; the first one always.

    A position may have thousands of actions: a loop over them has to look at the clock too.
    """
    for number, item in enumerate(items):
        if number and time.monotonic() > stop_at:
            return
        yield item


def spread(items: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Yield each item with its number, in an order that is spread over all of them at any time.

    A bot without time for all legal actions should not look at the first ones alone, which are neighbours.
    """
    step = max(1, round(len(items) * GOLDEN_RATIO))
    while math.gcd(step, len(items)) > 1:
        step += 1
    for turn in range(len(items)):
        number = turn * step % len(items)
        yield number, items[number]


class Choice(NamedTuple):
    """An action with a note for the replay: a short text or a small map."""

    action: Any
    note: str | dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """A match, as described by the message ``match``.

    Attributes:
        game: the rules with their options.
        seat: the bot's seat, from 0.
        rng_seed: the seed of all randomness; ``random`` has been seeded with it.
        time_control: as in protocol.md.
        ply_limit: the match ends after this many actions, the opening included; None if the arena does not say.
    """

    game: Game[Any]
    seat: int
    players: int
    rng_seed: int
    time_control: dict[str, Any] = field(default_factory=dict)
    ply_limit: int | None = None


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of a match.

    Attributes:
        ranks: the rank of each seat, 1 is best.
        scores: the score of each seat.
        termination: "normal", "forfeit", or "adjudication" at the limit of plies, or where no play could
            change the ranks any more.
    """

    ranks: list[int]
    scores: list[float]
    termination: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question, for bots that don't use the rules.

    Attributes:
        match: with ``match.game.name`` and ``match.game.options``.
        ply: the number of actions so far.
        observation: the state, as in protocol.md; ``arena.botkit.observations`` has the types.
        legal: the legal actions in the game's order.
    """

    match: MatchInfo
    ply: int
    observation: Any
    legal: Sequence[Any]
    clock: Clock


Choose = Callable[[Game[Any], Any, Clock], Any]
ChooseOnTurn = Callable[[Turn], Any]


class Seat:
    """A match as seen from one seat; ``state`` is the position after all ``ply`` actions so far."""

    def __init__(self, info: MatchInfo) -> None:
        """Take the initial state and seed the generators."""
        self.info = info
        self.state = info.game.initial_state()
        self.ply = 0
        seed_generators(info.rng_seed)

    def follow(self, actions: Sequence[Any]) -> None:
        """Apply ``[seat, action]`` pairs; the action None takes the seat out of the match."""
        game = self.info.game
        for _seat, action in actions:
            self.state = game.withdraw(self.state) if action is None else game.apply(self.state, action)
            self.ply += 1

    def clock(self, fields: dict[str, Any], asked_at: float) -> Clock:
        """Return the clock of a question, from its ``clock`` and the time of its arrival."""
        increment = self.info.time_control.get("increment_seconds", 0.0)
        return Clock(fields["seconds"], fields["bank_seconds"], asked_at, increment)


def seed_generators(rng_seed: int) -> None:
    """Seed ``random``, and numpy's global generator if the bot has imported numpy."""
    random.seed(rng_seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(rng_seed % 2**32)


def without_pie(choose: Choose) -> Choose:
    """Return a bot's function that plays with the pie rule, from one for the rules without it.

    That one sees the seat whose part it plays as its own. In seat 1 the bot takes the part that is ahead.
    """

    def chosen(game: Any, state: Any, clock: Clock) -> Any:
        if not isinstance(state, PieState):
            return choose(game, state, clock)
        if state.is_choosing:
            first, second = game.rules.scores(state.state)
            return SWAP if first > second else KEEP
        return choose(game.rules, state.state, clock)

    return chosen


def as_choice(chosen: Any) -> Choice:
    """Return the return value of a bot's function as a Choice."""
    return chosen if isinstance(chosen, Choice) else Choice(chosen)
