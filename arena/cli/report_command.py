"""``arena report``: a tournament as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.common import WholeNumber, named_or_latest, open_home
from arena.errors import UsageError
from arena.names import as_file_name


@click.command("report")
@click.argument("tournament", required=False)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file [default: TOURNAMENT.html].")
@click.option(
    "--matches", type=WholeNumber(0, 100_000), default=5000, show_default=True, help="Matches to replay, at most."
)
def command(tournament: str | None, output: Path | None, matches: int) -> None:
    """Write TOURNAMENT (by default the latest) as one self-contained HTML file.

    Standings, plots, crosstable, statistics, the balance of the schedule, and every match to step through. It can be
    opened from the disk, mailed, or put on any web server. Plots need the extra `plots`.
    """
    from arena.report.tournament_page import tournament_page

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        page, has_plots = tournament_page(arena_home, stored, matches)
    path = output or Path(f"{as_file_name(stored.name)}.html")
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {str(path)!r}: can't be written: {error.strerror}") from error
    if not has_plots:
        click.echo("arena: without plots; for them: pip install 'grid-arena[plots]'", err=True)
    click.echo(f"{path}: {len(page.encode()) / 1e6:.1f} MB")
