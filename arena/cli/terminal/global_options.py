"""The global options, which belong before the command and are accepted after it and after its subcommands as well."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

from arena.base.errors import StoreError, UsageError, suggestion

HELP_LINE = "Global options: --home, --store; see arena --help."
"""Below the help of every command."""

COMPLETION = "_ARENA_COMPLETE"
"""The variable by which a shell asks for completion of a command line."""

_META = "arena.global_options"


def global_options(*, hidden: bool) -> list[click.Option]:
    """Return the options to add to a command; hidden where they are accepted but documented elsewhere."""
    options = (
        ("--home", "DIR", "Directory of the arena [default: $ARENA_HOME, or .arena]."),
        ("--store", "URL", "PostgreSQL database of results [default: $ARENA_STORE]."),
    )
    return [
        click.Option([name], metavar=metavar, help=text, hidden=hidden, expose_value=False, callback=_remember)
        for name, metavar, text in options
    ]


def global_option(name: str, context: click.Context | None = None) -> str | None:
    """Return what the command line has given for "home" or "store"; None if nothing."""
    value: str | None = (context or click.get_current_context()).meta.get(f"{_META}.{name}")
    return value


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is None:
        return
    first = context.meta.setdefault(f"{_META}.{option.name}", value)
    if first != value:
        both_values = f"{_shown(value)!r} after the command and {_shown(first)!r} before it"
        raise UsageError(f"--{option.name}: {both_values}; expected one of them")
    if option.name == "store" and value and not value.startswith("postgresql"):  # some commands open it late, or never
        shown = re.sub("://.*@", "://***@", value, flags=re.DOTALL)
        raise StoreError(f"store {shown!r}: expected a URL such as postgresql://user@host/database")


def _shown(value: str) -> str:
    return re.sub(r":[^:/]*@", ":***@", value)


# Help: a line never ends within the name of an option, such as --max-encounters.

_OPTION_NAME = re.compile(r"--\w+(?:-\w+)+")
_HYPHEN = "\N{NON-BREAKING HYPHEN}"


class _HelpFormatter(click.HelpFormatter):
    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, _unbroken(text)) for name, text in rows], col_max, col_spacing)

    def write_text(self, text: str) -> None:
        super().write_text(_unbroken(text))

    def getvalue(self) -> str:
        return super().getvalue().replace(_HYPHEN, "-")


def _unbroken(text: str) -> str:
    return _OPTION_NAME.sub(lambda found: found[0].replace("-", _HYPHEN), text)


class HelpContext(click.Context):
    """The context of all commands."""

    formatter_class = _HelpFormatter


def complete_command(command: click.Command) -> None:
    """Give a command what all have: the global options, the line below its help, and the form of its help."""
    command.params += global_options(hidden=True)
    command.epilog = HELP_LINE
    command.context_class = HelpContext


# A command that has commands of its own, such as ``arena site people add``.


class Subcommands(click.Group):
    """Commands of a command; for an unknown one, a sentence names the nearest."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and not ctx.resilient_parsing:
            raise UsageError(f"arena {self.name} {cmd_name!r}: {suggestion(cmd_name, self.commands)}")
        return command

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, which takes the global options as well."""
        complete_command(cmd)
        super().add_command(cmd, name)
