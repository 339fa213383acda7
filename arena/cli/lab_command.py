"""``arena lab``: the games themselves, solved and measured; a module for each subcommand."""

from __future__ import annotations

import click

from arena.cli.lab_kernels import kernels
from arena.cli.lab_puzzles import puzzles
from arena.cli.lab_solve import solve
from arena.cli.subcommands import Subcommands


@click.group("lab", cls=Subcommands)
def command() -> None:
    """Find out about the games themselves: what a board is worth with best play, and how that is known.

    \b
    arena lab solve coprimality --sweep size=3..12
    arena lab kernels --build --check
    arena lab puzzles quickstart
    """


command.add_command(solve)
command.add_command(kernels)
command.add_command(puzzles)
