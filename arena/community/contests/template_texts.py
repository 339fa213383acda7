"""Contests to begin with, as TOML texts with comments."""

from __future__ import annotations

from datetime import datetime, timedelta

from arena.base.errors import UnknownNameError
from arena.base.shipped import path_of

_DIRECTORY = path_of("arena.community.contests") / "templates"
DAYS = 7
"""From the opening to the deadline."""


def template_names() -> tuple[str, ...]:
    """Return the names of the templates."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("*.toml")))


def template_summary(template: str) -> str:
    """Return what a template is good for, which its first line says."""
    first = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].removesuffix(".")


def template_text(template: str, name: str, time_zone: str, today: datetime) -> str:
    """Return the text of a contest that opens tomorrow at eight and lasts a week.

    Args:
        template: its name.
        name: of the contest.
        time_zone: of the contest.
        today: the time there.

    Raises:
        UnknownNameError: if there is no such template.
    """
    if template not in template_names():
        raise UnknownNameError("template", template, template_names())
    opens_at = today.replace(hour=8, minute=0, second=0, microsecond=0, tzinfo=None) + timedelta(days=1)
    deadline_at = opens_at.replace(hour=23, minute=59, second=59) + timedelta(days=DAYS)
    values = {
        "NAME": name,
        "TITLE": name.capitalize(),
        "OPENS_AT": opens_at.isoformat(),
        "DEADLINE_AT": deadline_at.isoformat(),
        "REVEAL_AT": (deadline_at + timedelta(days=1)).isoformat(),
        "TIME_ZONE": time_zone,
    }
    text = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
