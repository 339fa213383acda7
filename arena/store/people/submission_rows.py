"""Submissions from their rows, and whose name a bot has."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, select

from arena.base.bot_text import BotText
from arena.store.people.schema import bot_owners, people, submissions
from arena.store.people.submission import ListedSubmission, Submission, SubmissionState
from arena.store.people.values import Person, look_alike_key
from arena.store.results.connection import Database, insert_into

# Submissions from their rows.


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


# Whose name a bot has.


class BotNames:
    """The names of bots in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names_of(self, person: Person) -> list[str]:
        """Return the names of bots that belong to a person, in order."""
        query = select(bot_owners.c.name).where(bot_owners.c.person_id == person.number)
        return sorted(self._database.read(lambda connection: connection.execute(query).scalars().all()))

    def accepted_labels(self, person: Person) -> list[str]:
        """Return the versions of bots (``name@version``) that a person has handed in and that were accepted."""
        accepted = (submissions.c.person_id == person.number, submissions.c.state == SubmissionState.ACCEPTED)
        query = select(submissions.c.bot).where(*accepted, submissions.c.bot.is_not(None))
        return list(self._database.read(lambda connection: connection.execute(query).scalars().all()))

    def owner(self, name: str) -> int | None:
        """Return the number of the person who owns a bot's name, or one that looks like it; None without one."""
        query = select(bot_owners.c.person_id).where(bot_owners.c.look_alike_key == look_alike_key(name))
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return row.person_id if row is not None else None

    def own_bot_name(self, person: int, name: str) -> bool:
        """Give a bot's name to the first who submits a bot of that name, or one that looks like it.

        Returns:
            Whether the name belongs to that person.
        """
        row = {"look_alike_key": look_alike_key(name), "name": name, "person_id": person}

        def own(connection: Connection) -> bool:
            connection.execute(insert_into(connection, bot_owners).values(row).on_conflict_do_nothing())
            owner = select(bot_owners.c.person_id).where(bot_owners.c.look_alike_key == row["look_alike_key"])
            return bool(connection.execute(owner).scalar_one() == person)

        return self._database.write(own)

    def release_bot_name(self, person: int, name: str) -> None:
        """Release a bot's name if nothing of that name was accepted."""
        key = look_alike_key(name)
        theirs = submissions.c.person_id == person
        decided = select(submissions.c.bot).where(theirs, submissions.c.state == SubmissionState.ACCEPTED)
        checked = select(submissions.c.id).where(theirs, submissions.c.state == SubmissionState.CHECKING).limit(1)
        own = bot_owners.delete().where(bot_owners.c.look_alike_key == key, bot_owners.c.person_id == person)

        def release(connection: Connection) -> None:
            labels = connection.execute(decided.where(submissions.c.bot.is_not(None))).scalars()
            is_accepted = any(look_alike_key(label.rpartition("@")[0]) == key for label in labels)
            if not is_accepted and connection.execute(checked).first() is None:
                connection.execute(own)

        self._database.write(release)
