"""Durations as options: 60s, 5m or 2h."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

MAX_SECONDS = 30 * 86_400.0

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(s|m|h|)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _read_duration(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    """Return the seconds that an option says.

    Raises:
        click.BadParameter: if it is no duration.
    """
    if text is None:
        return None
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= MAX_SECONDS:
        raise click.BadParameter(f"{text!r}: expected a duration such as 60s, 5m or 2h, of 30 days at most")
    return seconds


def within_option(help_text: str, default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return ``--within``, the time that a command may take for something, in seconds.

    Args:
        help_text: for what.
        default: a duration; None if there is no limit without it.
    """
    return click.option(
        "--within",
        "within_seconds",
        metavar="DURATION",
        callback=_read_duration,
        default=default,
        show_default=True,
        help=help_text,
    )
