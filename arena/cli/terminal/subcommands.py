"""A command that has commands of its own, such as ``arena people add``."""

from __future__ import annotations

import click

from arena.base.errors import UsageError, suggestion
from arena.cli.terminal.global_options import HELP_LINE, global_options


class Subcommands(click.Group):
    """Commands of a command; for an unknown one, a sentence names the nearest."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            raise UsageError(f"arena {self.name} {cmd_name!r}: {suggestion(cmd_name, self.commands)}")
        return found

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, which takes the global options as well."""
        cmd.params += global_options(hidden=True)
        cmd.epilog = HELP_LINE
        super().add_command(cmd, name)
