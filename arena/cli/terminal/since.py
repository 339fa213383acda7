"""A point in time on the command line: a date, or an age."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_AGE = re.compile(r"(\d{1,4})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def read_since(_context: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """Return the time that an option says: a date, also with a time, or an age; in UTC unless it has another zone.

    Raises:
        click.BadParameter: if it is neither.
    """
    if text is None:
        return None
    age = _AGE.fullmatch(text)
    if age is not None:
        return datetime.now(UTC) - int(age[1]) * _UNITS[age[2]]
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r}: expected a date such as 2026-03-01, or an age such as 12h, 30d or 8w"
        ) from None
