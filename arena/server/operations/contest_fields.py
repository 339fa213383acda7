"""The fields of the forms that make and change contests, and which of them a mistake in a contest is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field

from arena.base.errors import ContestError, DefinitionError, UsageError
from arena.base.mistake import Mistake
from arena.base.records import LIMITS, MEBIBYTE
from arena.server.gate.operation import REASON_TITLE, Fields
from arena.server.http.problems import FieldProblem

MAX_TEXT_CHARACTERS = 64 * 1024

Texts = Annotated[tuple[str, ...], BeforeValidator(lambda sent: (sent,) if isinstance(sent, str) else sent)]


class ContestNamed(Fields):
    """Which contest."""

    name: str = Field(min_length=1, max_length=64)


class WhichTemplate(Fields):
    """What the form of a new contest begins with."""

    template: str = Field("class", max_length=64)


class NewContest(WhichTemplate):
    """A new contest: the fields of the form in its order, or the text in TOML. All of it is checked as the text is."""

    model_config = ConfigDict(str_max_length=MAX_TEXT_CHARACTERS)
    SEVERAL_LINES: ClassVar[tuple[str, ...]] = ("text", "description", "invited")

    title: str = Field("", title="Title")
    name: str = Field("", title="Name, for addresses")
    description: str = Field("", title="Description")
    opens_at: str = Field("", title="Opens")
    deadline_at: str = Field("", title="Deadline")
    time_zone: str = Field("", title="Time zone")
    entrants: str = Field("", title="Who may enter")
    bots_per_author: str = Field("", title="Bots of each author")
    invited: str = Field("", title="Invited, by name")
    game: str = Field("", title="Game")
    options: str = Field("", title="Options, as JSON")
    per_action_seconds: str = Field("", title="Seconds for an action")
    memory_mib: str = Field("", title="Memory of a bot, in MiB")
    house_bots: Annotated[Texts, Field(title="House bots that play along", max_length=50)] = ()
    qualification: str = Field("", title="Qualification")
    places: str = Field("", title="How many go on from it")
    final: str = Field("", title="Format of the final, or of everything")
    encounters: str = Field("", title="Encounters of each pairing")
    results: str = Field("", title="Results are")
    frozen_hours: str = Field("", title="How many last hours before the deadline")
    reveal_at: str = Field("", title="Revealed at; by a director if empty")
    ladders: str = Field("", title="While results are hidden, bots that can enter")
    text: str = Field("", title="The contest")


class Change(ContestNamed):
    """What becomes different; the whole text in TOML, or some of what can be changed after the opening."""

    model_config = ConfigDict(str_max_length=MAX_TEXT_CHARACTERS)
    SEVERAL_LINES: ClassVar[tuple[str, ...]] = ("text", "description", "invited")

    reason: str = Field("", title=REASON_TITLE)
    text: str = Field("", title="The contest")
    title: str | None = Field(None, title="Title")
    description: str | None = Field(None, title="Description")
    deadline_at: str | None = Field(None, title="Deadline")
    reveal_at: str | None = Field(None, title="Revealed at; by a director if empty")
    invited: str | None = Field(None, title="Invited, by name")


def titles_of(form: type[Fields]) -> dict[str, str]:
    """Return what pages call the fields of a form."""
    return {name: field.title for name, field in form.model_fields.items() if field.title is not None}


TITLES = titles_of(NewContest) | {"reason": REASON_TITLE}
"""In the order of the forms."""
CHOICES = {
    "entrants": (("everybody", "everybody with an account"), ("invited", "who is invited")),
    "qualification": (
        ("none", "none"),
        ("ladder", "a ladder from the opening on"),
        ("round-robin", "round robin after the deadline"),
        ("swiss", "Swiss after the deadline"),
    ),
    "results": (
        ("open", "always shown"),
        ("frozen", "hidden for the last hours, until revealed"),
        ("sealed", "hidden until revealed"),
    ),
    "ladders": (
        ("", "play nowhere in public"),
        ("true", "play on, which gives away how strong they are"),
    ),
}
"""The values of fields, and what pages call them."""

_OF_KEYS = {
    "time_control": "per_action_seconds",
    "limits": "memory_mib",
    "qualification.places": "places",
    "final.encounters": "encounters",
}
"""The fields of keys that have other names."""
_LISTS = ("invited", "house_bots")


def fields_refused(error: UsageError, sent: Mapping[str, Any], is_program: bool) -> tuple[FieldProblem, ...]:
    """Return which fields of a form, or of JSON, a refusal of a contest is about, in their words.

    Args:
        error: the refusal.
        sent: the fields.
        is_program: whether a program has sent them, which knows their names and not what pages call them.
    """
    text = sent.get("text")
    has_text = isinstance(text, str) and bool(text.strip())
    if isinstance(error, ContestError):
        found = _of_text(error) if has_text else _of_fields(error, is_program)
        return tuple(sorted(found, key=lambda one: [*TITLES, ""].index(one.field)))
    if isinstance(error, DefinitionError) and has_text:
        return (FieldProblem(field="text", title=TITLES["text"], error=str(error)),)
    return ()


def _of_text(error: ContestError) -> Iterator[FieldProblem]:
    for one in error.mistakes:
        if one.place == "reason":
            yield _problem_of(one, is_program=False)
        else:
            yield FieldProblem(field="text", title=TITLES["text"], error=one.text)


def _of_fields(error: ContestError, is_program: bool) -> Iterator[FieldProblem]:
    for one in error.mistakes:
        yield _problem_of(one, is_program)


def _problem_of(mistake: Mistake, is_program: bool) -> FieldProblem:
    def named(key: str, value: str) -> str:
        field = field_of(key) or key
        if is_program:
            return f"{field} = {value!r}" if value else field
        called = dict(CHOICES.get(field, ())).get(value, value)
        return f"“{TITLES.get(field, field)}{f': {called}' if called else ''}”"

    field = field_of(mistake.place)
    sentence = mistake.sentence_with(named)
    if field == "memory_mib":
        limit = LIMITS["memory_bytes"]
        sentence = f"expected a whole number from {limit.minimum // MEBIBYTE:,} to {limit.maximum // MEBIBYTE:,}"
    inner = mistake.place.partition(".")[2] if field == mistake.place.partition(".")[0] else ""
    if mistake.value and (inner or field in _LISTS):
        sentence = f"{inner} = {mistake.value}: {sentence}" if inner else f"{mistake.value}: {sentence}"
    title = field if is_program else TITLES.get(field, mistake.place)
    return FieldProblem(field=field, title=title, error=sentence)


def field_of(place: str) -> str:
    """Return the field that a place in the text of a contest comes from; "" if none does."""
    key = place.partition("[")[0]
    first = key.partition(".")[0]
    field = _OF_KEYS.get(key) or _OF_KEYS.get(first) or first
    return field if field in TITLES else ""
