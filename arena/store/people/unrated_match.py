"""A match that a person plays against a bot in the browser, not rated: its values, rows, slots and claims."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Index, Row, Table, case, select

from arena.base.errors import UsageError
from arena.base.text import counted
from arena.store.people.schema import TimedRepository, count_rows, meta, metadata, numbered, people
from arena.store.people.values import Clock
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


matches = numbered(
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
        return self._database.one(select(matches).where(condition), self.match_of)

    def write(self, condition: ColumnElement[bool], values: dict[str, Any]) -> bool:
        """Change a match; return whether there was one."""
        statement = matches.update().where(condition).values(values)
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


IDLE_SECONDS = 300.0
"""A person who has done nothing for this long loses the slot."""
SLOTS_OF_A_PERSON = 2
GIVES_WAY_SECONDS = 10.0
"""A visitor who has done nothing for this long loses the slot to another match from the same network."""
LONG_HELD_SECONDS = 1800.0
"""A visitor who has held slots for this long in all loses the slot when no other is free."""
MENU_SECONDS = 60.0
"""A play host that has not written its menu for this long is not running."""
NOBODY_PLAYS = "nobody can play here now; try again in a minute"
TRY_AGAIN = f"try again when a match has ended or been idle for {IDLE_SECONDS / 60:.0f} minutes"
LEFT = {"slot_until": None, "claim": None, "claimed_until": None}
"""A match without a slot, at which nobody is."""


_THINKING = (matches.c.state == MatchState.PERSON) & matches.c.wish.is_(None)
"""A person is to act, and the arena has nothing to do."""


class PlaySlots:
    """Gives slots to matches; the caller provides the transaction."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def held_seconds(self, row: Row[Any]) -> int:
        """Return how long a match has held slots in all."""
        if row.slot_until is None:
            return int(row.held_seconds)
        since = self._clock.between(row.acted_at, self._clock.text())
        return int(row.held_seconds + min(max(since, 0.0), IDLE_SECONDS))

    def take(self, connection: Connection, person: int | None, network: str, own: Row[Any] | None = None) -> None:
        """Get a slot for a new match, or one that may have lost its own; UsageError if all are taken."""
        one_at_a_time(connection)
        number = own.id if own is not None else 0
        menu = select(play_menu.c.slots).where(play_menu.c.at > self._clock.text(-MENU_SECONDS))
        slots = connection.execute(menu).scalar()
        if not slots:
            raise UsageError(NOBODY_PLAYS)
        now, far = self._clock.text(), self._clock.text(2 * IDLE_SECONDS)  # beyond: given by a clock that was ahead
        others = (matches.c.slot_until > now) & (matches.c.slot_until < far) & (matches.c.id != number)
        if person is not None:
            theirs = others & (matches.c.person_id == person)
            held = select(matches.c.id).where(theirs).order_by(matches.c.acted_at.desc(), matches.c.id.desc())
            left = connection.execute(held.offset(SLOTS_OF_A_PERSON - 1)).scalars().all()
            connection.execute(matches.update().where(matches.c.id.in_(left)).values(**LEFT))
        may_displace = own is None or person is not None or self.held_seconds(own) < LONG_HELD_SECONDS
        visitors = others & matches.c.person_id.is_(None)

        def has_room(condition: ColumnElement[bool], most: int) -> bool:
            if count_rows(connection, condition) < most:
                return True
            has_displaced = may_displace and self._displace(connection, condition & visitors)
            return has_displaced and count_rows(connection, condition) < most

        if person is None:
            has_members = connection.execute(select(people.c.id).limit(1)).first() is not None
            theirs = visitors & (matches.c.network == network)
            most = slots_of_a_network(slots) if has_members else slots
            if count_rows(connection, theirs) >= most:
                self._give_way(connection, theirs)
            wait = counted(int(GIVES_WAY_SECONDS), "second")
            sign_in = "sign in, or " if has_members else ""
            if not has_room(theirs, most):
                raise UsageError(
                    f"visitors from one network have {counted(most, 'slot')} at most; "
                    f"{sign_in}try again when one of their matches has been idle for {wait}"
                )
            if not has_room(visitors, most := slots_of_visitors(slots) if has_members else slots):
                raise UsageError(
                    f"all {most} of the {slots} slots that visitors may take are taken now; {sign_in}{TRY_AGAIN}"
                )
        if not has_room(others, slots):
            raise UsageError(f"all {slots} slots are taken now; {TRY_AGAIN}")

    def _give_way(self, connection: Connection, condition: ColumnElement[bool]) -> None:
        """Free the slot of the idlest visitor, who has probably left that match for another one."""
        idle = condition & _THINKING & (matches.c.acted_at <= self._clock.text(-GIVES_WAY_SECONDS))
        row = connection.execute(select(matches).where(idle).order_by(matches.c.acted_at, matches.c.id)).first()
        if row is not None:
            self._free(connection, row)

    def _displace(self, connection: Connection, condition: ColumnElement[bool]) -> bool:
        """Free the slot of the match that has held slots the longest, and too long; return whether there is one.

        A match in which the arena has something to do keeps its slot until that is done.
        """
        rows = connection.execute(select(matches).where(condition & _THINKING).order_by(matches.c.id)).all()
        longest = max(rows, key=self.held_seconds, default=None)
        if longest is None or self.held_seconds(longest) < LONG_HELD_SECONDS:
            return False
        self._free(connection, longest)
        return True

    def _free(self, connection: Connection, row: Row[Any]) -> None:
        left = LEFT | {"held_seconds": self.held_seconds(row)}
        connection.execute(matches.update().where(matches.c.id == row.id).values(left))


