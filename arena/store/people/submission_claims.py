"""Claims of submissions, and the order in which submissions are checked."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, case, func, select

from arena.store.people.schema import people, submissions
from arena.store.people.secret import new_secret
from arena.store.people.submission import FINAL, UNFINISHED, ClaimedSubmission, SubmissionState
from arena.store.people.times import Clock
from arena.store.results.connection import Database

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


# Claims of submissions: who checks one says again and again that it is still at it, and nobody else can decide it.
#
# What nobody is at any more, for the checker was killed, can be claimed again, so that nothing is decided twice: when
# the claim has run out, or at once by a checker that knows that it is the only one.

CLAIM_SECONDS = 60.0
MAX_REPORT_CHARACTERS = 64 * 1024


class Claim:
    """The right to finish a submission; it is lost when it was not kept up in time."""

    def __init__(self, database: Database, clock: Clock, submission: ClaimedSubmission, secret: str) -> None:
        self.submission = submission
        self._database, self._clock, self._secret = database, clock, secret

    def keep(self, report: str, bot: str | None = None) -> bool:
        """Say that it is still being checked, and what was found so far; return whether the claim still holds."""
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
        known = {"bot": bot, "copy_bytes": copy_bytes}
        return self._change(values | {name: value for name, value in known.items() if value is not None})

    def release(self) -> bool:
        """Let it wait again, as if nobody had begun to check it; return whether the claim held until now."""
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

    ``is_alone``: no other checker is at work, so no claim is kept up.
    """
    is_over = submissions.c.claimed_until <= clock.text()
    if is_alone:
        is_over |= submissions.c.claim.is_not(None)
    abandoned = (submissions.c.state == SubmissionState.CHECKING) & is_over
    return (submissions.c.state == SubmissionState.WAITING) | abandoned


def claim_next(database: Database, clock: Clock, is_alone: bool = False) -> Claim | None:
    """Take the oldest submission of the author whose last turn is longest ago; None if nothing waits."""
    secret = new_secret()
    now, until = clock.text(), clock.text(CLAIM_SECONDS)
    oldest = select(submissions).where(is_claimable(clock, is_alone)).order_by(last_turn(), submissions.c.id).limit(1)
    if database.is_server:
        oldest = oldest.with_for_update(skip_locked=True)

    def claim(connection: Connection) -> Claim | None:
        row = connection.execute(oldest).one_or_none()
        if row is None:
            return None
        values = {
            "state": SubmissionState.CHECKING,
            "tries": row.tries + 1,
            "turn": connection.execute(select(func.coalesce(func.max(submissions.c.turn), 0))).scalar_one() + 1,
            "claimed_at": now,
            "claim": secret,
            "claimed_until": until,
            "report": "",
        }
        connection.execute(submissions.update().where(submissions.c.id == row.id).values(values))
        author = connection.execute(select(people.c.name).where(people.c.id == row.person_id)).scalar_one()
        taken = ClaimedSubmission(
            number=row.id,
            person=row.person_id,
            author=author,
            upload=row.upload,
            file_name=row.file_name,
            bot=row.bot,
            created_at=row.created_at,
            tries=row.tries + 1,
        )
        return Claim(database, clock, taken, secret)

    return database.write(claim)


def _bounded(report: str) -> str:
    if len(report) <= MAX_REPORT_CHARACTERS:
        return report
    half = MAX_REPORT_CHARACTERS // 2
    return f"{report[:half]}\n…\n{report[-half:]}"
