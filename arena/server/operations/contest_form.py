"""A contest as the fields of a form, and back to the TOML text that is read: only there is anything checked."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from arena.base.records import DEFAULT_LIMITS, MEBIBYTE
from arena.base.stored import is_plain
from arena.base.text import toml_text
from arena.community.contests.template_texts import template_summary, template_text
from arena.store.people.contest import Contest, ContestEntrants, ContestResults

NO_QUALIFICATION = "none"
EXAMPLE_NAME = "spring"
FROZEN_HOURS, PLACES = 4.0, 8
"""In the form where a template has none."""
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
_MAX_DIGITS = 18
"""Of a number, which has 64 bits in TOML."""
_BETWEEN_NAMES = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A contest to begin with, as ``arena contest new`` prints it.

    Attributes:
        summary: what it is good for.
        fields: what is in the form at first.
        house_bots: that play along.
        text: as TOML.
    """

    summary: str
    fields: Mapping[str, str]
    house_bots: tuple[str, ...]
    text: str


def form_template(name: str, now: datetime) -> Template:
    """Return a template as the fields of the form.

    Args:
        name: one of ``template_names()``.
        now: the time, UTC.
    """
    text = template_text(name, EXAMPLE_NAME, "UTC", now)
    values = tomllib.loads(text)
    qualification = values.get("qualification", {})
    fields = {
        "name": "",
        "title": "",
        "description": values["description"],
        "game": values["game"],
        "options": json.dumps(values["options"]),
        "opens_at": values["opens_at"].isoformat(),
        "deadline_at": values["deadline_at"].isoformat(),
        "time_zone": values["time_zone"],
        "entrants": values["entrants"],
        "invited": "",
        "bots_per_author": str(values["bots_per_author"]),
        "results": values["results"],
        "frozen_hours": f"{values.get('frozen_hours', FROZEN_HOURS):g}",
        "reveal_at": "",
        "ladders": "",
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
    """Return how a ladder ends that is a qualification: as that of the template of a cup does."""
    table: Mapping[str, float] = tomllib.loads(template_text("cup", EXAMPLE_NAME, "UTC", datetime.now(UTC)))[
        "qualification"
    ]["ladder"]
    return table


def form_text(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> str:
    """Return what was sent with a form as TOML. It is checked where the text is read."""
    return "\n".join(_form_lines(sent, house_bots)) + "\n"


def _form_lines(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> Iterator[str]:
    for key in ("name", "title", "description", "game", "time_zone", "entrants", "results"):
        yield f"{key} = {toml_text(sent[key])}"
    yield f"options = {_options(sent['options'])}"
    for key in ("opens_at", "deadline_at"):
        yield f"{key} = {time_value(sent[key])}"
    if sent["entrants"] == ContestEntrants.INVITED or sent["invited"].strip():
        yield f"invited = {names_value(sent['invited'])}"
    yield f"bots_per_author = {_number(sent['bots_per_author'])}"
    yield f"house_bots = {toml_text(house_bots)}"
    if sent["results"] == ContestResults.FROZEN:
        yield f"frozen_hours = {_number(sent['frozen_hours'])}"
    if sent["reveal_at"]:
        yield f"reveal_at = {time_value(sent['reveal_at'])}"
    if sent["ladders"]:
        yield f"ladders = {_truth(sent['ladders'])}"
    yield from ("[time_control]", f"per_action_seconds = {_number(sent['per_action_seconds'])}")
    yield from ("[limits]", f"memory_bytes = {_mebibytes(sent['memory_mib'])}")
    if sent["qualification"] != NO_QUALIFICATION:
        yield from ("[qualification]", f"format = {toml_text(sent['qualification'])}")
        yield f"places = {_number(sent['places'])}"
        if sent["qualification"] == "ladder":
            yield from ("[qualification.ladder]", *(f"{key} = {value}" for key, value in _ladder().items()))
    yield from ("[final]", f"format = {toml_text(sent['final'])}", f"encounters = {_number(sent['encounters'])}")


def changed_text(text: str, changes: Mapping[str, str]) -> str:
    """Return the text of a contest with other values.

    Args:
        text: as ``contest_text`` writes it: each key before the first table is in a line of its own.
        changes: TOML by key; "" for a key that is left out.
    """
    head, bracket, tables = text.partition("\n[")
    lines = {line.partition(" = ")[0]: line for line in head.splitlines()}
    lines |= {key: f"{key} = {value}" if value else "" for key, value in changes.items()}
    return "\n".join(line for line in lines.values() if line) + f"\n{bracket}{tables}"


def changeable_fields(contest: Contest) -> dict[str, str]:
    """Return what the form that changes a contest has in its fields at first."""
    fields = {
        "title": contest.title,
        "description": contest.description,
        "deadline_at": _local(contest, contest.deadline_at),
    }
    if contest.results is not ContestResults.OPEN:
        fields["reveal_at"] = _local(contest, contest.reveal_at) if contest.reveal_at is not None else ""
    if contest.entrants is ContestEntrants.INVITED:
        fields["invited"] = ", ".join(contest.invited)
    return fields


VALUES: Mapping[str, Callable[[str], str]] = {
    "title": toml_text,
    "description": toml_text,
    "deadline_at": lambda sent: time_value(sent),
    "reveal_at": lambda sent: time_value(sent) if sent else "",
    "invited": lambda sent: names_value(sent),
}
"""What the fields of that form are in TOML."""


def _local(contest: Contest, at: str) -> str:
    return contest.local(at).replace(tzinfo=None).isoformat(timespec="seconds")


def time_value(text: str) -> str:
    """Return a day and time, as browsers send it, as TOML; any other text as such, which is then refused."""
    found = _TIME.fullmatch(text.strip())
    return f"{found[1]}T{found[2]}{found[3] or ':00'}" if found else toml_text(text)


def names_value(text: str) -> str:
    """Return names between commas, spaces and line ends as TOML."""
    return toml_text([name for name in _BETWEEN_NAMES.split(text) if name])


def _number(text: str) -> str:
    """Return a number as TOML; any other text as such, which is then refused."""
    number = text.strip()
    return number if _NUMBER.fullmatch(number) and len(number) <= _MAX_DIGITS else toml_text(text)


def _truth(text: str) -> str:
    """Return what is true or false as TOML; any other text as such, which is then refused."""
    return text if text in ("true", "false") else toml_text(text)


def _mebibytes(text: str) -> str:
    number = _number(text)
    return str(int(number) * MEBIBYTE) if number.isdecimal() and len(number) < _MAX_DIGITS // 2 else toml_text(text)


def _options(text: str) -> str:
    """Return a JSON object as TOML; any other text as such, which is then refused."""
    try:
        found = json.loads(text or "{}", parse_constant=_no_number)
        if isinstance(found, dict) and is_plain(found):
            return toml_text(found)
    except (ValueError, RecursionError):
        pass
    return toml_text(text)


def _no_number(text: str) -> None:
    raise ValueError(text)
