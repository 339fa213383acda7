"""Announcements of contests, and questions with answers."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import quote

from pydantic import Field, StrictBool

from arena.server.gate.operation import Done, Handler, Operation, Visit
from arena.server.operations.contest_form import ContestNamed
from arena.server.operations.contests import found_contest
from arena.store.people.contest_messages import MAX_MESSAGE_CHARACTERS
from arena.store.people.rates import Rate
from arena.store.people.values import Permission

MESSAGES = Rate(60, 3600.0)
QUESTIONS = Rate(60, 3600.0)


class NewMessage(ContestNamed):
    """What is announced or asked, as plain text."""

    SEVERAL_LINES: ClassVar[tuple[str, ...]] = ("message",)
    message: str = Field(title="Text", min_length=1, max_length=MAX_MESSAGE_CHARACTERS)


class NewAnswer(NewMessage):
    """The answer to a question, and whether all read it, with the question."""

    number: int = Field(ge=1, le=2**31 - 1)
    to_all: StrictBool | str = False


def announce(visit: Visit) -> Done:
    """Announce something to all who read about a contest."""
    stored = found_contest(visit)
    visit.people.contest_messages.announce(visit.person.name, stored.name, visit.fields.message)
    return _done(stored.name, "it is announced")


def ask(visit: Visit) -> Done:
    """Ask the directors of a contest something."""
    stored = found_contest(visit)
    visit.people.contest_messages.ask(visit.person, stored.name, visit.fields.message)
    return _done(stored.name, "the directors have your question")


def answer(visit: Visit) -> Done:
    """Answer a question, to whoever asked or to all."""
    sent: NewAnswer = visit.fields
    stored = found_contest(visit)
    to_all = sent.to_all not in (False, "")
    visit.people.contest_messages.answer(visit.person.name, stored.name, sent.number, sent.message, is_for_all=to_all)
    return _done(stored.name, f"question {sent.number} is answered")


def _done(name: str, sentence: str) -> Done:
    return Done(to=f"/contests/{quote(name)}#messages", sentence=sentence)


def _operation(path: str, who: Permission, handler: Handler, fields: type[NewMessage], rate: Rate) -> Operation:
    form = "/contests/{name}"
    return Operation("POST", f"{form}/{path}", who, handler, fields, form=form, rate=rate)


OPERATIONS = (
    _operation("announce", Permission.DIRECT, announce, NewMessage, MESSAGES),
    _operation("ask", Permission.SUBMIT, ask, NewMessage, QUESTIONS),
    _operation("questions/{number}/answer", Permission.DIRECT, answer, NewAnswer, MESSAGES),
)
