"""``arena report``: a tournament as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from arena.base.bot_text import EVERYBODY, OPERATOR
from arena.base.errors import UsageError
from arena.base.names import as_file_name
from arena.cli.terminal.common import named_or_latest, open_home, print_json
from arena.cli.terminal.options import RenamedOption, WholeNumber, json_option, output_option, with_logs_option


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
def command(
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
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {str(path)!r}: can't be written: {error.strerror}") from error
    size_bytes = len(page.encode())
    if as_json:
        print_json({"file": str(path), "bytes": size_bytes})
    else:
        click.echo(f"{path}: {size_bytes / 1e6:.1f} MB")
