"""The contests of a home, with their entries and stages; ``stored_contests`` has their tables and rows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, select

from arena.base.errors import Mistake, UsageError
from arena.base.names import REASON_ACCEPTED as ACCEPTED
from arena.base.names import check_reason, is_reason
from arena.base.text import shortened_text
from arena.store.people.contest import (
    Contest,
    ContestEntrants,
    ContestEntry,
    ContestPhase,
    ContestReading,
    ContestResults,
    ContestStage,
    StoredContest,
    change_mistakes,
    deadline_mistakes,
    differences,
    phase_of,
    read_of,
)
from arena.store.people.schema import TimedRepository, add_line, people, submissions
from arena.store.people.stored_contests import (
    ContestRows,
    ContestSuspension,
    all_contests,
    all_suspensions,
    contest_entries,
    contest_of,
    contest_rows,
    contests,
    entry_of,
    find_contest,
    invitation_mistakes,
    locked_contest,
    stored_form,
    tournament_mistakes,
)
from arena.store.people.submissions import end_submitting
from arena.store.people.values import UNFINISHED, Role, SubmissionState
from arena.store.results.schema import writes

MAX_NOTE_CHARACTERS = 1000


def changed_meanwhile(name: str) -> UsageError:
    """Return the error for a change that was made from a contest as it is no more."""
    return UsageError(f"contest {name!r}: another director has just changed it; look at it, and try again")


class Contests(TimedRepository):
    """The contests in a database."""

    def now(self) -> str:
        """Return the time, as it is stored."""
        return self._clock.text()

    @writes
    def add(
        self, connection: Connection, by: str, written: Contest | ContestReading, faults: Sequence[Mistake] = ()
    ) -> StoredContest:
        """Announce a contest, or raise ContestError with everything that is wrong, ``faults`` included."""
        now = self._clock.text()
        new = read_of(written)
        contest = new.contest
        row = {
            "name": contest.name,
            "contest": stored_form(contest),
            "rng_seed": secrets.randbelow(2**63),
            "created_by": by,
            "created_at": now,
            "freeze_at": contest.freeze_at,
            "stage": ContestStage.ENTRIES,
            "stage_note": "",
            "cancel_reason": "",
        }
        add_line(connection, now, by, "announced the contest", contest.name, "")  # makes other writers wait
        others = tournament_mistakes(new, all_contests(connection))
        new.check(*faults, *deadline_mistakes(new, now), *others, *invitation_mistakes(connection, new))
        connection.execute(contests.insert(), row)
        return find_contest(connection, contest.name)

    def find(self, name: str) -> StoredContest | None:
        """Return a contest; None if there is no such contest."""
        return self._database.one(select(contests).where(contests.c.name == name), contest_of)

    def get(self, name: str) -> StoredContest:
        """Return a contest, or raise UnknownNameError."""
        return self._database.read(lambda connection: find_contest(connection, name))

    def all(self) -> list[StoredContest]:
        """Return all contests, the latest first."""
        return self._database.read(all_contests)

    def rows(self) -> ContestRows:
        """Return all contests with their entries, and the submissions in check, or raise StoreError."""
        return self._database.read(contest_rows)

    def suspensions(self) -> list[ContestSuspension]:
        """Return which bots are suspended by contests, and since when; suspensions that begin later included."""
        return self._database.read(all_suspensions)

    @writes
    def change(
        self,
        connection: Connection,
        by: str,
        name: str,
        written: Contest | ContestReading,
        reason: str,
        faults: Sequence[Mistake] = (),
        before: Contest | None = None,
    ) -> StoredContest:
        """Change a contest, if anything differs, or raise ContestError as ``add`` does.

        Raises:
            UsageError: if it is not as it was ``before`` any more, from which the new one was made.
        """
        new = read_of(written)
        contest = new.contest
        if not is_reason(reason):
            faults = (*faults, Mistake("reason", ACCEPTED, repr(shortened_text(reason))))
        now = self._clock.text()
        stored = locked_contest(connection, name)
        if before not in (None, stored.contest):
            raise changed_meanwhile(name)
        if stored.contest == contest and not (new.mistakes or faults):
            return stored
        details = "; ".join(differences(stored.contest, contest))
        add_line(connection, now, by, "changed the contest", name, reason, details=details)  # makes other writers wait
        others = [other for other in all_contests(connection) if other.number != stored.number]
        invited = invitation_mistakes(connection, new, stored.contest.invited)
        forbidden, names_taken = change_mistakes(stored, new, now), tournament_mistakes(new, others)
        new.check(*faults, *forbidden, *names_taken, *invited)
        has_begun = stored.contest.opens_at <= now
        is_frozen = has_begun and stored.freeze_at is not None and stored.freeze_at <= now
        freeze_at = stored.freeze_at if is_frozen else contest.freeze_at
        return _updated(connection, stored, {"contest": stored_form(contest), "freeze_at": freeze_at})

    @writes
    def cancel(self, connection: Connection, by: str, name: str, reason: str) -> StoredContest:
        """Cancel a contest: nothing more of it is played."""
        check_reason(reason)
        now = self._clock.text()
        stored = locked_contest(connection, name)
        phase = phase_of(stored, now)
        if phase in (ContestPhase.FINISHED, ContestPhase.CANCELLED):
            raise UsageError(f"contest {name!r}: it is {phase} already")
        add_line(connection, now, by, "cancelled the contest", name, reason)
        return _updated(connection, stored, {"cancelled_at": now, "cancel_reason": reason})

    @writes
    def ask_to_reveal(
        self, connection: Connection, by: str, name: str, reason: str = "", *, before_played: bool = False
    ) -> StoredContest:
        """Ask the contest's director to show the results to everybody; ``before_played``: even if matches are left."""
        check_reason(reason or "-")
        now = self._clock.text()
        stored = locked_contest(connection, name)
        if stored.contest.results is ContestResults.OPEN or stored.revealed_at is not None:
            raise UsageError(f"contest {name!r}: its results are not hidden")
        if stored.cancelled_at is not None:
            raise UsageError(f"contest {name!r}: it is cancelled")
        if stored.played_at is None and not before_played:
            raise UsageError(f"contest {name!r}: not everything is played yet")
        if stored.reveal_asked_at is not None:
            return stored
        add_line(connection, now, by, "revealed the results of", name, reason)
        return _updated(connection, stored, {"reveal_asked_at": now})

    # by the program that plays the contest

    def set_stage(self, stored: StoredContest, stage: ContestStage, note: str = "") -> StoredContest:
        """Store which stage is being played, and why it is stuck if it is."""
        values: dict[str, Any] = {"stage": stage, "stage_note": note[:MAX_NOTE_CHARACTERS]}
        if stage is ContestStage.PLAYED:
            values["played_at"] = func.coalesce(contests.c.played_at, self._clock.text())
        return self._set(stored, values)

    def set_revealed(self, stored: StoredContest) -> StoredContest:
        """Store that everybody can see the results now."""
        return self._set(stored, {"revealed_at": func.coalesce(contests.c.revealed_at, self._clock.text())})

    @writes
    def close_entries(self, connection: Connection, stored: StoredContest) -> StoredContest:
        """Store that no further submission counts; before the deadline, change nothing."""
        end_submitting(connection)
        now = self._clock.text()
        current = locked_contest(connection, stored.name)
        is_closed = current.closed_at is None and now > current.contest.deadline_at
        return _updated(connection, current, {"closed_at": now}) if is_closed else current

    def _set(self, stored: StoredContest, values: dict[str, Any]) -> StoredContest:
        return self._database.write(lambda connection: _updated(connection, stored, values))

    # entries

    def candidates(self, stored: StoredContest) -> list[ContestEntry]:
        """Return every accepted bot that may enter, submitted up to the deadline, the latest submission first.

        Which of them enter depends on the games that they play.
        """
        query: Select[Any] = (
            select(submissions.c.id, submissions.c.bot, submissions.c.created_at)
            .add_columns(people.c.name, submissions.c.person_id)
            .join(people, submissions.c.person_id == people.c.id)
            .where(_is_in_time(stored.contest), submissions.c.state == SubmissionState.ACCEPTED)
            .where(submissions.c.bot.is_not(None))
            .order_by(submissions.c.created_at.desc(), submissions.c.id.desc())
        )
        return [entry_of(row) for row in self._database.rows(query)]

    def unfinished_of(self, stored: StoredContest) -> list[int]:
        """Return the numbers of the submissions that may still enter when they are checked."""
        query = (
            select(submissions.c.id)
            .join(people, submissions.c.person_id == people.c.id)
            .where(_is_in_time(stored.contest), submissions.c.state.in_(UNFINISHED))
            .order_by(submissions.c.id)
        )
        return self._database.scalars(query)

    def rejected_of(self, stored: StoredContest) -> dict[str, str]:
        """Return by author why the latest of the submissions from the opening to the deadline was rejected."""
        query: Select[Any] = (
            select(people.c.name, submissions.c.reason)
            .join(people, submissions.c.person_id == people.c.id)
            .where(_is_in_time(stored.contest), submissions.c.state == SubmissionState.REJECTED)
            .where(submissions.c.created_at >= stored.contest.opens_at)
            .order_by(submissions.c.id)
        )
        return {row.name: row.reason for row in self._database.rows(query)}

    def may_enter(self, contest: Contest) -> tuple[str, ...]:
        """Return who is invited; or if that is everybody, the authors who had an account in time and have it still."""
        if contest.entrants is ContestEntrants.INVITED:
            return contest.invited
        is_author = (people.c.role == Role.AUTHOR) & people.c.closed_at.is_(None)
        in_time = people.c.created_at <= contest.deadline_at
        return tuple(self._database.scalars(select(people.c.name).where(is_author, in_time).order_by(people.c.id)))

    @writes
    def set_entries(self, connection: Connection, stored: StoredContest, entries: Iterable[ContestEntry]) -> None:
        """Store which bots have entered."""
        rows = [{"contest_id": stored.number, "bot": entry.bot, "submission_id": entry.submission} for entry in entries]
        connection.execute(delete(contest_entries).where(contest_entries.c.contest_id == stored.number))
        if rows:
            connection.execute(contest_entries.insert(), rows)

    def entries_of(self, stored: StoredContest) -> list[ContestEntry]:
        """Return the bots that have entered, in the order in which they were submitted."""
        query: Select[Any] = (
            select(submissions.c.id, contest_entries.c.bot, submissions.c.created_at)
            .add_columns(people.c.name, submissions.c.person_id)
            .join(submissions, contest_entries.c.submission_id == submissions.c.id)
            .join(people, submissions.c.person_id == people.c.id)
            .where(contest_entries.c.contest_id == stored.number)
            .order_by(submissions.c.id)
        )
        return [entry_of(row) for row in self._database.rows(query)]


def _updated(connection: Connection, stored: StoredContest, values: dict[str, Any]) -> StoredContest:
    connection.execute(contests.update().where(contests.c.id == stored.number).values(values))
    return find_contest(connection, stored.name)


def _is_in_time(contest: Contest) -> ColumnElement[bool]:
    counts = (submissions.c.created_at <= contest.deadline_at) & people.c.closed_at.is_(None)
    if contest.entrants is ContestEntrants.INVITED:
        counts &= func.lower(people.c.name).in_([name.lower() for name in contest.invited])
    return counts
