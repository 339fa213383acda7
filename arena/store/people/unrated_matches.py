"""Matches that people play in the browser, and the slots at the play host.

The row has everything about a match, so that no killed process loses one. A person writes a request, what
they want to do next; a program of the play host claims the match, carries the request out, and writes the answer. Only
the holder of the claim writes.
A match has a slot until its end, or until the person has been idle for a while; coming back takes a slot again.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, case, delete, or_, select, true

from arena.base.errors import UsageError
from arena.store.people.answers import forget_networks
from arena.store.people.schema import TimedRepository
from arena.store.people.secret import new_secret
from arena.store.people.unrated_match import (
    CLAIM_SECONDS,
    ENDED,
    IDLE_SECONDS,
    LEFT,
    MENU_SECONDS,
    Choices,
    MatchClaim,
    MatchState,
    PlayRequest,
    PlaySlots,
    Position,
    Shown,
    UnratedMatch,
    UnratedRows,
    matches,
    one_at_a_time,
    play_menu,
)
from arena.store.people.values import DAY_SECONDS, Clock
from arena.store.results.connection import Database
from arena.store.results.schema import writes

MAX_TRIES = 5
"""Programs of the play host that may end, one after the other, without having got any further."""
KEPT_DAYS = 30
MAX_KEPT = 2000
LISTED = 20
FINISHING_SECONDS = 60.0
"""The slot, at least, of a match in which the arena still has something to do: what it owes, or the person could never
act again.
"""
OUR_FAILURE = "The arena could not continue this match. That is no fault of yours, or of the bot."


class UnratedMatches(TimedRepository):
    """The matches in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._rows, self._slots = UnratedRows(database, clock), PlaySlots(clock)

    # the menu

    @writes
    def set_menu(self, connection: Connection, body: str, slots: int) -> None:
        """Write what can be chosen, and how many may play at once."""
        row = {"id": 1, "body": body, "slots": slots, "at": self._clock.text()}
        connection.execute(delete(play_menu))
        connection.execute(play_menu.insert(), row)

    def keep_menu(self) -> None:
        """Note that the menu is still valid."""
        self._database.execute(play_menu.update().values(at=self._clock.text()))

    def menu(self) -> str | None:
        """Return what can be chosen; None if no play host is at work."""
        query = select(play_menu.c.body).where(play_menu.c.at > self._clock.text(-MENU_SECONDS))
        return self._database.scalar(query)

    # by people

    @writes
    def begin(
        self, connection: Connection, choices: Choices, person: int | None, network: str, actions: str = "[]"
    ) -> UnratedMatch:
        """Begin a match, after ``actions`` in the form of a position; UsageError if all slots are taken."""
        secret, now = new_secret(), self._clock.text()
        row = {
            "secret": secret,
            "person_id": person,
            "network": network,
            **asdict(choices),
            "bot_digest": "",
            **asdict(Position(state=MatchState.BEGINNING, actions=actions, plies=len(json.loads(actions)), view="")),
            "wished_action": "",
            "answer": "",
            "begun_at": now,
            "acted_at": now,
            "slot_until": self._clock.text(IDLE_SECONDS),
            "held_seconds": 0,
            "tries": 0,
        }
        self._slots.take(connection, person, network)
        connection.execute(matches.insert(), row)
        return self._rows.match_of(connection.execute(select(matches).where(matches.c.secret == secret)).one())

    def find(self, secret: str) -> UnratedMatch | None:
        """Return the match with an address; None without one."""
        return self._rows.one(matches.c.secret == secret)

    def of_person(self, person: int, *, challenges: bool | None = None) -> list[UnratedMatch]:
        """Return the latest matches of a person, the latest first; only ``challenges``, or none of them."""
        condition = matches.c.person_id == person
        if challenges is not None:
            condition &= matches.c.challenger != "" if challenges else matches.c.challenger == ""
        query = select(matches).where(condition).order_by(matches.c.acted_at.desc(), matches.c.id)
        return [self._rows.match_of(row) for row in self._database.rows(query.limit(LISTED))]

    def shown(self, numbers: Collection[int]) -> dict[int, Shown]:
        """Return what pages follow of some matches, by number; those that are there."""
        columns = (matches.c.state, matches.c.plies, matches.c.wish, matches.c.answer, matches.c.reason)
        query = select(matches.c.id, *columns).where(matches.c.id.in_(numbers))
        return {number: Shown(*values) for number, *values in self._database.rows(query)}

    @writes
    def request(self, connection: Connection, number: int, request: PlayRequest, plies: int, action: str = "") -> None:
        """Note what the person, who has seen this many plies, wants to do next; ``action`` is the text of an action."""
        row = _locked_row(connection, number)
        _check_turn(row, plies)
        self._slots.take(connection, row.person_id, row.network, row)
        values = {"wish": request, "wished_action": action, "answer": ""} | self._activity(row)
        connection.execute(matches.update().where(matches.c.id == number).values(values))

    def end(self, number: int, reason: str) -> None:
        """End a match at any time; UsageError if it is over already."""
        ended = {"state": MatchState.OVER, "reason": reason, "wish": None, "answer": ""} | LEFT
        values = ended | {"acted_at": self._clock.text()}
        if not self._rows.write((matches.c.id == number) & matches.c.state.not_in(ENDED), values):
            raise UsageError("the match is over already")

    @writes
    def retry(self, connection: Connection, number: int) -> None:
        """Continue a match that the arena could not continue; UsageError if it has not failed, or no slot is free."""
        row = _locked_row(connection, number)
        if row.state != MatchState.FAILED:
            raise UsageError("nothing in this match has failed, so there is nothing to try again")
        self._slots.take(connection, row.person_id, row.network, row)
        values = {"state": MatchState.BEGINNING, "reason": "", "answer": "", "wish": None, "tries": 0}
        connection.execute(matches.update().where(matches.c.id == number).values(values | self._activity(row)))

    def _activity(self, row: Row[Any]) -> dict[str, Any]:
        held = {"held_seconds": self._slots.held_seconds(row)}
        return held | {"acted_at": self._clock.text(), "slot_until": self._clock.text(IDLE_SECONDS)}

    # by the play host

    def waiting(self) -> list[int]:
        """Return the matches in which something is to be done and nobody is at it, those with a slot first."""
        now = self._clock.text()
        query = select(matches.c.id).where(
            matches.c.state.not_in(ENDED),
            or_(matches.c.wish.is_not(None), matches.c.state != MatchState.PERSON),
            or_(matches.c.claimed_until.is_(None), matches.c.claimed_until < now),
        )
        has_slot = case((matches.c.slot_until > now, 0), else_=1)
        return self._database.scalars(query.order_by(has_slot, matches.c.id))

    @writes
    def claim(self, connection: Connection, number: int) -> MatchClaim | None:
        """Claim a match; None if another has, or if it has been tried too often: then it has failed."""
        secret, now = new_secret(), self._clock.text()
        is_free = or_(matches.c.claimed_until.is_(None), matches.c.claimed_until < now)
        is_claimable = (matches.c.id == number) & matches.c.state.not_in(ENDED) & is_free
        failed = {"state": MatchState.FAILED, "reason": OUR_FAILURE, "wish": None} | LEFT
        finishing = self._clock.text(FINISHING_SECONDS)
        values = {
            "claim": secret,
            "claimed_until": self._clock.text(CLAIM_SECONDS),
            "tries": matches.c.tries + 1,
            "slot_until": case((matches.c.slot_until > finishing, matches.c.slot_until), else_=finishing),
        }
        connection.execute(matches.update().where(is_claimable, matches.c.tries >= MAX_TRIES).values(failed))
        is_claimed = connection.execute(matches.update().where(is_claimable).values(values)).rowcount
        return MatchClaim(self._rows, self._clock, number, secret) if is_claimed else None

    def release_left(self, number: int | None = None) -> None:
        """Release the claim that a killed program has left on a match; None for all matches, where none is played."""
        is_meant = matches.c.id == number if number is not None else true()
        change = matches.update().where(matches.c.claim.is_not(None), is_meant).values(claim=None, claimed_until=None)
        self._database.execute(change)

    @writes
    def prune(self, connection: Connection) -> None:
        """Delete the matches in which nobody has done anything for long, and of too many those left the longest."""
        kept_from = self._clock.text(-KEPT_DAYS * DAY_SECONDS)
        latest = select(matches.c.id).order_by(matches.c.acted_at.desc(), matches.c.id.desc()).limit(MAX_KEPT)
        connection.execute(delete(matches).where((matches.c.acted_at < kept_from) | matches.c.id.not_in(latest)))
        forget_networks(connection, kept_from)


def _check_turn(row: Row[Any], plies: int) -> None:
    """Raise UsageError unless it is the person's turn, and they have seen the match as it is."""
    if row.state in ENDED:
        raise UsageError("the match is over")
    if row.plies != plies:
        raise UsageError(
            f"the match has gone on: it has {row.plies} actions now, yours came after {plies}; reload the page"
        )
    if row.wish is not None:
        raise UsageError("the arena has not handled your last input yet; wait a moment")
    if row.state != MatchState.PERSON:
        raise UsageError("the bot is to act; wait for it")


def _locked_row(connection: Connection, number: int) -> Row[Any]:
    """Lock a match. The slots are locked first, as everywhere, so that two transactions never wait for each other."""
    one_at_a_time(connection)
    return connection.execute(select(matches).where(matches.c.id == number).with_for_update()).one()
