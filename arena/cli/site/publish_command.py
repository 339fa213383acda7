"""``arena publish``: tournaments as a folder of pages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.bot_text import EVERYBODY, OPERATOR
from arena.base.errors import UsageError
from arena.base.text import counted, short_size_text
from arena.cli.site.people_command import opened_people
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import WholeNumber, json_option, with_logs_option
from arena.store.home import has_people

if TYPE_CHECKING:
    from arena.site.frame.model import Frozen

PAGES_A_STEP = 50


@click.command("publish")
@click.argument("tournaments", nargs=-1, metavar="[TOURNAMENT]...")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--max-matches",
    type=WholeNumber(0, 10_000_000),
    help="Matches to replay, at most, of each tournament [default: all].",
)
@click.option("--no-matches", is_flag=True, help="No page for any match.")
@click.option("--sign", "is_signed", is_flag=True, help="Sign it with the key of this arena.")
@with_logs_option
@json_option
def publish_command(
    tournaments: tuple[str, ...],
    out: Path,
    max_matches: int | None,
    no_matches: bool,
    is_signed: bool,
    with_logs: bool,
    as_json: bool,
) -> None:
    """Write TOURNAMENTs (by default all) as a folder OUT, for any web server or a USB stick.

    The pages of arena serve with their tables as JSON and CSV, the records, and a manifest of digests. Nothing in it
    leads out of it, and it can be opened from the disk: OUT/index.html. arena tournament verify OUT checks it. If OUT
    was published before, it is replaced. What bots wrote is for their authors, and left out: their stderr, their notes,
    and the details of their faults; records have a digest of it.
    """
    from arena.site.publish.publishing import publish
    from arena.site.publish.signature import signing_key

    if no_matches and max_matches:
        raise UsageError("--no-matches and --max-matches: expected one of them")
    with open_home(must_exist=True) as arena_home:
        key = signing_key(arena_home.directory) if is_signed else None
        matches = 0 if no_matches else max_matches
        audience = OPERATOR if with_logs else EVERYBODY
        made = publish(
            arena_home,
            tournaments,
            out,
            max_matches=matches,
            audience=audience,
            key=key,
            frozen=_frozen_results(),
            progress=_show_progress,
        )
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    if as_json:
        print_json({"folder": str(out), "tournaments": made.tournaments, "files": made.files, "bytes": made.size_bytes})
    else:
        summary = (
            f"{out}: {counted(len(made.tournaments), 'tournament')}, {counted(made.pages, 'page')},"
            f" {short_size_text(made.size_bytes)}; open {out / 'index.html'}"
        )
        click.echo(printable(summary))
        if key is not None:
            click.echo(f"signed with the key {key.public.text}")


def _frozen_results() -> Callable[[str], Frozen | None]:
    if not has_people(global_option("home")):
        return lambda _: None
    from arena.server.operations.contest_view import frozen_results

    with closing(opened_people()) as people:
        contests, now = people.contest_rows.read().contests, people.contests.now()
    return lambda tournament: frozen_results(contests, tournament, now)


def _show_progress(pages: int) -> None:
    if sys.stderr.isatty() and pages % PAGES_A_STEP == 0:
        click.echo(f"\r{counted(pages, 'page')}", nl=False, err=True)
