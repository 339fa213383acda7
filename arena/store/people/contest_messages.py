"""What directors and people say about a contest: announcements, questions with answers, and who has seen them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Index, Table, delete, false, func, or_, select

from arena.base.errors import UsageError
from arena.store.people.schema import TimedRepository, add_line, count_rows, metadata, numbered
from arena.store.people.stored_contests import locked_contest
from arena.store.people.values import Person
from arena.store.results.connection import insert_into
from arena.store.results.schema import Integer, OptionalInteger, OptionalString, String, Text, value_of, writes

MAX_MESSAGE_CHARACTERS = 2000
MAX_MESSAGES = 500
"""Announcements of a contest, and questions; counted apart, so that people can't use up what directors may say."""
MAX_OPEN_QUESTIONS = 5
"""Of a person in a contest, at once."""

contest_messages = numbered(
    "contest_messages",
    Column("contest_id", ForeignKey("contests.id"), nullable=False),
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("is_question", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", String(40), nullable=False),
    Column("answer", Text, nullable=False),
    Column("answered_at", OptionalString(40)),
    Column("is_for_all", Integer, nullable=False),
    Column("news", Integer, nullable=False),
    Index("contest_messages_by_contest", "contest_id", "id"),
)

contest_reads = Table(
    "contest_reads",
    metadata,
    Column("contest_id", ForeignKey("contests.id"), primary_key=True),
    Column("person_id", ForeignKey("people.id"), primary_key=True),
    Column("seen", Integer, nullable=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestMessage:
    """An announcement, or a question with its answer.

    Attributes:
        person: who asked, by number; None for an announcement, and for whoever has left.
        answer: "" for an announcement, and before there is one.
        news: from 1, in the order in which something became new for readers; 0 for a question without an answer.
    """

    number: int
    contest: int
    person: int | None
    is_question: bool
    text: str
    at: str
    answer: str
    answered_at: str | None
    is_for_all: bool
    news: int


class ContestMessages(TimedRepository):
    """The messages of contests in a database."""

    @writes
    def announce(self, connection: Connection, by: str, contest: str, text: str) -> None:
        """Publish an announcement."""
        stored = locked_contest(connection, contest)
        self._insert(connection, stored.number, None, text, news=_next_news(connection, stored.number))
        add_line(connection, self._clock.text(), by, "announced something in the contest", contest, "")

    @writes
    def ask(self, connection: Connection, person: Person, contest: str, text: str) -> None:
        """Ask the directors of a contest; UsageError while too many questions of this person have no answer."""
        stored = locked_contest(connection, contest)
        mine = (contest_messages.c.contest_id == stored.number) & (contest_messages.c.person_id == person.number)
        if count_rows(connection, mine, contest_messages.c.answered_at.is_(None)) >= MAX_OPEN_QUESTIONS:
            raise UsageError(f"{MAX_OPEN_QUESTIONS} questions of yours have no answer yet; wait for one")
        self._insert(connection, stored.number, person.number, text, news=0)

    @writes
    def answer(
        self, connection: Connection, by: str, contest: str, number: int, text: str, *, is_for_all: bool
    ) -> None:
        """Answer a question, for whoever asked or for all; a second answer takes the place of the first."""
        stored = locked_contest(connection, contest)
        is_asked = (contest_messages.c.id == number) & (contest_messages.c.contest_id == stored.number)
        is_asked &= contest_messages.c.is_question == 1
        now = self._clock.text()
        news = _next_news(connection, stored.number)
        values = {"answer": text, "answered_at": now, "is_for_all": int(is_for_all), "news": news}
        if connection.execute(contest_messages.update().where(is_asked).values(values)).rowcount != 1:
            raise UsageError(f"question {number}: the contest {contest!r} has no such question")
        if is_for_all:
            add_line(connection, now, by, "answered a question for all in the contest", contest, "")

    def of(self, contest: int, reader: int | None, *, is_director: bool) -> list[ContestMessage]:
        """Return the messages that somebody may read, the latest first."""
        is_readable = contest_messages.c.contest_id == contest
        if not is_director:
            is_readable &= _may_be_read_by(reader)
        query = select(contest_messages).where(is_readable).order_by(contest_messages.c.id.desc())
        return [_message_of(row) for row in self._database.rows(query.limit(2 * MAX_MESSAGES))]

    def asked_by(self, person: int) -> list[ContestMessage]:
        """Return the questions of a person, the latest first."""
        query = select(contest_messages).where(contest_messages.c.person_id == person)
        return [_message_of(row) for row in self._database.rows(query.order_by(contest_messages.c.id.desc()))]

    def seen(self, contest: int, person: int) -> int:
        """Return the number of the last news that a person has seen."""
        of_person = (contest_reads.c.contest_id == contest) & (contest_reads.c.person_id == person)
        return self._database.scalar(select(contest_reads.c.seen).where(of_person)) or 0

    @writes
    def note_seen(self, connection: Connection, contest: int, person: int, news: int) -> None:
        """Note that a person has seen the news up to a number."""
        row = {"contest_id": contest, "person_id": person, "seen": news}
        new = insert_into(connection, contest_reads).values(row)
        keys = [contest_reads.c.contest_id, contest_reads.c.person_id]
        connection.execute(new.on_conflict_do_update(index_elements=keys, set_={"seen": news}))

    def unseen(self, person: int, *, is_director: bool) -> Mapping[int, int]:
        """Return how many messages are new for a person, by contest; for directors, open questions count too."""
        last_seen = select(contest_reads.c.seen).where(
            contest_reads.c.contest_id == contest_messages.c.contest_id, contest_reads.c.person_id == person
        )
        is_new = _may_be_read_by(person) & (contest_messages.c.news > func.coalesce(last_seen.scalar_subquery(), 0))
        if is_director:
            is_new |= (contest_messages.c.is_question == 1) & contest_messages.c.answered_at.is_(None)
        query = select(contest_messages.c.contest_id, func.count()).where(is_new)
        return dict(map(tuple, self._database.rows(query.group_by(contest_messages.c.contest_id))))

    def _insert(self, connection: Connection, contest: int, person: int | None, text: str, news: int) -> None:
        is_question = person is not None
        is_like_this = contest_messages.c.is_question == int(is_question)
        if count_rows(connection, contest_messages.c.contest_id == contest, is_like_this) >= MAX_MESSAGES:
            raise UsageError(f"a contest has at most {MAX_MESSAGES} {'questions' if is_question else 'announcements'}")
        row = {
            "contest_id": contest,
            "person_id": person,
            "is_question": int(is_question),
            "text": text,
            "at": self._clock.text(),
            "answer": "",
            "is_for_all": int(not is_question),
            "news": news,
        }
        connection.execute(contest_messages.insert(), row)


def forget_person(connection: Connection, person: int) -> None:
    """Delete what a person has asked and seen; an answer for all stays, without the question."""
    mine = contest_messages.c.person_id == person
    connection.execute(delete(contest_messages).where(mine, contest_messages.c.is_for_all == 0))
    connection.execute(contest_messages.update().where(mine).values(person_id=None, text=""))
    connection.execute(delete(contest_reads).where(contest_reads.c.person_id == person))


def _may_be_read_by(reader: int | None) -> ColumnElement[bool]:
    """Return the condition for messages that a person may read: those for all, and the person's own questions."""
    own = contest_messages.c.person_id == reader if reader is not None else false()
    return or_(contest_messages.c.is_for_all == 1, own)


def _next_news(connection: Connection, contest: int) -> int:
    last = select(func.coalesce(func.max(contest_messages.c.news), 0)).where(contest_messages.c.contest_id == contest)
    return int(connection.execute(last).scalar_one()) + 1


def _message_of(row: Any) -> ContestMessage:
    flags = {"is_question": bool(row.is_question), "is_for_all": bool(row.is_for_all)}
    return value_of(ContestMessage, row, contest=row.contest_id, person=row.person_id, **flags)


def last_news(messages: Iterable[ContestMessage]) -> int:
    """Return the number of the last news among messages; 0 without any."""
    return max((message.news for message in messages), default=0)
