"""The forms that make and change contests: their fields, and the TOML text that is read and checked."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from arena.base.errors import ContestError, DefinitionError, Mistake, UsageError
from arena.base.records import DEFAULT_LIMITS, LIMITS, MEBIBYTE
from arena.base.stored import is_plain
from arena.base.text import toml_text
from arena.community.contests.contest_text import local_text, template_summary, template_text
from arena.server.gate.operation import REASON_TITLE, SEVERAL_LINES, Fields
from arena.server.http.problems import FieldProblem
from arena.site.matches.games_model import MAX_OPTION_FIELDS, option_fields
from arena.store.people.contest import Contest, ContestEntrants, ContestResults

MAX_TEXT_CHARACTERS = 64 * 1024
_OPTION_NUMBER = re.compile(r"\d{1,18}", re.ASCII)

# Conversions between the values of a contest, the fields of the form, and TOML. A text that is not of the expected kind
# becomes a TOML string, which the contest then rejects.

_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
_MAX_DIGITS = 18
"""Of a number, which has 64 bits in TOML."""
_BETWEEN_NAMES = re.compile(r"[\s,;]+")


def time_value(text: str) -> str:
    """Return a date and time from a browser as TOML; any other text as a string, which the contest then rejects."""
    parts = _TIME.fullmatch(text.strip())
    return f"{parts[1]}T{parts[2]}{parts[3] or ':00'}" if parts else toml_text(text)


def _number(text: str) -> str:
    """Return a number as TOML; any other text as a string, which the contest then rejects."""
    number = text.strip()
    return number if _NUMBER.fullmatch(number) and len(number) <= _MAX_DIGITS else toml_text(text)


def _mebibytes(text: str) -> str:
    number = _number(text)
    return str(int(number) * MEBIBYTE) if number.isdecimal() and len(number) < _MAX_DIGITS // 2 else toml_text(text)


def _options(text: str) -> str:
    options = read_options(text)
    return toml_text(text if options is None else options)


def _no_number(text: str) -> None:
    raise ValueError(text)


def read_options(text: str) -> dict[str, Any] | None:
    """Return the options of a game from JSON; None if it is no object, or TOML can't say it."""
    try:
        options = json.loads(text or "{}", parse_constant=_no_number)
        return options if isinstance(options, dict) and is_plain(options) and toml_text(options) else None
    except (ValueError, RecursionError):
        return None


class Kind(NamedTuple):
    """A kind of field: what it shows of a value, and what was sent as TOML; "" leaves the key out."""

    shown: Callable[[Any], str]
    toml: Callable[[str], str]


TEXT = Kind(str, toml_text)
NUMBER = Kind("{:g}".format, _number)
TIME = Kind(datetime.isoformat, time_value)
TIME_IF_ANY = Kind(datetime.isoformat, lambda sent: time_value(sent) if sent else "")
NAMES = Kind(", ".join, lambda sent: toml_text([name for name in _BETWEEN_NAMES.split(sent) if name]))
FLAG = Kind(json.dumps, lambda sent: sent if sent in ("", "true", "false") else toml_text(sent))
OPTIONS = Kind(json.dumps, _options)

Texts = Annotated[tuple[str, ...], BeforeValidator(lambda sent: (sent,) if isinstance(sent, str) else sent)]


ContestName = Annotated[str, Field(min_length=1, max_length=64)]


class WhichTemplate(Fields):
    """What the form of a new contest begins with."""

    template: str = Field("class", title="Template", max_length=64)
    game: Annotated[str, TEXT] = Field("", title="Game", max_length=64)


