"""``arena lab``: the games themselves, solved and measured; and ``arena lab kernels``, their rules in C."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import click

from arena.analysis.text.tables import Column
from arena.base.errors import KernelError
from arena.cli.lab.lab_analyse import analyse
from arena.cli.lab.lab_annotate import annotate
from arena.cli.lab.lab_puzzles import puzzles
from arena.cli.lab.lab_quality import quality
from arena.cli.lab.lab_repair import explore, repair
from arena.cli.lab.lab_solve import prove, solve
from arena.cli.terminal.common import print_json, print_table, print_wrapped, waiting
from arena.cli.terminal.global_options import Subcommands
from arena.cli.terminal.options import json_option
from arena.cli.terminal.streams import FAILED, OK
from arena.games import make_game
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.loading import KernelStatus, kernel_status, load
from arena.games.kernels.playouts import playouts_per_second
from arena.games.kernels.sameness import USUAL, Compared
from arena.games.kernels.self_test import compare_all

_MEASURED_SECONDS = 0.3

COLUMNS = [
    Column("game", "game", is_number=False),
    Column("kernel", "kernel", is_number=False),
    Column("playouts_per_second", "playouts/s"),
    Column("states", "states"),
    Column("playouts", "playouts"),
    Column("lines", "lines"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    status: KernelStatus
    is_loaded: bool = False
    compared: Compared | None = None
    rate: float | None = None
    problem: str = ""
    is_faulty: bool = False


@click.command("kernels")
@click.option("--build", is_flag=True, help="Build those that are not there yet.")
@click.option("--check", is_flag=True, help="Compare them with the rules in Python, and measure them; builds as well.")
@json_option
def kernels(build: bool, check: bool, as_json: bool) -> int:
    """Show which games have kernels, their rules in C.

    The lab is some hundred times faster with them. They are compiled when they are first used, and kept in the user's
    cache directory. Without a C compiler every command gives the same answers, slower.
    """
    rows = []
    for name in KERNEL_NAMES:
        with waiting(f"{'comparing' if check else 'building'} the kernel of {name}", not (build or check)):
            rows.append(_row(name, build or check, check))
    if as_json:
        print_json([_as_dict(row) for row in rows])
    else:
        _show(rows)
    return FAILED if (build or check) and any(row.is_faulty for row in rows) else OK


def _row(name: str, builds: bool, checks: bool) -> _Row:
    library = load(name) if builds else None
    status = kernel_status(name)
    if isinstance(library, KernelError):
        return _Row(status=status, problem=str(library), is_faulty=True)
    row = _Row(status=status, problem=status.problem, is_loaded=library is not None)
    if library is None or not checks:
        return row
    try:
        compared = compare_all(name, library, USUAL)
    except KernelError as error:
        return replace(row, problem=str(error), is_faulty=True)
    return replace(
        row, compared=compared, rate=playouts_per_second(Kernel(library, make_game(name)), _MEASURED_SECONDS)
    )


def _as_dict(row: _Row) -> dict[str, object]:
    compared = asdict(row.compared) if row.compared else {"states": None, "playouts": None, "lines": None}
    return {
        "game": row.status.game,
        "path": str(row.status.path) if row.status.path else None,
        "problem": row.problem,
        "playouts_per_second": row.rate,
        **compared,
    }


def _show(rows: list[_Row]) -> None:
    is_checked = any(row.compared for row in rows)
    table = [
        {**{key: _text(value) for key, value in _as_dict(row).items()}, "kernel": _kernel_text(row)} for row in rows
    ]
    print_table(COLUMNS if is_checked else COLUMNS[:2], table, "text")
    if is_checked:
        click.echo("\nStates, playouts and lines of play are those compared with the rules, without a difference.")
    for problem in dict.fromkeys(row.problem for row in rows if row.problem):
        print_wrapped("", 0, f"{problem[0].upper()}{problem[1:]}.")
    if any(row.problem and not row.is_loaded and row.status.path is None for row in rows):
        click.echo("The rules in Python are used in their place: the same answers, slower.")
    elif any(row.status.path is None and not row.is_loaded for row in rows):
        click.echo("What is not built is built when first used, or by: arena lab kernels --build")


def _text(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value or "–")


def _kernel_text(row: _Row) -> str:
    if row.status.path is not None:
        return "built"
    if row.is_loaded:
        return "not kept"
    return "none" if row.problem else "not built yet"


@click.group("lab", cls=Subcommands)
def lab_command() -> None:
    """Find out about the games themselves: what a board is worth with best play, and how that is known.

    \b
    arena lab solve coprimality --sweep size=3..12
    arena lab annotate quickstart
    arena lab analyse quickstart/1 4
    arena lab quality differences -o size=6
    arena lab kernels --build --check
    arena lab puzzles quickstart
    arena lab repair multiplication -o size=7
    arena lab prove multiplication -o size=7 --out multiplication_7.txt
    """


lab_command.add_command(solve)
lab_command.add_command(analyse)
lab_command.add_command(annotate)
lab_command.add_command(explore)
lab_command.add_command(quality)
lab_command.add_command(kernels)
lab_command.add_command(puzzles)
lab_command.add_command(prove)
lab_command.add_command(repair)
