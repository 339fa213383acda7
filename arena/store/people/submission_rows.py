"""Submissions from their rows, whose name a bot has, and claims of checkers, in the order of the checks."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Subquery, case, func, select

from arena.base.bot_text import BotText
from arena.store.people.schema import TimedRepository, bot_owners, people, submissions
from arena.store.people.values import (
    FINAL,
    UNFINISHED,
    ClaimedSubmission,
    Clock,
    Person,
    Submission,
    SubmissionState,
    look_alike_key,
)
from arena.store.results.connection import Database, insert_into
from arena.store.results.schema import value_of, writes


def get_submission(connection: Connection, number: int) -> Submission:
    """Return a submission, which must exist."""
    return submission_of(connection.execute(all_submissions().where(submissions.c.id == number)).one())


def all_submissions() -> Select[Any]:
    """Return the query of all submissions, with their authors."""
    return select(submissions, people.c.name.label("author")).join(people, submissions.c.person_id == people.c.id)


def listed_submissions() -> Select[Any]:
    """Return the query of what lists show of all submissions: what is for authors alone is not read."""
    columns = submissions.c
    shown = (columns.id, columns.state, columns.created_at, columns.finished_at, columns.bot)
    return select(*shown, people.c.name.label("author")).join(people, columns.person_id == people.c.id)


def submission_of(row: Row[Any]) -> Submission:
    """Return the submission of a row of ``all_submissions``."""
    return value_of(Submission, row, reason=BotText(row.reason), report=BotText(row.report))


class BotNames(TimedRepository):
    """The names of bots in a database."""

    def names_of(self, person: Person) -> list[str]:
        """Return the names of bots that belong to a person, in order."""
        query = select(bot_owners.c.name).where(bot_owners.c.person_id == person.number)
        return sorted(self._database.scalars(query))

    def accepted_labels(self, person: Person) -> list[str]:
        """Return the versions of bots (``name@version``) that a person has submitted and that were accepted."""
        accepted = (submissions.c.person_id == person.number, submissions.c.state == SubmissionState.ACCEPTED)
        query = select(submissions.c.bot).where(*accepted, submissions.c.bot.is_not(None))
        return self._database.scalars(query)

    def owner(self, name: str) -> int | None:
        """Return the number of the person who owns a bot's name, or one that looks like it; None without one."""
        query = select(bot_owners.c.person_id).where(bot_owners.c.look_alike_key == look_alike_key(name))
        return self._database.scalar(query)

    @writes
    def own_bot_name(self, connection: Connection, person: int, name: str) -> bool:
        """Give a bot's name to the first who submits a bot of that name, or one that looks like it.

        Returns:
            Whether the name belongs to that person.
        """
        row = {"look_alike_key": look_alike_key(name), "name": name, "person_id": person}
        connection.execute(insert_into(connection, bot_owners).values(row).on_conflict_do_nothing())
        owner = select(bot_owners.c.person_id).where(bot_owners.c.look_alike_key == row["look_alike_key"])
        return bool(connection.execute(owner).scalar_one() == person)

    @writes
    def release_bot_name(self, connection: Connection, person: int, name: str) -> None:
        """Release a bot's name if nothing of that name was accepted."""
        key = look_alike_key(name)
        theirs = submissions.c.person_id == person
        decided = select(submissions.c.bot).where(theirs, submissions.c.state == SubmissionState.ACCEPTED)
        checked = select(submissions.c.id).where(theirs, submissions.c.state == SubmissionState.CHECKING).limit(1)
        own = bot_owners.delete().where(bot_owners.c.look_alike_key == key, bot_owners.c.person_id == person)
        labels = connection.execute(decided.where(submissions.c.bot.is_not(None))).scalars()
        is_accepted = any(look_alike_key(label.rpartition("@")[0]) == key for label in labels)
        if not is_accepted and connection.execute(checked).first() is None:
            connection.execute(own)


# In which order submissions are checked: authors take turns.


def last_turn() -> ColumnElement[int]:
    """Return when the author of a submission had a turn last; 0 for never."""
    of_author = submissions.alias("of_author")
    last = select(func.coalesce(func.max(of_author.c.turn), 0)).where(of_author.c.person_id == submissions.c.person_id)
    return last.scalar_subquery()


