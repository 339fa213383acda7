"""An operation that people do: what its handler is decorated with, from which permission, limits and OpenAPI follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints
from unicodedata import category

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, create_model, field_validator
from pydantic_core import PydanticCustomError

from arena.base.errors import UsageError
from arena.base.names import MAX_REASON_CHARACTERS, is_printable
from arena.community.submissions.upload_directory import Received, UploadDirectory
from arena.server.gate.homes import HomePlace, Homes
from arena.server.gate.request import MAX_BODY_BYTES, Actor
from arena.server.http.problems import FieldProblem
from arena.site.frame.model import Model, Page, Parameters
from arena.site.render import Setting
from arena.store.people.people_store import PeopleStore
from arena.store.people.rates import Rate
from arena.store.people.unrated_match import Shown
from arena.store.people.values import Permission, Person


class Who(StrEnum):
    """Who may do it, where no permission says so."""

    ANYBODY = "anybody"
    MEMBER = "member"
    """Who has signed in, or a program of theirs."""
    MEMBER_IN_BROWSER = "member in a browser"
    """Who has signed in, and no program: it is about what proves who they are."""
    PROGRAM = "program"
    """A program of a member."""


def has_controls(text: str) -> bool:
    """Return whether a text has control characters or halves of characters."""
    return any(category(letter) in ("Cc", "Cs") for letter in text)


SEVERAL_LINES = "several lines"
"""Annotates a text that may have line breaks."""


class Fields(BaseModel):
    """The fields of a form or of JSON, and those in the path."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", str_max_length=2000, hide_input_in_errors=True, defer_build=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _without_controls(cls, value: object, info: ValidationInfo) -> object:
        """Reject text that no form sends and not every database takes."""
        has_lines = SEVERAL_LINES in cls.model_fields[info.field_name or ""].metadata
        if has_lines and isinstance(value, str):
            value = value.replace("\r\n", "\n")
            texts: Sequence[object] = value.replace("\t", "\n").split("\n")
        else:
            texts = value if isinstance(value, list | tuple) else (value,)
        if any(has_controls(text) for text in texts if isinstance(text, str)):
            expected = "text" if has_lines else "text in one line,"
            raise PydanticCustomError(
                "control_character", "Expected {expected} without control characters", {"expected": expected}
            )
        return value


def _not_blank(text: str) -> str:
    if not any(is_printable(letter) and letter != " " for letter in text):
        raise PydanticCustomError("blank", "This is empty")
    return text


Readable = AfterValidator(_not_blank)
"""For a text that others read: something in it can be seen."""

REASON_TITLE = "Why, for the public log"
Reason = Annotated[str, Field(title=REASON_TITLE, min_length=1, max_length=MAX_REASON_CHARACTERS), Readable]
"""Why something is done, for others to read."""
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""Of a session, token, invitation, submission, match, correction or line."""


class NoFields(Fields):
    """Nothing is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request for an operation: who asks, and what handlers work with.

    ``site`` is the address of the site as the request has it, ``address`` that of the client.
    """

    actor: Actor
    people: PeopleStore
    uploads: UploadDirectory
    homes: Homes
    received: Received | None
    site: str
    address: str
    device: str

    @property
    def person(self) -> Person:
        """Who asks, where only members may."""
        assert self.actor.person is not None
        return self.actor.person

    @property
    def unseen(self) -> Mapping[int, int]:
        """How many messages are new for whoever asks, by contest."""
        person, is_director = self.actor.number, Permission.DIRECT in self.actor.permissions
        return {} if person is None else self.people.contest_messages.unseen(person, is_director=is_director)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A result that leads a browser to a page of ours.

    Attributes:
        sentence: what was done, for programs.
        session: the secret of a session that has begun; "" if the present one has ended, None for neither.
    """

    to: str
    sentence: str
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A result that is a file, to be kept and not shown."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A result that is a file made for who asks; it is kept and not shown."""

    content: bytes
    media_type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfHome:
    """A page of another home than the public one."""

    page: Page
    parameters: Parameters
    model: Model
    setting: Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ToShow:
    """A result that needs pages of a home, built in a process; ``finish`` gets their models in a thread.

    Nobody waits long, so that a model may be None which is not there now, unless all of them ``are_awaited``.
    """

    home: HomePlace
    pages: Sequence[tuple[Page, Parameters]]
    finish: Callable[[Sequence[Any]], Result]
    are_awaited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """A result that reports changes of an unrated match as long as somebody listens; ``shown`` is its state now."""

    number: int
    shown: Shown


