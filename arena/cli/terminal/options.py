"""Options that commands share, and how their values are read: a name of an option means the same in every command."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from math import isnan
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from arena.analysis.text.tables import FORMATS, printable
from arena.base.errors import UsageError
from arena.base.text import shortened_text

Function = TypeVar("Function", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """An option that is a whole number within bounds; both are required, as every option has a limit."""

    name = "integer"

    def __init__(self, low: int, high: int) -> None:
        super().__init__(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            int(value)
        except ValueError:
            self.fail(
                f"{shortened_text(str(value))!r}: expected a whole number from {self.min:,} to {self.max:,}", param, ctx
            )
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """An option that is a number within bounds; "nan" is refused, although no comparison with a bound is true."""

    name = "number"

    def __init__(self, low: float, high: float) -> None:
        super().__init__(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            is_number = not isnan(float(value))
        except ValueError:
            is_number = False
        if not is_number:
            self.fail(
                f"{shortened_text(str(value))!r}: expected a number from {self.min:,} to {self.max:,}", param, ctx
            )
        return super().convert(value, param, ctx)


class FilePath(click.Path):
    """A path; an empty one, such as of a variable of the shell that is not set, is refused: it is not the directory.
    So is "-", which means a standard stream elsewhere, and would be a file of that name.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("'': expected a path, such as . for this directory", param, ctx)
        if value == "-":
            self.fail("'-': expected a path, not a standard stream; ./- is a file of this name", param, ctx)
        return super().convert(value, param, ctx)


A_PATH = FilePath(path_type=Path)

SECONDS = Number(0.001, 86400)
"""The type of a time limit."""

SEED = WholeNumber(0, 2**63 - 1)
"""The type of a seed: numbers that a store can hold."""

MAX_COUNT = 2**31 - 1
"""The largest number of a match, a ply or a list's length: what every database holds."""


class RenamedOption(click.Option):
    """An option with an earlier spelling that is accepted and not shown."""

    def __init__(self, *args: Any, earlier: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._earlier = earlier

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[self._earlier], dest=self.name, action="store", nargs=self.nargs)


game_option = click.option("--game", metavar="GAME", help="Only the matches of this game.")

comparisons_option = click.option("--comparisons", is_flag=True, help="Count the experiments of arena compare as well.")

options_option = click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; repeatable."
)

rng_seed_option = click.option(
    "--rng-seed", type=SEED, default=0, show_default=True, help="The number that determines all randomness."
)

seconds_option = click.option(
    "--seconds", type=SECONDS, default=1.0, show_default=True, help="The time limit of each action, in seconds."
)

ply_limit_option = click.option(
    "--ply-limit",
    type=WholeNumber(1, 1_000_000),
    default=10_000,
    show_default=True,
    help="End a match after this many actions, the opening included; it is ranked by the scores as they stand.",
)

isolation_option = click.option(
    "--isolation", default="auto", show_default=True, help="The isolation level of bots; arena home doctor lists them."
)

workers_option = click.option(
    "--workers", type=WholeNumber(1, 1024), help="Matches at a time [default: one for each core]."
)


quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, only the result.")

with_logs_option = click.option(
    "--with-logs", is_flag=True, help="With what bots wrote: stderr, notes, and the details of faults."
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")


_IS_WIDE = "arena.is_wide"


wide_option = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({_IS_WIDE: value}),
    help="All columns, also in a terminal that is too narrow for them.",
)


def is_wide() -> bool:
    """Return whether the command line has ``--wide``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_IS_WIDE))


def games_option(use: str) -> Callable[[Function], Function]:
    """Return the option for several games; ``use`` ends with what the default is, if any."""
    return click.option("--game", "games", multiple=True, metavar="GAME", help=f"{use}; repeatable.")


def name_option(default: str) -> Callable[[Function], Function]:
    """Return the option for a tournament's name, which has a default."""
    return click.option("--name", metavar="NAME", help=f"The name of the tournament [default: {default}].")


def output_option(default: str) -> Callable[[Function], Function]:
    """Return the option for what a command writes, which has a default."""
    return click.option(
        "--output",
        cls=RenamedOption,
        earlier="-o",
        type=A_PATH,
        help=f"Where to write it [default: {default}].",
    )


def format_options(function: Function) -> Function:
    """Add ``--format``, and ``--json`` as a short form; the command gets ``table_format``."""

    @click.option(
        "--format",
        "table_format",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="How to print the table.",
    )
    @json_option
    @wide_option
    @wraps(function)
    def command(*args: Any, table_format: str, as_json: bool, **options: Any) -> Any:
        return function(*args, table_format="json" if as_json else table_format, **options)

    return cast("Function", command)


MAX_SECONDS = 30 * 86_400.0

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(s|m|h|)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _read_duration(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= MAX_SECONDS:
        raise click.BadParameter(f"{text!r}: expected a duration such as 60s, 5m or 2h, of 30 days at most")
    return seconds


def within_option(help_text: str, default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return ``--within``, the time that a command may take for something, in seconds."""
    return click.option(
        "--within",
        "within_seconds",
        metavar="DURATION",
        callback=_read_duration,
        default=default,
        show_default=True,
        help=help_text,
    )


_AGE = re.compile(r"(\d{1,4})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def read_since(_context: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """Return the time that an option says: a date, also with a time, or an age; in UTC unless it has another zone."""
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


yes_option = click.option("--yes", "is_confirmed", is_flag=True, help="Do it without asking.")


def confirm(question: str, is_confirmed: bool) -> bool:
    """Return whether to do it: as ``--yes`` says, or as the answer on the terminal does."""
    if is_confirmed:
        return True
    if not sys.stdin.isatty():
        raise UsageError("this command asks first, and there is no terminal to answer on; expected --yes")
    if click.confirm(printable(question), err=True):
        return True
    click.echo("Nothing was changed.", err=True)
    return False


plain_http_option = click.option(
    "--plain-http", is_flag=True, help="Allow http:// to other machines: everybody on the way can read the token."
)
