"""Matches that people play in the browser, and the slots at the play host.

Whatever is known of a match is in its row, so that neither a web process nor a play host that is killed loses one. A
person says what they want to do next, a wish; a program of the play host claims the match, does it, and writes what
came of it. Only who holds the claim can write. A match has a slot while somebody plays it: from its beginning until
its end, or until the person has done nothing for a while; coming back takes a slot again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, delete, func, or_, select

from arena.errors import UsageError
from arena.people.secret import new_secret
from arena.people.unrated_match import ENDED, Choices, MatchState, Position, UnratedMatch, Wish
from arena.store.connection import Database
from arena.store.people.schema import meta
from arena.store.people.times import DAY_SECONDS, Clock
from arena.store.people.unrated_schema import play_menu
from arena.store.people.unrated_schema import unrated_matches as matches
from arena.text import counted

IDLE_SECONDS = 300.0
"""A person who has done nothing for so long gives up the slot."""
SLOTS_OF_A_PERSON = 2
LONG_HELD_SECONDS = 1800.0
"""A visitor who has held a slot for so long in all gives it up when nobody else's is free."""
CLAIM_SECONDS = 5.0
MENU_SECONDS = 60.0
"""A play host that has not written its menu for so long is not at work."""
MAX_TRIES = 5
"""Programs of the play host that may end, one after the other, without having got any further."""
KEPT_DAYS = 30
MAX_KEPT = 2000
LISTED = 20
NOBODY_PLAYS = "nobody can play here now; try again in a minute"
OUR_FAILURE = "The arena could not continue this match. That is no fault of yours, or of the bot."


class MatchClaim:
    """The right to play on a match; it is lost when it was not kept up in time, or when the match has ended."""

    def __init__(self, store: UnratedMatches, number: int, secret: str) -> None:
        self.number = number
        self._store, self._secret = store, secret

    def keep(self) -> bool:
        """Say that somebody is at it; return whether the claim still holds."""
        return self._write({"claimed_until": self._store.clock.text(CLAIM_SECONDS)})

    def read(self) -> UnratedMatch | None:
        """Return the match as it is now; None if the claim is lost, or the match has no slot any more."""
        one = self._store.one(self._holds())
        return one if one is not None and one.has_slot else None

    def write(self, position: Position, bot_digest: str, is_resumed: bool = False) -> bool:
        """Write how far the match has got; return whether the claim held.

        Args:
            position: how far.
            bot_digest: of the bot's files.
            is_resumed: it has got no further than before, so what the person wishes is still to be done.
        """
        tries = case((matches.c.plies < position.plies, 0), else_=matches.c.tries)
        values = _values(position) | {"bot_digest": bot_digest, "tries": tries}
        values |= {} if is_resumed else {"wish": None, "answer": ""}
        return self._write(values | (_LEFT if position.state in ENDED else {}))

    def answer(self, sentence: str) -> bool:
        """Answer a wish that changes nothing; return whether the claim held."""
        return self._write({"wish": None, "answer": sentence, "tries": 0})

    def end(self, state: MatchState, reason: str) -> bool:
        """End the match where it is; return whether the claim held."""
        return self._write({"state": state, "reason": reason, "wish": None, "answer": ""} | _LEFT)

    def release(self, has_failed: bool = False) -> None:
        """Give the claim up; after a failure, another try counts as one."""
        self._write({"claim": None, "claimed_until": None} | ({} if has_failed else {"tries": 0}))

    def _write(self, values: dict[str, Any]) -> bool:
        return self._store.write(self._holds(), values)

    def _holds(self) -> ColumnElement[bool]:
        return (matches.c.id == self.number) & (matches.c.claim == self._secret)