def checking_order() -> Subquery:
    """Return the numbers of undecided submissions with their positions, from 1: what is being checked, then in turns.

    The first of each author come before the second ones; among these, who has had a turn longest ago is first, and of
    those who never had one, who came first.
    """
    waits = submissions.c.state == SubmissionState.WAITING
    author = (submissions.c.person_id, submissions.c.state)
    unfinished = (
        select(
            submissions.c.id,
            case((waits, 1), else_=0).label("waits"),
            func.row_number().over(partition_by=author, order_by=submissions.c.id).label("place"),
            last_turn().label("last_turn"),
            func.min(submissions.c.id).over(partition_by=author).label("first"),
        )
        .where(submissions.c.state.in_(UNFINISHED))
        .subquery()
    )
    columns = unfinished.c
    position = func.row_number().over(order_by=(columns.waits, columns.place, columns.last_turn, columns.first))
    return select(columns.id, position.label("position")).subquery()


# Claims of submissions: a checker extends its claim again and again while it checks, and nobody else can decide the
# submission.
#
# If the checker was killed, another one can claim the submission: when the claim has run out, or at once if it knows
# that it is the only checker. So no submission is decided twice.

CLAIM_SECONDS = 60.0
MAX_REPORT_CHARACTERS = 64 * 1024


class Claim:
    """The right to decide a submission; it is lost if it is not extended in time."""

    def __init__(self, database: Database, clock: Clock, submission: ClaimedSubmission, secret: str) -> None:
        self.submission = submission
        self._database, self._clock, self._secret = database, clock, secret

    def keep(self, report: str, bot: str | None = None) -> bool:
        """Extend the claim, and store the report so far; return whether the claim still holds."""
        values: dict[str, Any] = {"claimed_until": self._clock.text(CLAIM_SECONDS), "report": _bounded(report)}
        return self._change(values | ({"bot": bot} if bot is not None else {}))

    def finish(
        self,
        state: SubmissionState,
        report: str,
        reason: str = "",
        bot: str | None = None,
        copy_bytes: int | None = None,
    ) -> bool:
        """Decide a submission; return whether the claim held until now.

        ``reason`` says in a sentence why it is not accepted; ``copy_bytes`` is the size of the copy, if this made one.
        """
        assert state in FINAL
        values: dict[str, Any] = {
            "state": state,
            "report": _bounded(report),
            "reason": reason,
            "finished_at": self._clock.text(),
            "claim": None,
        }
        optional = {"bot": bot, "copy_bytes": copy_bytes}
        return self._change(values | {name: value for name, value in optional.items() if value is not None})

    def release(self) -> bool:
        """Put the submission back into the queue as if never claimed; return whether the claim held until now."""
        return self._change(
            {"state": SubmissionState.WAITING, "tries": self.submission.tries - 1, "turn": None, "claim": None}
        )

    def postpone(self) -> bool:
        """Let it be checked again in a while, for it can't be checked now; return whether the claim held until now."""
        return self._change({"claimed_until": self._clock.text(CLAIM_SECONDS), "claim": None})

    def _change(self, values: dict[str, Any]) -> bool:
        own = (submissions.c.id == self.submission.number) & (submissions.c.claim == self._secret)
        change = submissions.update().where(own).values(values)
        return self._database.write(lambda connection: connection.execute(change).rowcount == 1)


def is_claimable(clock: Clock, is_alone: bool = False) -> ColumnElement[bool]:
    """Return the condition of submissions that wait, or whose checker has gone.

    ``is_alone``: no other checker is at work, so nobody extends a claim.
    """
    is_over = submissions.c.claimed_until <= clock.text()
    if is_alone:
        is_over |= submissions.c.claim.is_not(None)
    abandoned = (submissions.c.state == SubmissionState.CHECKING) & is_over
    return (submissions.c.state == SubmissionState.WAITING) | abandoned


def _bounded(report: str) -> str:
    if len(report) <= MAX_REPORT_CHARACTERS:
        return report
    half = MAX_REPORT_CHARACTERS // 2
    return f"{report[:half]}\n…\n{report[-half:]}"
