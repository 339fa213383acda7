"""``arena lab``: the games themselves analysed; each of its commands has a module of its own."""

from __future__ import annotations

import click

from arena.cli.lab_kernels import kernels
from arena.cli.subcommands import Subcommands


@click.group("lab", cls=Subcommands)
def command() -> None:
    """Analyse the games themselves, beside the matches that bots play.

    \b
    arena lab kernels --build --check
    """


command.add_command(kernels)