def slots_of_visitors(slots: int) -> int:
    """Return how many visitors may play: half of the slots, and at least one, are kept for whoever has signed in."""
    return slots // 2


def slots_of_a_network(slots: int) -> int:
    """Return how many visitors may play from one network: one slot of visitors is left to others."""
    return max(1, slots_of_visitors(slots) - 1)


def one_at_a_time(connection: Connection) -> None:
    """Let one transaction at a time take a slot, so that no two take the last one; in any database."""
    connection.execute(meta.update().where(meta.c.key == "schema_version").values(key="schema_version"))


# Claims of unrated matches: a program of the play host that has one plays the match on, and no other does.

CLAIM_SECONDS = 5.0


class MatchClaim:
    """The right to play on a match; it is lost when it was not kept up in time, or when the match has ended."""

    def __init__(self, rows: UnratedRows, clock: Clock, number: int, secret: str) -> None:
        self.number = number
        self._rows, self._clock, self._secret = rows, clock, secret

    def keep(self) -> bool:
        """Extend the claim; return whether it still holds."""
        return self._write({"claimed_until": self._clock.text(CLAIM_SECONDS)})

    def read(self) -> UnratedMatch | None:
        """Return the match as it is now; None if the claim is lost, or the match has no slot any more."""
        match = self._rows.one(self._is_held())
        return match if match is not None and match.has_slot else None

    def write(self, position: Position, bot_digest: str, is_resumed: bool = False) -> bool:
        """Write the position of the match; return whether the claim held.

        ``is_resumed``: it has got no further than before, so what the person asked for is still to be done.
        """
        tries = case((matches.c.plies < position.plies, 0), else_=matches.c.tries)
        values = asdict(position) | {"bot_digest": bot_digest, "tries": tries}
        values |= {} if is_resumed else {"wish": None, "answer": ""}
        return self._write(values | (LEFT if position.state in ENDED else {}))

    def answer(self, sentence: str) -> bool:
        """Answer a request that changes nothing; return whether the claim held."""
        return self._write({"wish": None, "answer": sentence, "tries": 0})

    def end(self, state: MatchState, reason: str) -> bool:
        """End the match where it is; return whether the claim held."""
        return self._write({"state": state, "reason": reason, "wish": None, "answer": ""} | LEFT)

    def release(self, has_failed: bool = False) -> None:
        """Give the claim up; after a failure, another try counts as one."""
        self._write({"claim": None, "claimed_until": None} | ({} if has_failed else {"tries": 0}))

    def _write(self, values: dict[str, Any]) -> bool:
        return self._rows.write(self._is_held(), values)

    def _is_held(self) -> ColumnElement[bool]:
        return (matches.c.id == self.number) & (matches.c.claim == self._secret)
