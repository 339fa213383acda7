"""Contests from their rows, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, select

from arena.base.errors import UnknownNameError
from arena.base.stored import from_json_text, from_stored
from arena.store.people.contest import Contest, ContestEntry, StoredContest
from arena.store.people.contest_schema import contests


def locked_contest(connection: Connection, name: str) -> StoredContest:
    """Return a contest that nobody else changes before this transaction ends.

    Raises:
        UnknownNameError: if no contest has that name.
    """
    connection.execute(contests.update().where(contests.c.name == name).values(name=name))
    return find_contest(connection, name)


def find_contest(connection: Connection, name: str) -> StoredContest:
    """Return a contest.

    Raises:
        UnknownNameError: if no contest has that name.
    """
    row = connection.execute(select(contests).where(contests.c.name == name)).one_or_none()
    if row is None:
        known = connection.execute(select(contests.c.name).order_by(contests.c.name)).scalars()
        raise UnknownNameError("contest", name, known)
    return contest_of(row)


def all_contests(connection: Connection) -> list[StoredContest]:
    """Return all contests, the latest first."""
    return [contest_of(row) for row in connection.execute(select(contests).order_by(contests.c.id.desc()))]


def stored_form(contest: Contest) -> str:
    """Return the text in which a contest is stored."""
    return json.dumps(asdict(contest), ensure_ascii=False)


def contest_of(row: Row[Any]) -> StoredContest:
    """Return the contest of a row."""
    where = f"the stored contest {row.name!r}"
    return StoredContest(
        number=row.id,
        contest=from_stored(Contest, from_json_text(row.contest, where), where),
        rng_seed=row.rng_seed,
        created_by=row.created_by,
        created_at=row.created_at,
        freeze_at=row.freeze_at,
        closed_at=row.closed_at,
        stage=row.stage,
        stage_note=row.stage_note,
        played_at=row.played_at,
        reveal_asked_at=row.reveal_asked_at,
        revealed_at=row.revealed_at,
        cancelled_at=row.cancelled_at,
        cancel_reason=row.cancel_reason,
    )


def entry_of(row: Row[Any]) -> ContestEntry:
    """Return the entry of a row of a submission and its author."""
    return ContestEntry(
        author=row.name, person=row.person_id, bot=row.bot, submission=row.id, handed_in_at=row.created_at
    )
