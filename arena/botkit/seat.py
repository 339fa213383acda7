"""One seat's view of a match: the state kept by applying actions, and the seeds."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.botkit.clock import Clock
from arena.games import Game


class Choice(NamedTuple):
    """An action with a note for the replay: a short text or a small map."""

    action: Any
    note: str | dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """What is known when a match begins.

    Attributes:
        game: the rules with their options.
        seat: the bot's seat, from 0.
        players: the number of seats.
        rng_seed: for all randomness; ``random`` has been seeded with it.
        time_control: as protocol.md describes it.
    """

    game: Game[Any]
    seat: int
    players: int
    rng_seed: int
    time_control: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended.

    Attributes:
        ranks: the place of each seat, 1 is best.
        scores: the score of each seat.
        termination: "normal" or "forfeit".
    """

    ranks: list[int]
    scores: list[float]
    termination: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question, for bots that keep no rules.

    Attributes:
        match: what was told when the match began; ``match.game.name`` and ``match.game.options`` among it.
        ply: the number of actions so far.
        observation: the state as protocol.md describes it; see ``arena.botkit.observations`` for its types.
        legal: the legal actions in the game's order.
        clock: how long the action may take.
    """

    match: MatchInfo
    ply: int
    observation: Any
    legal: Sequence[Any]
    clock: Clock


Choose = Callable[[Game[Any], Any, Clock], Any]
ChooseOnTurn = Callable[[Turn], Any]


class Seat:
    """A match as one seat follows it.

    Attributes:
        info: what was told when it began.
        state: the position, after all actions told so far.
        ply: how many those were.
    """

    def __init__(self, info: MatchInfo) -> None:
        """Begin a match and seed the generators."""
        self.info = info
        self.state = info.game.initial_state()
        self.ply = 0
        seed_generators(info.rng_seed)

    def follow(self, actions: Sequence[Any]) -> None:
        """Apply ``[seat, action]`` pairs; an action that is None takes the seat out of the match."""
        game = self.info.game
        for _seat, action in actions:
            self.state = game.withdraw(self.state) if action is None else game.apply(self.state, action)
            self.ply += 1

    def clock(self, told: dict[str, Any], asked_at: float) -> Clock:
        """Return the clock of a question."""
        increment = self.info.time_control.get("increment_seconds", 0.0)
        return Clock(told["seconds"], told["bank_seconds"], asked_at, increment)


def seed_generators(rng_seed: int) -> None:
    """Seed ``random``, and numpy's old-style generator if the bot has imported numpy."""
    random.seed(rng_seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(rng_seed % 2**32)


def as_choice(chosen: Any) -> Choice:
    """Return what a bot's function returned as a Choice."""
    return chosen if isinstance(chosen, Choice) else Choice(chosen)
