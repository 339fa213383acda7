"""Problems of a request or of the server: a status, a title and a sentence, as a page or as JSON."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable

from pydantic import BaseModel, ValidationError

from arena.analysis.text.tables import printable
from arena.base.errors import (
    ArenaError,
    ChangedMeanwhileError,
    DatabaseError,
    GameError,
    InvitationError,
    NoHomeError,
    NothingYetError,
    OptionError,
    StoreError,
    UnknownNameError,
    UnwritableError,
    nearest,
    suggestion,
    text_of,
)
from arena.base.text import shortened_text
from arena.site.frame.model import Model
from arena.site.links import address_of
from arena.site.page_table import PAGE_BY_NAME

MAX_SENTENCE_CHARACTERS = 1000
REPORT_AGAIN_SECONDS = 60.0

_log = logging.getLogger("arena.server.http")


class FieldProblem(Model):
    """An error in a field of what was sent, and the field's name and title; "" without one."""

    field: str
    title: str
    error: str

    @property
    def sentence(self) -> str:
        """The whole, as pages say it."""
        return f"{self.title}: {self.error}" if self.title else self.error


class Problem(Model):
    """What is wrong: in a few words, in a sentence, and by field.

    Attributes:
        retry_after_seconds: when to ask again; None if that won't help.
        suggested: the addresses of pages that may be meant.
        is_store_away: whether the store can't be read, so that what it said before is worth showing.
    """

    status: int
    title: str
    error: str
    retry_after_seconds: int | None = None
    suggested: tuple[str, ...] = ()
    is_store_away: bool = False
    fields: tuple[FieldProblem, ...] = ()


class ProblemError(Exception):
    """A response that is a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.error)
        self.problem = problem


def unavailable(title: str, error: str, retry_after_seconds: int | None = None) -> Problem:
    """Return a problem with status 503: the server can't answer now."""
    return Problem(status=503, title=title, error=error, retry_after_seconds=retry_after_seconds)


DEFECT = Problem(
    status=500,
    title="The arena made a mistake",
    error="This is a defect of the arena, not of the address; its log says more.",
)
ENDING = unavailable("The server is shutting down", "Try again when it runs again.", 5)
STORE_AWAY = unavailable(
    "The store can’t be read now", "The arena’s database can’t be read now; the log of the server says why.", 5
).model_copy(update={"is_store_away": True})
"""In place of the error's own text, which may name directories of the machine."""
STORE_UNWRITABLE = unavailable(
    "Nothing can be kept now",
    "The arena’s home can’t be written now, so nothing was done; the log of the server says why.",
    30,
)
CHANGING = unavailable(
    "Changed while it was read",
    "A tournament was changed each time that it was read; try again in a few seconds.",
    2,
)
"""Such as while bots enter a ladder one after the other; the stored data is fine."""


MALFORMED_STATUS = 422
"""For malformed stored data, and for rules that fail."""


def problem_of(error: Exception) -> Problem:
    """Return the problem for an error; ``DEFECT`` if we never raise it on purpose."""
    match error:
        case ProblemError():
            return error.problem
        case InvitationError():
            return _problem(404, "This link can’t be used", text_of(error))
        case NothingYetError():
            return _problem(404, "Nothing here yet", text_of(error))
        case UnknownNameError():
            return _problem(404, "Not found", text_of(error), _suggested(error))
        case OptionError():
            return _problem(404, "Not found", text_of(error))
        case UnwritableError():
            return STORE_UNWRITABLE
        case DatabaseError() | NoHomeError():
            return STORE_AWAY
        case ChangedMeanwhileError():
            return CHANGING
        case StoreError():
            return _problem(MALFORMED_STATUS, "What is stored can’t be shown", text_of(error))
        case GameError():
            return _problem(MALFORMED_STATUS, "The rules of the game fail here", text_of(error))
        case ValidationError():
            return _problem(400, "This address is not right", _first_mistake(error))
        case ArenaError():
            return _problem(400, "This address is not right", text_of(error))
    return DEFECT


class AwayLog:
    """Logs why a database can't be used, which responses do not say."""

    def __init__(self) -> None:
        self._reported, self._reported_at = "", float("-inf")

    def note(self, error: Exception) -> None:
        """Log an error of a database, and the same error again only after a minute."""
        sentence = str(error)
        is_new = sentence != self._reported or time.monotonic() - self._reported_at >= REPORT_AGAIN_SECONDS
        if isinstance(error, DatabaseError | NoHomeError) and is_new:
            self._reported, self._reported_at = sentence, time.monotonic()
            _log.error("%s", sentence)


def require_parameters(parameters: type[BaseModel], fields: Collection[str], query: Iterable[str]) -> None:
    """Raise ProblemError unless the page takes each name of the query; ``fields`` are those in its path."""
    accepted = [name for name in parameters.model_fields if name not in fields]
    for name in query:
        if name not in accepted:
            is_expected = suggestion(name, accepted) if accepted else "it takes none"
            raise bad_address(f"{shortened_text(name)!r} is no parameter of this page; {is_expected}")


def bad_address(sentence: str, status: int = 400, *suggested: str) -> ProblemError:
    """Return the error for an address that no page has; ``suggested`` are those that may be meant."""
    title = "Not found" if status == 404 else "This address is not right"
    return ProblemError(_problem(status, title, sentence, suggested))


def _suggested(error: UnknownNameError) -> tuple[str, ...]:
    """Return the address of the thing that may be meant, where such things have pages of their own."""
    page, near = PAGE_BY_NAME.get(error.kind), nearest(error.name, error.known)
    if page is None or near is None or page.path_fields != (error.kind,):
        return ()
    address = address_of(page, {error.kind: near})
    return () if address is None else (address,)


def _problem(status: int, title: str, sentence: str, suggested: tuple[str, ...] = ()) -> Problem:
    bounded = printable(sentence[:MAX_SENTENCE_CHARACTERS])
    return Problem(status=status, title=title, error=bounded, suggested=suggested)


def _first_mistake(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    name = ".".join(map(str, first["loc"]))
    return f"{name} = {shortened_text(str(first['input']))!r}: {first['msg'][:1].lower()}{first['msg'][1:]}"
