"""Submissions: what authors submitted, and how much of it waits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from arena.base.errors import UsageError
from arena.store.people.accounts import lock_open_person
from arena.store.people.rates import Rate, take
from arena.store.people.schema import SUBMITTING, count_rows, meta, people, submissions
from arena.store.people.secret import new_secret
from arena.store.people.submission_rows import (
    CLAIM_SECONDS,
    BotNames,
    Claim,
    all_submissions,
    checking_order,
    get_submission,
    is_claimable,
    last_turn,
    listed_submissions,
    submission_of,
)
from arena.store.people.values import (
    FINAL,
    UNFINISHED,
    ClaimedSubmission,
    ListedSubmission,
    Person,
    Submission,
    SubmissionState,
    has_left,
)
from arena.store.results.schema import OptionalString, total_of, value_of, writes

MAX_WAITING = 3
"""Of a person, at once."""
PER_PERSON = Rate(30, 3600.0)
MAX_NOTE_CHARACTERS = 2000
MAX_FILE_NAME_CHARACTERS = 200
LISTED = 100
FAILED_SECONDS = 3600.0
"""For so long, at least, the site is not well after the arena could not check a submission."""

DECIDED = (SubmissionState.ACCEPTED, SubmissionState.REJECTED)

_AGAIN = (SubmissionState.FAILED, SubmissionState.WITHDRAWN)
"""After which the same bytes are another submission."""


class Queue(NamedTuple):
    """How many submissions there are in each state, and how long the oldest undecided one has waited."""

    counts: Mapping[SubmissionState, int]
    oldest_seconds: float


class FailedChecks(NamedTuple):
    """The submissions that the arena could not check, by number.

    Attributes:
        failed: lately, or since the last one that was decided.
        unfinished: a check of them ended without a result, and they are checked again.
    """

    failed: tuple[int, ...]
    unfinished: tuple[int, ...]


class Submissions(BotNames):
    """The submissions in a database."""

    @writes
    def add(
        self,
        connection: Connection,
        person: Person,
        upload: str,
        digest: str,
        size_bytes: int,
        file_name: str,
        note: str,
    ) -> Submission:
        """Add a submission; the same bytes again are the earlier submission, unless it failed or was withdrawn.

        ``upload`` is the name of the stored file, ``digest`` the SHA-256 of its bytes, and ``note`` is for the author
        alone.
        """
        if len(note) > MAX_NOTE_CHARACTERS:
            raise UsageError(f"the note has {len(note)} characters; expected at most {MAX_NOTE_CHARACTERS}")
        same_bytes = {"person_id": person.number, "digest": digest, "file_name": file_name[:MAX_FILE_NAME_CHARACTERS]}
        same = select(submissions.c.id).filter_by(**same_bytes).where(submissions.c.state.not_in(_AGAIN))
        lock_open_person(connection, person.number)
        earlier = connection.execute(same.order_by(submissions.c.id.desc())).scalar()
        if earlier is not None:
            return get_submission(connection, earlier)
        self._take_place(connection, person)
        share_submitting(connection)
        sent = {**same_bytes, "upload": upload, "size_bytes": size_bytes, "note": note}
        new = {"state": SubmissionState.WAITING, "reason": "", "report": "", "tries": 0}
        row = sent | new | {"created_at": self._clock.text()}
        result = connection.execute(submissions.insert().returning(submissions.c.id), row)
        return get_submission(connection, result.scalar_one())

    @writes
    def check_again(self, connection: Connection, person: Person, number: int) -> Submission:
        """Let a rejected submission of a person wait again; UsageError if it is not rejected, or too much waits."""
        mine = (submissions.c.id == number) & (submissions.c.person_id == person.number)
        values = {"state": SubmissionState.WAITING, "tries": 0, "finished_at": None, "reason": "", "report": ""}
        lock_open_person(connection, person.number)
        self._take_place(connection, person)
        share_submitting(connection)
        change = submissions.update().where(mine, submissions.c.state == SubmissionState.REJECTED)
        if connection.execute(change.values(values)).rowcount != 1:
            raise UsageError(f"submission {number}: it is not rejected, or not yours")
        return get_submission(connection, number)

    def _take_place(self, connection: Connection, person: Person) -> None:
        """Count one more that waits; raise UsageError if too many do, or came within an hour."""
        mine = submissions.c.person_id == person.number
        if count_rows(connection, mine, submissions.c.state.in_(UNFINISHED)) >= MAX_WAITING:
            raise UsageError(f"{MAX_WAITING} submissions of yours wait already; submit the next when one is checked")
        wait = take(connection, self._clock, f"submissions of {person.number}", PER_PERSON)
        if wait:
            raise UsageError(f"you have submitted {PER_PERSON.times} bots within an hour; try again in {wait:.0f} s")

    def find(self, number: int) -> Submission | None:
        """Return a submission; None if it does not exist."""
        return self._database.one(all_submissions().where(submissions.c.id == number), submission_of)

    def find_own(self, person: Person, number: int) -> Submission | None:
        """Return a submission of a person; None for one of others, which takes as long as for one that is not there."""
        own = (submissions.c.id == number) & (submissions.c.person_id == person.number)
        return self._database.one(all_submissions().where(own), submission_of)

    def find_listed(self, number: int) -> ListedSubmission | None:
        """Return what lists show of a submission; None if it does not exist."""
        query = listed_submissions().where(submissions.c.id == number)
        return self._database.one(query, partial(value_of, ListedSubmission))

    def has_upload(self, name: str) -> bool:
        """Return whether a file belongs to a submission."""
        query = select(submissions.c.id).where(submissions.c.upload == name)
        return self._database.scalar(query) is not None

    def uploads_beyond(self, person: Person, max_bytes: int) -> list[str]:
        """Return the files of a person's older submissions, which are decided, where the newer ones fill the bytes."""
        query = (
            select(submissions.c.upload, submissions.c.size_bytes, submissions.c.state)
            .where(submissions.c.person_id == person.number)
            .order_by(submissions.c.id.desc())
        )
        left_bytes, beyond = max_bytes, []
        for row in self._database.rows(query):
            left_bytes -= row.size_bytes
            if left_bytes < 0 and row.state in FINAL:
                beyond.append(row.upload)
        return beyond

    def of(self, person: Person, before: int | None = None) -> list[Submission]:
        """Return the latest submissions of a person, the latest first, before a number if there is one."""
        mine = submissions.c.person_id == person.number
        condition = mine if before is None else mine & (submissions.c.id < before)
        query = all_submissions().where(condition).order_by(submissions.c.id.desc()).limit(LISTED)
        return [submission_of(row) for row in self._database.rows(query)]

    def owners(self) -> dict[str, str]:
        """Return whose the bots are that were accepted, by ``name@version``; "" for somebody who has left."""
        query = select(submissions.c.bot, people.c.name)
        query = query.join(people, submissions.c.person_id == people.c.id).order_by(submissions.c.id)
        query = query.where(submissions.c.state == SubmissionState.ACCEPTED, submissions.c.bot.is_not(None))
        return {row.bot: "" if has_left(row.name) else row.name for row in self._database.rows(query)}

    def latest(self) -> list[ListedSubmission]:
        """Return the latest submissions of everybody."""
        query = listed_submissions().order_by(submissions.c.id.desc()).limit(LISTED)
        return [value_of(ListedSubmission, row) for row in self._database.rows(query)]

    def unfinished(self) -> list[ListedSubmission]:
        """Return what is being checked and the beginning of the queue, in the order of the checks."""
        order = checking_order()
        query = listed_submissions().join(order, submissions.c.id == order.c.id)
        query = query.order_by(order.c.position).limit(LISTED)
        return [value_of(ListedSubmission, row) for row in self._database.rows(query)]

    def ahead_of(self, number: int) -> int | None:
        """Return how many submissions are checked before one; None if it is decided."""
        order = checking_order()
        query = select(order.c.position).where(order.c.id == number)
        position = self._database.scalar(query)
        return position - 1 if position is not None else None

    def queue(self) -> Queue:
        """Return how many submissions there are in each state, and how long the oldest has waited."""
        counts = select(submissions.c.state, func.count()).group_by(submissions.c.state)
        waits = submissions.c.state.in_(UNFINISHED)
        oldest = select(submissions.c.created_at).where(waits).order_by(submissions.c.id)

        def read(connection: Connection) -> Queue:
            by_state = {row.state: row[1] for row in connection.execute(counts)}
            since = connection.execute(oldest.limit(1)).scalar()
            now = self._clock.text()
            return Queue(by_state, self._clock.between(since, now) if since is not None else 0.0)

        return self._database.read(read)

    def failed_checks(self) -> FailedChecks:
        """Return the submissions that the arena could not check, each list in the order in which they came."""
        state, at = submissions.c.state, submissions.c.finished_at
        decided = select(func.max(at, type_=OptionalString)).where(state.in_(DECIDED)).scalar_subquery()
        is_late = (at > self._clock.text(-FAILED_SECONDS)) | (at > func.coalesce(decided, ""))
        failed = select(submissions.c.id).where(state == SubmissionState.FAILED, is_late).order_by(submissions.c.id)
        again = (
            select(submissions.c.id).where(state.in_(UNFINISHED), submissions.c.tries > 1).order_by(submissions.c.id)
        )

        def read(connection: Connection) -> FailedChecks:
            return FailedChecks(*(tuple(connection.execute(query).scalars()) for query in (failed, again)))

        return self._database.read(read)

    def seconds_since(self, at: str) -> float:
        """Return how many seconds ago a stored time was."""
        return self._clock.between(at, self._clock.text())

    def seconds_to_check(self) -> list[float]:
        """Return how long the latest checks took, without the time before they began."""
        query = (
            select(submissions.c.claimed_at, submissions.c.finished_at)
            .where(submissions.c.state.in_(DECIDED))
            .where(submissions.c.claimed_at.is_not(None))
            .order_by(submissions.c.id.desc())
            .limit(LISTED)
        )
        return [self._clock.between(row.claimed_at, row.finished_at) for row in self._database.rows(query)]

    def copy_bytes(self, person: int) -> int:
        """Return how large the copies of a person's accepted bots are together."""
        query = select(total_of(submissions.c.copy_bytes)).where(submissions.c.person_id == person)
        return self._database.number(query)

    @writes
    def withdraw(self, connection: Connection, person: Person, number: int) -> Submission:
        """Withdraw a person's submission; UsageError if it is not theirs, or decided."""
        mine = (submissions.c.id == number) & (submissions.c.person_id == person.number)
        change = submissions.update().where(mine, submissions.c.state.in_(UNFINISHED))
        values = {"state": SubmissionState.WITHDRAWN, "claim": None, "finished_at": self._clock.text()}
        if connection.execute(change.values(values)).rowcount != 1:
            raise UsageError(f"submission {number}: it is decided already, or not yours")
        return get_submission(connection, number)

    def claimable(self) -> list[int]:
        """Return the submissions that wait for a checker."""
        query = select(submissions.c.id).where(is_claimable(self._clock)).order_by(submissions.c.id)
        return self._database.scalars(query)

    @writes
    def claim(self, connection: Connection, is_alone: bool = False) -> Claim | None:
        """Take the oldest submission of the author whose last turn is longest ago; None if nothing waits."""
        waiting = select(submissions).where(is_claimable(self._clock, is_alone))
        oldest = waiting.order_by(last_turn(), submissions.c.id).limit(1)
        if self._database.is_server:
            oldest = oldest.with_for_update(skip_locked=True)
        row = connection.execute(oldest).one_or_none()
        if row is None:
            return None
        secret = new_secret()
        values = {
            "state": SubmissionState.CHECKING,
            "tries": row.tries + 1,
            "turn": connection.execute(select(func.coalesce(func.max(submissions.c.turn), 0))).scalar_one() + 1,
            "claimed_at": self._clock.text(),
            "claim": secret,
            "claimed_until": self._clock.text(CLAIM_SECONDS),
            "report": "",
        }
        connection.execute(submissions.update().where(submissions.c.id == row.id).values(values))
        author = connection.execute(select(people.c.name).where(people.c.id == row.person_id)).scalar_one()
        further = {"person": row.person_id, "author": author, "tries": row.tries + 1}
        return Claim(self._database, self._clock, value_of(ClaimedSubmission, row, **further), secret)


def share_submitting(connection: Connection) -> None:
    """Share the lock of submitting before a submission gets its time: ``end_submitting`` waits for the transaction."""
    connection.execute(select(meta.c.value).where(meta.c.key == SUBMITTING).with_for_update(read=True))


def end_submitting(connection: Connection) -> None:
    """Wait until every submission that has a time is stored: all further ones get a time later than now."""
    connection.execute(meta.update().where(meta.c.key == SUBMITTING).values(value="1"))