class UnratedMatches:
    """The matches in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self.clock = database, clock

    # the menu

    def set_menu(self, body: str, slots: int) -> None:
        """Write what can be chosen, and how many may play at once."""
        row = {"id": 1, "body": body, "slots": slots, "at": self.clock.text()}

        def write(connection: Connection) -> None:
            connection.execute(delete(play_menu))
            connection.execute(play_menu.insert(), row)

        self._database.write(write)

    def menu(self) -> str | None:
        """Return what can be chosen; None if no play host is at work."""
        query = select(play_menu.c.body).where(play_menu.c.at > self.clock.text(-MENU_SECONDS))
        return self._database.read(lambda connection: connection.execute(query).scalar())

    # by people

    def begin(self, choices: Choices, person: int | None, network: str) -> UnratedMatch:
        """Begin a match.

        Raises:
            UsageError: if all slots are taken.
        """
        secret, now = new_secret(), self.clock.text()
        row = {
            "secret": secret,
            "person_id": person,
            "network": network,
            "game": choices.game,
            "options": choices.options,
            "seat": choices.seat,
            "bot": choices.bot,
            "bot_digest": "",
            "per_action_milliseconds": choices.per_action_milliseconds,
            **_values(Position(state=MatchState.BEGINNING, actions="[]", plies=0, view="")),
            "wished_action": "",
            "answer": "",
            "begun_at": now,
            "acted_at": now,
            "slot_until": self.clock.text(IDLE_SECONDS),
            "held_seconds": 0,
            "tries": 0,
        }

        def begin(connection: Connection) -> UnratedMatch:
            self._take_slot(connection, person, network)
            connection.execute(matches.insert(), row)
            return self._get(connection, matches.c.secret == secret)

        return self._database.write(begin)

    def find(self, secret: str) -> UnratedMatch | None:
        """Return the match with an address; None without one."""
        return self.one(matches.c.secret == secret)

    def of_person(self, person: int) -> list[UnratedMatch]:
        """Return the latest matches of a person, the latest first."""
        query = select(matches).where(matches.c.person_id == person).order_by(matches.c.acted_at.desc(), matches.c.id)
        rows = self._database.read(lambda connection: connection.execute(query.limit(LISTED)).all())
        return [self._match_of(row) for row in rows]

    def wish(self, number: int, wish: Wish, plies: int, action: str = "") -> None:
        """Say what the person wants to do next.

        Args:
            number: of the match.
            wish: what.
            plies: how many actions the person has seen.
            action: as text, where the wish is to act.

        Raises:
            UsageError: if the match has got further, is over or waits for the bot, or all slots are taken.
        """

        def write(connection: Connection) -> None:
            row = _locked(connection, number)
            _check_turn(row, plies)
            self._take_slot(connection, row.person_id, row.network, row)
            values = {"wish": wish, "wished_action": action, "answer": ""} | self._acted(row)
            connection.execute(matches.update().where(matches.c.id == number).values(values))

        self._database.write(write)

    def end(self, number: int, reason: str) -> None:
        """End a match, whatever is going on in it.

        Raises:
            UsageError: if it is over already.
        """
        values = {"state": MatchState.OVER, "reason": reason, "wish": None, "answer": "", "acted_at": self.clock.text()}
        if not self.write((matches.c.id == number) & matches.c.state.not_in(ENDED), values | _LEFT):
            raise UsageError("the match is over already")

    def retry(self, number: int) -> None:
        """Continue a match that the arena could not continue.

        Raises:
            UsageError: if it has not failed, or all slots are taken.
        """

        def write(connection: Connection) -> None:
            row = _locked(connection, number)
            if row.state != MatchState.FAILED:
                raise UsageError("nothing in this match has to be tried again")
            self._take_slot(connection, row.person_id, row.network, row)
            values = {"state": MatchState.BEGINNING, "reason": "", "answer": "", "wish": None, "tries": 0}
            connection.execute(matches.update().where(matches.c.id == number).values(values | self._acted(row)))

        self._database.write(write)

    def _acted(self, row: Row[Any]) -> dict[str, Any]:
        held = {"held_seconds": self._held_seconds(row)}
        return held | {"acted_at": self.clock.text(), "slot_until": self.clock.text(IDLE_SECONDS)}

    def _held_seconds(self, row: Row[Any]) -> int:
        """Return how long a match has held slots in all."""
        if row.slot_until is None:
            return int(row.held_seconds)
        since = self.clock.between(row.acted_at, self.clock.text())
        return int(row.held_seconds + min(max(since, 0.0), IDLE_SECONDS))

    def _take_slot(self, connection: Connection, person: int | None, network: str, own: Row[Any] | None = None) -> None:
        """Make sure that there is a slot, for a new match or one that may have lost its own.

        Raises:
            UsageError: if all are taken.
        """
        _one_at_a_time(connection)
        number = own.id if own is not None else 0
        menu = select(play_menu.c.slots).where(play_menu.c.at > self.clock.text(-MENU_SECONDS))
        slots = connection.execute(menu).scalar()
        if not slots:
            raise UsageError(NOBODY_PLAYS)
        others = (matches.c.slot_until > self.clock.text()) & (matches.c.id != number)
        if person is not None:
            theirs = others & (matches.c.person_id == person)
            held = select(matches.c.id).where(theirs).order_by(matches.c.acted_at.desc(), matches.c.id.desc())
            left = connection.execute(held.offset(SLOTS_OF_A_PERSON - 1)).scalars().all()
            connection.execute(matches.update().where(matches.c.id.in_(left)).values(**_LEFT))
        may_displace = own is None or person is not None or self._held_seconds(own) < LONG_HELD_SECONDS
        visitors = others & matches.c.person_id.is_(None)

        def has_room(which: ColumnElement[bool], most: int) -> bool:
            if _count(connection, which) < most:
                return True
            return may_displace and self._displace(connection, which & visitors) and _count(connection, which) < most

        if person is None:
            most = slots_of_a_network(slots)
            if not has_room(visitors & (matches.c.network == network), most):
                raise UsageError(
                    f"visitors from one network have {counted(most, 'slot')} at most; "
                    "sign in, or try again in some minutes"
                )
            if not has_room(visitors, most := slots_of_visitors(slots)):
                raise UsageError(
                    f"all {most} of the {slots} slots that visitors may take are taken now; "
                    "sign in, or try again in some minutes"
                )
        if not has_room(others, slots):
            raise UsageError(f"all {slots} slots are taken now; try again in some minutes")

    def _displace(self, connection: Connection, which: ColumnElement[bool]) -> bool:
        """Free the slot of the match that has held slots the longest, and too long; return whether there is one.

        A match in which the arena has something to do keeps its slot until that is done.
        """
        thinking = which & (matches.c.state == MatchState.PERSON) & matches.c.wish.is_(None)
        rows = connection.execute(select(matches).where(thinking).order_by(matches.c.id)).all()
        longest = max(rows, key=self._held_seconds, default=None)
        if longest is None or (held := self._held_seconds(longest)) < LONG_HELD_SECONDS:
            return False
        left = _LEFT | {"held_seconds": held}
        connection.execute(matches.update().where(matches.c.id == longest.id).values(left))
        return True

    # by the play host

    def waiting(self) -> list[int]:
        """Return the matches that have a slot and something to be done, and at which nobody is."""
        now = self.clock.text()
        query = select(matches.c.id).where(
            matches.c.slot_until > now,
            matches.c.state.not_in(ENDED),
            or_(matches.c.wish.is_not(None), matches.c.state != MatchState.PERSON),
            or_(matches.c.claimed_until.is_(None), matches.c.claimed_until < now),
        )
        rows = self._database.read(lambda connection: connection.execute(query.order_by(matches.c.id)).scalars().all())
        return list(rows)

    def claim(self, number: int) -> MatchClaim | None:
        """Claim a match; None if another has, or if it has been tried too often: then it has failed."""
        secret, now = new_secret(), self.clock.text()
        is_free = or_(matches.c.claimed_until.is_(None), matches.c.claimed_until < now)
        here = (matches.c.id == number) & matches.c.state.not_in(ENDED) & is_free
        failed = {"state": MatchState.FAILED, "reason": OUR_FAILURE, "wish": None} | _LEFT
        values = {"claim": secret, "claimed_until": self.clock.text(CLAIM_SECONDS), "tries": matches.c.tries + 1}

        def claim(connection: Connection) -> MatchClaim | None:
            connection.execute(matches.update().where(here, matches.c.tries >= MAX_TRIES).values(failed))
            taken = connection.execute(matches.update().where(here).values(values).returning(matches.c.id)).scalar()
            return MatchClaim(self, number, secret) if taken is not None else None

        return self._database.write(claim)

    def prune(self) -> None:
        """Delete the matches in which nobody has done anything for long, and of too many those left the longest."""
        old = matches.c.acted_at < self.clock.text(-KEPT_DAYS * DAY_SECONDS)
        latest = select(matches.c.id).order_by(matches.c.acted_at.desc(), matches.c.id.desc()).limit(MAX_KEPT)

        def prune(connection: Connection) -> None:
            connection.execute(delete(matches).where(old | matches.c.id.not_in(latest)))

        self._database.write(prune)

    # rows

    def one(self, which: ColumnElement[bool]) -> UnratedMatch | None:
        """Return a match; None without one."""
        row = self._database.read(lambda connection: connection.execute(select(matches).where(which)).one_or_none())
        return self._match_of(row) if row is not None else None

    def write(self, which: ColumnElement[bool], values: dict[str, Any]) -> bool:
        """Change a match; return whether there was one."""
        statement = matches.update().where(which).values(values).returning(matches.c.id)
        return self._database.write(lambda connection: connection.execute(statement).scalar()) is not None

    def _get(self, connection: Connection, which: ColumnElement[bool]) -> UnratedMatch:
        return self._match_of(connection.execute(select(matches).where(which)).one())

    def _match_of(self, row: Row[Any]) -> UnratedMatch:
        return UnratedMatch(
            number=row.id,
            secret=row.secret,
            person=row.person_id,
            choices=Choices(
                game=row.game,
                options=row.options,
                seat=row.seat,
                bot=row.bot,
                per_action_milliseconds=row.per_action_milliseconds,
            ),
            position=Position(state=row.state, actions=row.actions, plies=row.plies, view=row.view, reason=row.reason),
            bot_digest=row.bot_digest,
            wish=Wish(row.wish) if row.wish is not None else None,
            wished_action=row.wished_action,
            answer=row.answer,
            begun_at=row.begun_at,
            acted_at=row.acted_at,
            has_slot=row.slot_until is not None and row.slot_until > self.clock.text(),
        )


_LEFT = {"slot_until": None, "claim": None, "claimed_until": None}
"""A match without a slot, at which nobody is."""


def slots_of_visitors(slots: int) -> int:
    """Return how many visitors may play: half of the slots, and at least one, are kept for who has signed in."""
    return slots // 2


def slots_of_a_network(slots: int) -> int:
    """Return how many visitors may play from one network: one slot of visitors is left to others."""
    return max(1, slots_of_visitors(slots) - 1)


def _values(position: Position) -> dict[str, Any]:
    return {
        "state": position.state,
        "actions": position.actions,
        "plies": position.plies,
        "view": position.view,
        "reason": position.reason,
    }


def _check_turn(row: Row[Any], plies: int) -> None:
    """Raise UsageError unless the person may say what to do next, and has seen the match as it is."""
    if row.state in ENDED:
        raise UsageError("the match is over")
    if row.plies != plies:
        raise UsageError(
            f"the match has got further meanwhile: {row.plies} actions are played, and this was sent after {plies}"
        )
    if row.wish is not None:
        raise UsageError("what you did before is still being looked at; wait a moment")
    if row.state != MatchState.PERSON:
        raise UsageError("the bot is to act; wait for it")


def _count(connection: Connection, which: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(matches).where(which)).scalar() or 0


def _locked(connection: Connection, number: int) -> Row[Any]:
    """Return a match that nobody else changes meanwhile; slots first, as everywhere, so that no two wait in a ring."""
    _one_at_a_time(connection)
    return connection.execute(select(matches).where(matches.c.id == number).with_for_update()).one()


def _one_at_a_time(connection: Connection) -> None:
    """Let one transaction at a time take a slot, so that no two take the last one; in any database."""
    connection.execute(meta.update().where(meta.c.key == "schema_version").values(key="schema_version"))
