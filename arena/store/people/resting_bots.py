"""Whose bots rest while results of a contest are hidden, as it follows from what was handed in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from arena.people.contest import Contest, ContestEntrants
from arena.people.person_name import look_alike_key
from arena.people.resting import Rest, rest_begins_at
from arena.people.submission import UNFINISHED, SubmissionState
from arena.store.people.contest_schema import contest_entries
from arena.store.people.schema import bot_owners, people, submissions
from arena.store.people.stored_contests import all_contests

_BEING_LISTED = (SubmissionState.ACCEPTED, *UNFINISHED)
"""A bot may play a moment before its submission says that it is accepted; its name is known before that."""


def all_rests(connection: Connection) -> list[Rest]:
    """Return the rests of all contests, those included that have not begun."""
    found = [(stored, since) for stored in all_contests(connection) if (since := rest_begins_at(stored)) is not None]
    if not found:
        return []
    handed_in, entered = _handed_in(connection), _entered(connection)
    return [
        Rest(stored, since, frozenset(_names(stored.contest, handed_in)) | entered.get(stored.number, frozenset()))
        for stored, since in found
    ]


def _names(contest: Contest, handed_in: list[Row[Any]]) -> Iterator[str]:
    """Yield the names of the bots that can enter; also of authors whose account is closed, for it can be opened."""
    invited = {name.lower() for name in contest.invited}
    for row in handed_in:
        may_enter = contest.entrants is ContestEntrants.EVERYBODY or row.name.lower() in invited
        if may_enter and row.created_at <= contest.deadline_at:
            yield row.bot.rpartition("@")[0]


def _handed_in(connection: Connection) -> list[Row[Any]]:
    """Return the author, the label and the time of each submission whose bot may play, and belongs to its author."""
    owners = {row.look_alike_key: row.person_id for row in connection.execute(select(bot_owners))}
    query: Select[Any] = (
        select(people.c.name, submissions.c.bot, submissions.c.created_at, submissions.c.person_id)
        .join(people, submissions.c.person_id == people.c.id)
        .where(submissions.c.state.in_(_BEING_LISTED), submissions.c.bot.is_not(None))
    )

    def is_theirs(row: Row[Any]) -> bool:
        return bool(owners.get(look_alike_key(row.bot.rpartition("@")[0]), row.person_id) == row.person_id)

    return [row for row in connection.execute(query) if is_theirs(row)]


def _entered(connection: Connection) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for row in connection.execute(select(contest_entries.c.contest_id, contest_entries.c.bot)):
        found[row.contest_id] = found.get(row.contest_id, frozenset()) | {row.bot.rpartition("@")[0]}
    return found
