"""A tournament as files: one HTML page, or plots."""

from __future__ import annotations

from pathlib import Path

import click

from arena.base.bot_text import EVERYBODY, OPERATOR
from arena.base.errors import UsageError
from arena.base.names import as_file_name
from arena.cli.terminal.common import load_standings, named_or_latest, open_home, print_json, write_file
from arena.cli.terminal.options import (
    RenamedOption,
    WholeNumber,
    game_option,
    json_option,
    output_option,
    with_logs_option,
)


@click.command("report")
@click.argument("tournament", required=False)
@output_option("TOURNAMENT.html")
@click.option(
    "--max-matches",
    cls=RenamedOption,
    earlier="--matches",
    type=WholeNumber(0, 10_000_000),
    help="Matches to replay, at most [default: what fits into about 2 MB].",
)
@with_logs_option
@json_option
def report_command(
    tournament: str | None, output: Path | None, max_matches: int | None, with_logs: bool, as_json: bool
) -> None:
    """Write TOURNAMENT (by default the latest) as one self-contained HTML file.

    Standings, crosstable, a section for each bot, matches to step through, and all statistics. It can be opened from
    the disk, mailed, or put on any web server: it loads nothing. What bots wrote is for their authors, and left out:
    their stderr, their notes, and the details of their faults.
    """
    from arena.site.publish.one_file import report_file

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        page = report_file(arena_home, stored, max_matches, OPERATOR if with_logs else EVERYBODY)
    path = output or Path(f"{as_file_name(stored.name)}.html")
    write_file(path, page)
    size_bytes = len(page.encode())
    if as_json:
        print_json({"file": str(path), "bytes": size_bytes})
    else:
        click.echo(f"{path}: {size_bytes / 1e6:.1f} MB")


KINDS = ("ratings", "course", "crosstable", "seats", "times")


@click.command("plot")
@click.argument("tournament", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only this one [default: all five].")
@output_option("TOURNAMENT-plots/KIND.svg")
@game_option
@json_option
def plot_command(
    tournament: str | None, kind: str | None, output: Path | None, game: str | None, as_json: bool
) -> None:
    """Draw TOURNAMENT (by default the latest): its ratings, ratings over matches, crosstable, seats, and times.

    `--output` is a .png or .svg file with `--kind`, and otherwise a directory. Needs the extra `plots` (matplotlib).
    """
    from arena.analysis.text.plots import rendered
    from arena.analysis.text.tournament_plots import tournament_plot

    if kind is not None and output is not None and output.suffix not in (".png", ".svg"):
        raise UsageError(f"--output {str(output)!r}: expected names that end in .png or .svg")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        stored.require_game(game)
        table = load_standings(arena_home, stored.name, game)
        written = []
        for chosen in KINDS if kind is None else (kind,):
            path = _path(stored.name, chosen, output, is_all=kind is None)
            figure = tournament_plot(arena_home, stored, table, chosen, game)
            data = rendered(figure, path.suffix[1:])
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"--output {str(path)!r}: can't be written: {error.strerror}") from error
            write_file(path, data)
            written.append({"kind": chosen, "file": str(path)})
            if not as_json:
                click.echo(str(path))
    if as_json:
        print_json(written)


def _path(name: str, kind: str, output: Path | None, is_all: bool) -> Path:
    if output is not None and not is_all:
        return output
    return (output or Path(f"{as_file_name(name)}-plots")) / f"{kind}.svg"
