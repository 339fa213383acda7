"""``arena plot``: plots of a tournament."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.common import game_option, load_standings, named_or_latest, open_home
from arena.errors import UsageError
from arena.names import as_file_name

KINDS = ("ratings", "course", "crosstable", "seats", "times")


@click.command("plot")
@click.argument("tournament", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only this one [default: all five].")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A .png or .svg file, or a directory for all.")
@game_option
def command(tournament: str | None, kind: str | None, output: Path | None, game: str | None) -> None:
    """Draw TOURNAMENT (by default the latest): its ratings, ratings over matches, crosstable, seats, and times.

    Needs the extra `plots` (matplotlib).
    """
    from arena.report.plots import rendered
    from arena.report.tournament_plots import tournament_plot

    if kind is not None and output is not None and output.suffix not in (".png", ".svg"):
        raise UsageError(f"--output {str(output)!r}: expected names that end in .png or .svg")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        stored.require_game(game)
        table = load_standings(arena_home, stored.name, game)
        for chosen in KINDS if kind is None else (kind,):
            path = _path(stored.name, chosen, output, is_all=kind is None)
            figure = tournament_plot(arena_home, stored, table, chosen, game)
            data = rendered(figure, path.suffix[1:])
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            except OSError as error:
                raise UsageError(f"--output {str(path)!r}: can't be written: {error.strerror}") from error
            click.echo(str(path))


def _path(name: str, kind: str, output: Path | None, is_all: bool) -> Path:
    if output is not None and not is_all:
        return output
    return (output or Path(f"{as_file_name(name)}-plots")) / f"{kind}.svg"
