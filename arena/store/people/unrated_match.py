"""A match that a person plays against a bot in the browser, in no tournament and not rated: values, table, rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, ForeignKey, Index, Row, Table, select

from arena.store.people.schema import TimedRepository, metadata, numbered
from arena.store.results.schema import Integer, Member, OptionalInteger, OptionalString, String, Text, value_of


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


_WOULD_PLAY = " would play "


def hint_sentence(bot: str, action: str) -> str:
    """Return the answer to a request for a hint."""
    return f"{bot}{_WOULD_PLAY}{action}."


def hinted_action(answer: str) -> str:
    """Return the action that an answer hints at; "" if it is no hint."""
    _, phrase, action = answer.rpartition(_WOULD_PLAY)
    return action.removesuffix(".") if phrase else ""


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
        per_action_milliseconds: of a bot.
        challenger: ``name@version`` of a bot that plays in the person's place; "" if the person plays.
        compared: the options of the match played before, of which one is changed in this variation; "" without.
    """

    game: str
    options: str
    seat: int
    bot: str
    per_action_milliseconds: int
    challenger: str = ""
    compared: str = ""


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


unrated_matches = numbered(
    "unrated_matches",
    Column("secret", String(64), nullable=False, unique=True),
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("network", String(64), nullable=False),
    Column("game", String(300), nullable=False),
    Column("options", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("bot", String(200), nullable=False),
    Column("bot_digest", String(100), nullable=False),
    Column("per_action_milliseconds", Integer, nullable=False),
    Column("challenger", String(200), nullable=False, server_default=""),
    Column("compared", Text, nullable=False, server_default=""),
    Column("state", Member(MatchState, "state", 16), nullable=False),
    Column("actions", Text, nullable=False),
    Column("plies", Integer, nullable=False),
    Column("view", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("wish", OptionalString(16)),
    Column("wished_action", String(200), nullable=False),
    Column("answer", Text, nullable=False),
    Column("begun_at", String(40), nullable=False),
    Column("acted_at", String(40), nullable=False),
    Column("slot_until", OptionalString(40)),
    Column("held_seconds", Integer, nullable=False),
    Column("claim", OptionalString(64)),
    Column("claimed_until", OptionalString(40)),
    Column("tries", Integer, nullable=False),
    Index("unrated_matches_by_slot", "slot_until"),
    Index("unrated_matches_by_person", "person_id", "id"),
    Index("unrated_matches_by_time", "acted_at"),
)

play_menu = Table(
    "play_menu",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("at", String(40), nullable=False),
)


class UnratedRows(TimedRepository):
    """The rows in a database."""

    def one(self, condition: ColumnElement[bool]) -> UnratedMatch | None:
        """Return a match; None without one."""
        return self._database.one(select(unrated_matches).where(condition), self.match_of)

    def write(self, condition: ColumnElement[bool], values: dict[str, Any]) -> bool:
        """Change a match; return whether there was one."""
        statement = unrated_matches.update().where(condition).values(values)
        return self._database.write(lambda connection: connection.execute(statement).rowcount) > 0

    def match_of(self, row: Row[Any]) -> UnratedMatch:
        """Return the match of a row."""
        return value_of(
            UnratedMatch,
            row,
            person=row.person_id,
            choices=value_of(Choices, row),
            position=value_of(Position, row),
            request=PlayRequest(row.wish) if row.wish is not None else None,
            requested_action=row.wished_action,
            has_slot=row.slot_until is not None and row.slot_until > self._clock.text(),
        )