Result: TypeAlias = "Model | Done | Download | Document | OfHome | ToShow | Follow"

Handler = Callable[[Visit, Any], Result]
"""Does it with what was sent, in a thread of its own; may raise our errors."""


def _no_handler(visit: Visit, sent: Any) -> Result:
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that people do, or a page for a person: the decorator of its handler.

    The parameters of the handler after the visit are the fields of the request, or one is a model that has them.

    Attributes:
        template: its name; "" for none.
        fields: by default, those that the handler names.
        model: the result, by default as the handler declares it; None if a browser is led elsewhere.
        summary: for the OpenAPI document; by default the first line of the handler's docstring.
        room: the service of the site's navigation that it belongs to.
        rate: how often for one person; from one network, if anybody may.
        form: the path of the page that shows a rejected form again; "" for a page with the problem alone.
        fields_refused: returns the fields an error is about, from the error, what was sent, and whether by a program.
        only_in_browser: whether no token is good for it.
        is_in_the_open: whether there is no secret in it, so that others may read it on its way.
        media_type: of the file or the stream that is returned; "" for neither.
    """

    method: str
    path: str
    who: Permission | Who
    template: str = ""
    _: KW_ONLY
    fields: type[BaseModel] = NoFields
    model: type[Model] | None = None
    summary: str = ""
    room: str = "account"
    rate: Rate | None = None
    form: str = ""
    fields_refused: Callable[[UsageError, Mapping[str, Any], bool], tuple[FieldProblem, ...]] = lambda *_: ()
    takes_password: bool = False
    takes_upload: bool = False
    only_in_browser: bool = False
    is_in_the_open: bool = False
    media_type: str = ""
    max_body_bytes: int = MAX_BODY_BYTES
    handler: Handler = _no_handler

    def __call__(self, function: Callable[..., Result]) -> Operation:
        """Return the operation with its handler."""
        hints = get_type_hints(function, include_extras=True)
        fields, handler = _fields_of(function, hints, self.fields)
        returned = get_args(hints["return"]) or (hints["return"],)
        models = [kind for kind in returned if isinstance(kind, type) and issubclass(kind, Model)]
        return replace(
            self,
            handler=handler,
            fields=fields,
            model=self.model or next(iter(models), None),
            summary=self.summary or (function.__doc__ or "").partition("\n")[0],
        )


def _fields_of(
    function: Callable[..., Result], hints: Mapping[str, Any], declared: type[BaseModel]
) -> tuple[type[BaseModel], Handler]:
    """Return the fields of a request, and a handler that gets them as one model."""
    _, *parameters = signature(function).parameters.values()
    kinds = [hints[parameter.name] for parameter in parameters]
    if declared is not NoFields:
        return declared, function
    if not parameters:
        return NoFields, lambda visit, _: function(visit)
    if isinstance(kinds[0], type) and issubclass(kinds[0], BaseModel):
        return kinds[0], function
    fields: dict[str, Any] = {
        parameter.name: (kind, ... if parameter.default is Parameter.empty else parameter.default)
        for parameter, kind in zip(parameters, kinds, strict=True)
    }
    model = create_model(function.__name__, __base__=Fields, **fields)
    return model, lambda visit, sent: function(visit, **{name: getattr(sent, name) for name in fields})
