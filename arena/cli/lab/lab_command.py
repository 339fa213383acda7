"""``arena lab``: the games themselves, solved and measured; a module for each subcommand."""

from __future__ import annotations

import click

from arena.cli.lab.lab_analyse import analyse
from arena.cli.lab.lab_annotate import annotate
from arena.cli.lab.lab_explore import explore
from arena.cli.lab.lab_kernels import kernels
from arena.cli.lab.lab_puzzles import puzzles
from arena.cli.lab.lab_quality import quality
from arena.cli.lab.lab_solve import solve
from arena.cli.terminal.subcommands import Subcommands


@click.group("lab", cls=Subcommands)
def command() -> None:
    """Find out about the games themselves: what a board is worth with best play, and how that is known.

    \b
    arena lab solve coprimality --sweep size=3..12
    arena lab annotate quickstart
    arena lab analyse quickstart/1 4
    arena lab explore plusminus -o size=4 --plies 4 --outcome draw --book b.toml
    arena lab quality differences -o size=6
    arena lab kernels --build --check
    arena lab puzzles quickstart
    """


command.add_command(solve)
command.add_command(analyse)
command.add_command(annotate)
command.add_command(explore)
command.add_command(quality)
command.add_command(kernels)
command.add_command(puzzles)
