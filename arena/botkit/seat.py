"""One seat's view of a match: the state after all actions so far, and the seeds."""

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


def as_choice(chosen: Any) -> Choice:
    """Return the return value of a bot's function as a Choice."""
    return chosen if isinstance(chosen, Choice) else Choice(chosen)
