"""Asks before something is removed."""

from __future__ import annotations

import sys

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError

yes_option = click.option("--yes", "is_confirmed", is_flag=True, help="Do it without asking.")


def confirm(question: str, is_confirmed: bool) -> bool:
    """Return whether to do it: as ``--yes`` says, or as the answer on the terminal does.

    Raises:
        UsageError: if there is no terminal to ask on.
    """
    if is_confirmed:
        return True
    if not sys.stdin.isatty():
        command = click.get_current_context().info_name
        raise UsageError(f"{command} asks first, and there is no terminal to answer on; expected --yes")
    if click.confirm(printable(question), err=True):
        return True
    click.echo("Nothing was changed.", err=True)
    return False
