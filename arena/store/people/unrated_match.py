"""A match that a person plays against a bot in the browser: in no tournament, and not rated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class MatchState(StrEnum):
    """How far an unrated match is."""

    BEGINNING = "beginning"
    """The rules have not been asked yet."""
    PERSON = "person"
    """The person is to act."""
    BOT = "bot"
    """The bot is to act."""
    OVER = "over"
    FAILED = "failed"
    """The arena could not go on; that is no fault of the person or the bot."""


ENDED = (MatchState.OVER, MatchState.FAILED)


class PlayRequest(StrEnum):
    """What a person wants to do next; the play host does it."""

    ACT = "act"
    UNDO = "undo"
    HINT = "hint"


class Shown(NamedTuple):
    """What of a match its page follows: another value, and the page is another one."""

    state: MatchState
    plies: int
    request: PlayRequest | None
    answer: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What is chosen before a match.

    Attributes:
        options: of the game, as JSON.
        bot: ``arena:NAME`` or ``name@version``.
        per_action_milliseconds: of the bot.
    """

    game: str
    options: str
    seat: int
    bot: str
    per_action_milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of a match.

    Attributes:
        actions: ``[seat, action, seconds, note]`` for each, as JSON; seconds and note of a bot's action, or null.
        view: what its page shows, as JSON; "" before the rules were asked.
        reason: why it is over, or could not go on; "" otherwise.
    """

    state: MatchState
    actions: str
    plies: int
    view: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnratedMatch:
    """An unrated match, as it is stored.

    Attributes:
        secret: its address.
        person: the number of its owner; None for a visitor.
        bot_digest: of the bot's files when it began; "" before.
        request: what the person wants to do; None if they are not waiting.
        requested_action: as text, where the request is to act.
        answer: to the last request: a hint, or why it was rejected; "" for nothing.
        acted_at: when the person last did something.
        has_slot: whether it has a slot at the play host.
    """

    number: int
    secret: str
    person: int | None
    choices: Choices
    position: Position
    bot_digest: str
    request: PlayRequest | None
    requested_action: str
    answer: str
    begun_at: str
    acted_at: str
    has_slot: bool

    @property
    def shown(self) -> Shown:
        """What of it its page follows."""
        return Shown(self.position.state, self.position.plies, self.request, self.answer, self.position.reason)

    @property
    def is_waiting(self) -> bool:
        """Whether the play host has something to do."""
        return self.position.state not in ENDED and (
            self.request is not None or self.position.state != MatchState.PERSON
        )
