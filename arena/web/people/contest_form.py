"""A contest as the fields of a form, and back to the TOML text that is read: only there is anything checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena.people.contest import Contest, ContestEntrants, ContestResults
from arena.records import MEBIBYTE

NO_QUALIFICATION = "none"
QUALIFICATION_MARGIN = "1.5"
"""The widest ± 95 % interval at which a ladder ends as a qualification, unless somebody says otherwise."""

_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_BETWEEN_NAMES = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A contest to begin with.

    Attributes:
        summary: what it is good for.
        fields: what is in the form at first.
        house_bots: that play along.
    """

    summary: str
    fields: Mapping[str, str]
    house_bots: tuple[str, ...] = ()


_COMMON = {
    "name": "",
    "title": "",
    "description": "",
    "game": "differences",
    "options": '{"size": 6}',
    "opens_at": "",
    "deadline_at": "",
    "time_zone": "UTC",
    "entrants": "everybody",
    "invited": "",
    "bots_per_author": "1",
    "results": "frozen",
    "frozen_hours": "4",
    "reveal_at": "",
    "per_action_seconds": "1",
    "memory_mib": "2048",
    "qualification": NO_QUALIFICATION,
    "places": "8",
    "final": "round-robin",
    "encounters": "10",
}

TEMPLATES: Mapping[str, Template] = {
    "class": Template(
        summary="everybody plays everybody after the deadline; the results are revealed in class",
        fields=_COMMON | {"results": "sealed"},
        house_bots=("arena:random_legal", "arena:greedy"),
    ),
    "cup": Template(
        summary="a ladder that anybody can watch, frozen for the last hours; its first eight play a knockout",
        fields=_COMMON | {"qualification": "ladder", "final": "knockout", "encounters": "5"},
    ),
    "league": Template(
        summary="everybody plays everybody after the deadline, and all can watch",
        fields=_COMMON | {"results": "open", "encounters": "20"},
        house_bots=("arena:greedy",),
    ),
}

EXAMPLE = """\
name = "spring"
title = "Spring contest"
game = "differences"
options = { size = 6 }
opens_at = 2027-03-01T08:00:00
deadline_at = 2027-04-12T23:59:59
time_zone = "Europe/Berlin"
house_bots = ["arena:greedy"]
results = "frozen"
frozen_hours = 4.0

[qualification]
format = "ladder"
places = 8
[qualification.ladder]
margin_95 = 1.5

[final]
format = "knockout"
encounters = 5
"""


def form_text(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> str:
    """Return what was sent with a form as TOML. It is checked where the text is read."""
    return "\n".join(_form_lines(sent, house_bots)) + "\n"


def _form_lines(sent: Mapping[str, str], house_bots: tuple[str, ...]) -> Iterator[str]:
    for key in ("name", "title", "description", "game", "time_zone", "entrants", "results"):
        yield f"{key} = {text_value(sent[key])}"
    yield f"options = {_options(sent['options'])}"
    for key in ("opens_at", "deadline_at"):
        yield f"{key} = {time_value(sent[key])}"
    if sent["entrants"] == ContestEntrants.INVITED:
        yield f"invited = {names_value(sent['invited'])}"
    yield f"bots_per_author = {_number(sent['bots_per_author'])}"
    yield f"house_bots = {_value(house_bots)}"
    if sent["results"] == ContestResults.FROZEN:
        yield f"frozen_hours = {_number(sent['frozen_hours'])}"
    if sent["reveal_at"] and sent["results"] != ContestResults.OPEN:
        yield f"reveal_at = {time_value(sent['reveal_at'])}"
    yield from ("[time_control]", f"per_action_seconds = {_number(sent['per_action_seconds'])}")
    yield from ("[limits]", f"memory_bytes = {_mebibytes(sent['memory_mib'])}")
    if sent["qualification"] != NO_QUALIFICATION:
        yield from ("[qualification]", f"format = {text_value(sent['qualification'])}")
        yield f"places = {_number(sent['places'])}"
        if sent["qualification"] == "ladder":
            yield from ("[qualification.ladder]", f"margin_95 = {QUALIFICATION_MARGIN}")
    yield from ("[final]", f"format = {text_value(sent['final'])}", f"encounters = {_number(sent['encounters'])}")


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
    return {
        "title": contest.title,
        "description": contest.description,
        "deadline_at": _local(contest, contest.deadline_at),
        "reveal_at": _local(contest, contest.reveal_at) if contest.reveal_at is not None else "",
        "invited": ", ".join(contest.invited),
    }


VALUES: Mapping[str, Callable[[str], str]] = {
    "title": lambda sent: text_value(sent),
    "description": lambda sent: text_value(sent),
    "deadline_at": lambda sent: time_value(sent),
    "reveal_at": lambda sent: time_value(sent) if sent else "",
    "invited": lambda sent: names_value(sent),
}
"""What the fields of that form are in TOML."""


def _local(contest: Contest, at: str) -> str:
    return contest.local(at).replace(tzinfo=None).isoformat(timespec="seconds")


def text_value(text: str) -> str:
    """Return a text as TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def time_value(text: str) -> str:
    """Return a day and time, as browsers send it, as TOML; any other text as such, which is then refused."""
    found = _TIME.fullmatch(text.strip())
    return f"{found[1]}T{found[2]}{found[3] or ':00'}" if found else text_value(text)


def names_value(text: str) -> str:
    """Return names between commas, spaces and line ends as TOML."""
    return _value([name for name in _BETWEEN_NAMES.split(text) if name])


def _number(text: str) -> str:
    """Return a number as TOML; any other text as such, which is then refused."""
    return text.strip() if _NUMBER.fullmatch(text.strip()) else text_value(text)


def _mebibytes(text: str) -> str:
    number = _number(text)
    return str(int(number) * MEBIBYTE) if number.isdecimal() else text_value(text)


def _options(text: str) -> str:
    """Return a JSON object as TOML; any other text as such, which is then refused."""
    try:
        found = json.loads(text or "{}", parse_constant=_no_number)
        if isinstance(found, dict):
            return _value(found)
    except (ValueError, RecursionError):
        pass
    return text_value(text)


def _no_number(text: str) -> None:
    raise ValueError(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{text_value(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return text_value(value)
    if value is None:
        raise ValueError("null")
    return json.dumps(value)