class NewContest(WhichTemplate):
    """A new contest: the fields of the form in its order, or the text in TOML. All of it is checked as the text is.

    The options of the game are an object as JSON, or in fields such as ``option_size``.
    """

    model_config = ConfigDict(str_max_length=MAX_TEXT_CHARACTERS)

    title: Annotated[str, TEXT] = Field("", title="Title")
    name: Annotated[str, TEXT] = Field("", title="Name, for addresses")
    description: Annotated[str, TEXT, SEVERAL_LINES] = Field("", title="Description")
    opens_at: Annotated[str, TIME] = Field("", title="Opens")
    deadline_at: Annotated[str, TIME] = Field("", title="Deadline")
    time_zone: Annotated[str, TEXT] = Field("", title="Time zone")
    entrants: Annotated[str, TEXT] = Field("", title="Who may enter")
    bots_per_author: Annotated[str, NUMBER] = Field("", title="Bots of each author")
    invited: Annotated[str, NAMES, SEVERAL_LINES] = Field("", title="Invited, by name")
    options: Annotated[str, OPTIONS] = Field("", title="Options of the game")
    per_action_seconds: str = Field("", title="Seconds for an action")
    memory_mib: str = Field("", title="Memory of a bot, in MiB")
    house_bots: Annotated[Texts, Field(title="House bots that play along", max_length=50)] = ()
    qualification: str = Field("", title="Qualification")
    places: str = Field("", title="How many go on from it")
    final: str = Field("", title="Format of the final, or of everything")
    encounters: str = Field("", title="Encounters of each pairing")
    results: Annotated[str, TEXT] = Field("", title="Results are")
    frozen_hours: Annotated[str, NUMBER] = Field("", title="How many last hours before the deadline")
    reveal_at: Annotated[str, TIME_IF_ANY] = Field("", title="Revealed at; by a director if empty")
    ladders: Annotated[str, FLAG] = Field("", title="While results are hidden, bots that can enter")
    text: Annotated[str, SEVERAL_LINES] = Field("", title="The contest")

    @model_validator(mode="before")
    @classmethod
    def _with_options_of_the_form(cls, given: Any) -> Any:
        fields, rest = option_fields(given)
        if not fields or len(fields) > MAX_OPTION_FIELDS or not all(isinstance(one, str) for one in fields.values()):
            return given
        options = {name: int(one) if _OPTION_NUMBER.fullmatch(one) else one for name, one in fields.items() if one}
        return {**rest, "options": json.dumps(options)}


class FormSoFar(NewContest):
    """What was typed into the form, and the template and game to continue with.

    ``before`` is the template and the game that the form had, with a space between them.
    """

    before: str = Field("", max_length=130)


class Change(Fields):
    """What becomes different; the whole text in TOML, or some of what can be changed after the opening."""

    model_config = ConfigDict(str_max_length=MAX_TEXT_CHARACTERS)

    name: ContestName
    reason: str = Field("", title=REASON_TITLE)
    before: str = ""
    text: Annotated[str, SEVERAL_LINES] = Field("", title="The contest")
    title: str | None = Field(None, title="Title")
    description: Annotated[str | None, SEVERAL_LINES] = Field(None, title="Description")
    deadline_at: str | None = Field(None, title="Deadline")
    reveal_at: str | None = Field(None, title="Revealed at; by a director if empty")
    invited: Annotated[str | None, SEVERAL_LINES] = Field(None, title="Invited, by name")


def titles_of(form: type[Fields]) -> dict[str, str]:
    """Return what pages call the fields of a form."""
    return {name: field.title for name, field in form.model_fields.items() if field.title is not None}


KINDS = {
    name: kind for name, field in NewContest.model_fields.items() for kind in field.metadata if isinstance(kind, Kind)
}
"""Of the fields that are keys of a contest, above its tables."""
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

_FIELD_BY_KEY = {
    "time_control": "per_action_seconds",
    "limits": "memory_mib",
    "qualification.places": "places",
    "final.encounters": "encounters",
}
"""The fields of keys that have other names."""
_LISTS = ("invited", "house_bots")


def fields_refused(error: UsageError, sent: Mapping[str, Any], is_program: bool) -> tuple[FieldProblem, ...]:
    """Return which fields of a form, or of JSON, an error of a contest is about; programs read names, people titles."""
    text = sent.get("text")
    has_text = isinstance(text, str) and bool(text.strip())
    if isinstance(error, ContestError):
        problems = (
            FieldProblem(field="text", title=TITLES["text"], error=mistake.text)
            if has_text and mistake.place != "reason"
            else _problem_of(mistake, is_program and not has_text)
            for mistake in error.mistakes
        )
        return tuple(sorted(problems, key=lambda problem: [*TITLES, ""].index(problem.field)))
    if isinstance(error, DefinitionError) and has_text:
        return (FieldProblem(field="text", title=TITLES["text"], error=str(error)),)
    return ()


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
    field = _FIELD_BY_KEY.get(key) or _FIELD_BY_KEY.get(first) or first
    return field if field in TITLES else ""


