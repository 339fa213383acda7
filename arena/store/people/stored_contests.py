"""Contests in the database: tables, rows, what others must not have too, and whose bots are suspended."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Column, Connection, ForeignKey, Row, Select, Table, select

from arena.base.errors import Mistake, UnknownNameError
from arena.base.stored import from_stored_text
from arena.store.people.contest import (
    Contest,
    ContestEntrants,
    ContestEntry,
    ContestReading,
    ContestResults,
    ContestStage,
    StoredContest,
)
from arena.store.people.schema import bot_owners, metadata, numbered, people, submissions
from arena.store.people.values import UNFINISHED, SubmissionState, look_alike_key
from arena.store.results.schema import BigInteger, Member, OptionalString, String, Text, value_of

contests = numbered(
    "contests",
    Column("name", String(64), nullable=False, unique=True),
    Column("contest", Text, nullable=False),
    Column("rng_seed", BigInteger, nullable=False),
    Column("created_by", String(64), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("freeze_at", OptionalString(40)),
    Column("closed_at", OptionalString(40)),
    Column("stage", Member(ContestStage, "stage", 16), nullable=False),
    Column("stage_note", Text, nullable=False),
    Column("played_at", OptionalString(40)),
    Column("reveal_asked_at", OptionalString(40)),
    Column("revealed_at", OptionalString(40)),
    Column("cancelled_at", OptionalString(40)),
    Column("cancel_reason", Text, nullable=False),
)

contest_entries = Table(
    "contest_entries",
    metadata,
    Column("contest_id", ForeignKey("contests.id"), primary_key=True),
    Column("bot", String(140), primary_key=True),
    Column("submission_id", ForeignKey("submissions.id"), nullable=False),
)


def locked_contest(connection: Connection, name: str) -> StoredContest:
    """Return a contest that nobody else changes before this transaction ends, or raise UnknownNameError."""
    connection.execute(contests.update().where(contests.c.name == name).values(name=name))
    return find_contest(connection, name)


def find_contest(connection: Connection, name: str) -> StoredContest:
    """Return a contest, or raise UnknownNameError."""
    row = connection.execute(select(contests).where(contests.c.name == name)).one_or_none()
    if row is None:
        names = connection.execute(select(contests.c.name).order_by(contests.c.name)).scalars()
        raise UnknownNameError("contest", name, names)
    return contest_of(row)


def all_contests(connection: Connection) -> list[StoredContest]:
    """Return all contests, the latest first."""
    return [contest_of(row) for row in connection.execute(select(contests).order_by(contests.c.id.desc()))]


def stored_form(contest: Contest) -> str:
    """Return the text in which a contest is stored."""
    return json.dumps(asdict(contest), ensure_ascii=False)


def contest_of(row: Row[Any]) -> StoredContest:
    """Return the contest of a row."""
    contest = from_stored_text(Contest, row.contest, f"the stored contest {row.name!r}")
    return value_of(StoredContest, row, contest=contest)


def entry_of(row: Row[Any]) -> ContestEntry:
    """Return the entry of a row of a submission and its author."""
    return ContestEntry(
        author=row.name, person=row.person_id, bot=row.bot, submission=row.id, submitted_at=row.created_at
    )


@dataclass(frozen=True, slots=True)
class ContestRows:
    """All contests, the latest first, the bots of each by its number, and the submissions in check."""

    contests: tuple[StoredContest, ...]
    entries: dict[int, tuple[str, ...]]
    unfinished: tuple[int, ...]


def contest_rows(connection: Connection) -> ContestRows:
    """Return everything as it is now."""
    waiting = select(submissions.c.id).where(submissions.c.state.in_(UNFINISHED)).order_by(submissions.c.id)
    unfinished = tuple(connection.execute(waiting).scalars())
    return ContestRows(tuple(all_contests(connection)), _entered(connection), unfinished)


def _entered(connection: Connection) -> dict[int, tuple[str, ...]]:
    """Return the bots that have entered each contest, in the order of their submissions."""
    entries: dict[int, tuple[str, ...]] = {}
    order = contest_entries.c.contest_id, contest_entries.c.submission_id
    for row in connection.execute(select(contest_entries.c.contest_id, contest_entries.c.bot).order_by(*order)):
        entries[row.contest_id] = (*entries.get(row.contest_id, ()), row.bot)
    return entries


MAX_LISTED = 20
"""Of those who are invited without an account."""


def tournament_mistakes(new: ContestReading, others: Iterable[StoredContest]) -> Iterator[Mistake]:
    """Yield the tournaments of a contest that another one has; ``others`` are all contests but this one."""
    if not new.has_right("name"):
        return
    for other in others:
        for name in new.contest.tournaments:
            if name in other.contest.tournaments:
                yield Mistake("name", f"the contest {other.name!r} has a tournament {name!r} already")


def invitation_mistakes(
    connection: Connection, new: ContestReading, invited_before: Collection[str] = ()
) -> Iterator[Mistake]:
    """Yield who is invited without an account; those ``invited_before``, whose account was erased, stay invited."""
    names = {name.lower() for name in connection.execute(select(people.c.name)).scalars()}
    names |= {name.lower() for name in invited_before}
    invited = new.contest.invited if new.has_right("invited") else ()
    missing = [name for name in invited if name.lower() not in names]
    for name in missing[:MAX_LISTED]:
        yield Mistake("invited", "nobody has an account of this name", repr(name))
    if len(missing) > MAX_LISTED:
        yield Mistake("invited", f"{len(missing) - MAX_LISTED} more have no account")


# Which bots play nowhere in public while results of a contest are hidden: their other matches would reveal them.

_BEING_LISTED = (SubmissionState.ACCEPTED, *UNFINISHED)
"""A bot may begin to play a moment before its submission is marked as accepted; its name is known before that."""


@dataclass(frozen=True, slots=True)
class ContestSuspension:
    """The suspension of the bots that can enter a contest.

    Attributes:
        since: its first second.
        names: of every bot that its author could enter, whatever games it plays; all versions are suspended, since an
            earlier one reveals as much.
    """

    contest: StoredContest
    since: str
    names: frozenset[str]

    def holds(self, name: str, games: Collection[str], now: str) -> bool:
        """Return whether a bot of this name, which plays these games (none for all), is suspended at a stored time."""
        plays = not games or self.contest.contest.game in games
        return self.since <= now and plays and name in self.names


def suspension_begins_at(stored: StoredContest) -> str | None:
    """Return from when on the bots of a contest are suspended; None if they never are, or not any more.

    A cancelled contest has no result to give away: its bots play again.
    """
    contest = stored.contest
    if contest.ladders or stored.revealed_at is not None or stored.cancelled_at is not None:
        return None
    return contest.opens_at if contest.results is ContestResults.SEALED else stored.freeze_at


def suspension_of(
    suspensions: Iterable[ContestSuspension], label: str, games: Collection[str], now: str
) -> ContestSuspension | None:
    """Return the rest that ends last of a bot (``name@version``, or its name); None if it plays.

    It plays ``games``, none for all; ``now`` is a stored time.
    """
    name = label.rpartition("@")[0] or label
    current = [entry for entry in suspensions if entry.holds(name, games, now)]
    return max(current, key=lambda entry: (entry.contest.contest.reveal_at or "~", entry.contest.number), default=None)


def suspension_sentence(suspension: ContestSuspension, now: str) -> str:
    """Return until when a bot is suspended, to follow its name in a sentence."""
    stored = suspension.contest
    contest = stored.contest
    if contest.reveal_at is None:
        until = "a director reveals them"
    elif contest.reveal_at <= now:
        until = "everything is played"
    else:
        until = f"{contest.local(contest.reveal_at):%Y-%m-%d %H:%M} ({contest.time_zone})"
    return f"is suspended while the contest {contest.name} hides its results, until {until}"


def all_suspensions(connection: Connection) -> list[ContestSuspension]:
    """Return the suspensions of all contests, even those that have not begun."""
    beginnings = [
        (stored, since) for stored in all_contests(connection) if (since := suspension_begins_at(stored)) is not None
    ]
    if not beginnings:
        return []
    submitted, entered = _submitted(connection), _entered(connection)
    suspensions = []
    for stored, since in beginnings:
        labels = (*entered.get(stored.number, ()), *_labels(stored.contest, submitted))
        suspensions.append(ContestSuspension(stored, since, frozenset(label.rpartition("@")[0] for label in labels)))
    return suspensions


def _labels(contest: Contest, submitted: list[Row[Any]]) -> Iterator[str]:
    """Yield the bots that can enter; also of authors whose account is closed, for it can be opened."""
    invited = {name.lower() for name in contest.invited}
    for row in submitted:
        may_enter = contest.entrants is ContestEntrants.EVERYBODY or row.name.lower() in invited
        if may_enter and row.created_at <= contest.deadline_at:
            yield row.bot


def _submitted(connection: Connection) -> list[Row[Any]]:
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
