"""Submissions from their rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, select

from arena.base.bot_text import BotText
from arena.store.people.schema import people, submissions
from arena.store.people.submission import ListedSubmission, Submission


def get_submission(connection: Connection, number: int) -> Submission:
    """Return a submission that there is."""
    return submission_of(connection.execute(all_submissions().where(submissions.c.id == number)).one())


def all_submissions() -> Select[Any]:
    """Return the query of all submissions, with their authors."""
    return select(submissions, people.c.name.label("author")).join(people, submissions.c.person_id == people.c.id)


def listed_submissions() -> Select[Any]:
    """Return the query of what lists show of all submissions: what is for authors alone is not read."""
    columns = submissions.c
    shown = (columns.id, columns.state, columns.created_at, columns.finished_at, columns.bot)
    return select(*shown, people.c.name.label("author")).join(people, columns.person_id == people.c.id)


def listed_submission_of(row: Row[Any]) -> ListedSubmission:
    """Return what lists show of the submission of a row of that query."""
    return ListedSubmission(
        number=row.id,
        author=row.author,
        state=row.state,
        created_at=row.created_at,
        finished_at=row.finished_at,
        bot=row.bot,
    )


def submission_of(row: Row[Any]) -> Submission:
    """Return the submission of a row of ``all_submissions``."""
    return Submission(
        number=row.id,
        author=row.author,
        upload=row.upload,
        digest=row.digest,
        size_bytes=row.size_bytes,
        file_name=row.file_name,
        note=row.note,
        state=row.state,
        created_at=row.created_at,
        finished_at=row.finished_at,
        bot=row.bot,
        reason=BotText(row.reason),
        report=BotText(row.report),
    )