# A contest becomes fields of the form, and the fields become TOML again; only the reader of the TOML checks them.

NO_QUALIFICATION = "none"
EXAMPLE_NAME = "spring"
FROZEN_HOURS, PLACES = 4.0, 8
"""In the form where a template has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A contest to begin with, as ``arena site contest new`` prints it: the fields of the form, and TOML."""

    summary: str
    fields: Mapping[str, str]
    house_bots: tuple[str, ...]
    text: str


def form_template(name: str, now: datetime) -> Template:
    """Return one of ``template_names()`` as the fields of the form, at this time (UTC)."""
    text = template_text(name, EXAMPLE_NAME, "UTC", now)
    values = tomllib.loads(text)
    qualification = values.get("qualification", {})
    begun = {name: field.default for name, field in NewContest.model_fields.items() if name in KINDS}
    fields = begun | {name: kind.shown(values[name]) for name, kind in KINDS.items() if name in values}
    fields |= {
        "name": "",
        "title": "",
        "frozen_hours": f"{values.get('frozen_hours', FROZEN_HOURS):g}",
        "per_action_seconds": f"{values['time_control']['per_action_seconds']:g}",
        "memory_mib": str(DEFAULT_LIMITS.memory_bytes // MEBIBYTE),
        "qualification": qualification.get("format", NO_QUALIFICATION),
        "places": str(qualification.get("places", PLACES)),
        "final": values["final"]["format"],
        "encounters": str(values["final"]["encounters"]),
    }
    return Template(summary=template_summary(name), fields=fields, house_bots=tuple(values["house_bots"]), text=text)


@cache
def _ladder() -> Mapping[str, float]:
    """Return the settings of a ladder as qualification: those of the template of a cup."""
    table: Mapping[str, float] = tomllib.loads(template_text("cup", EXAMPLE_NAME, "UTC", datetime.now(UTC)))[
        "qualification"
    ]["ladder"]
    return table


def form_text(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> str:
    """Return what was sent with a form as TOML. It is checked where the text is read."""
    return "\n".join(_form_lines(sent, house_bots)) + "\n"


def _form_lines(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> Iterator[str]:
    used = {
        "invited": sent["entrants"] == ContestEntrants.INVITED or bool(sent["invited"].strip()),
        "frozen_hours": sent["results"] == ContestResults.FROZEN,
    }
    for key, kind in KINDS.items():
        if used.get(key, True) and (value := kind.toml(sent[key])):
            yield f"{key} = {value}"
    yield f"house_bots = {toml_text(house_bots)}"
    yield from ("[time_control]", f"per_action_seconds = {_number(sent['per_action_seconds'])}")
    yield from ("[limits]", f"memory_bytes = {_mebibytes(sent['memory_mib'])}")
    if sent["qualification"] != NO_QUALIFICATION:
        yield from ("[qualification]", f"format = {toml_text(sent['qualification'])}")
        yield f"places = {_number(sent['places'])}"
        if sent["qualification"] == "ladder":
            yield from ("[qualification.ladder]", *(f"{key} = {value}" for key, value in _ladder().items()))
    yield from ("[final]", f"format = {toml_text(sent['final'])}", f"encounters = {_number(sent['encounters'])}")


def changed_text(text: str, changes: Mapping[str, str]) -> str:
    """Return the text of a contest, as ``contest_text`` writes it, with TOML by key; "" leaves a key out."""
    head, bracket, tables = text.partition("\n[")
    lines = {line.partition(" = ")[0]: line for line in head.splitlines()}
    lines |= {key: f"{key} = {value}" if value else "" for key, value in changes.items()}
    return "\n".join(line for line in lines.values() if line) + f"\n{bracket}{tables}"


def changeable_fields(contest: Contest) -> dict[str, str]:
    """Return what the form that changes a contest has in its fields at first."""
    fields = {
        "title": contest.title,
        "description": contest.description,
        "deadline_at": local_text(contest, contest.deadline_at),
    }
    if contest.results is not ContestResults.OPEN:
        fields["reveal_at"] = local_text(contest, contest.reveal_at) if contest.reveal_at is not None else ""
    if contest.entrants is ContestEntrants.INVITED:
        fields["invited"] = ", ".join(contest.invited)
    return fields
