"""``arena submit``: check a bot and copy it into the arena."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.common import open_home, show_stderr
from arena.cli.group import FAILED, OK
from arena.report.tables import printable


@click.command("submit")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--game", "games", multiple=True, metavar="GAME", help="Load this game from outside the package.")
def command(path: Path, games: tuple[str, ...]) -> int:
    """Copy the bot at PATH into the arena, after a match against itself of every game it claims.

    It can then be entered in tournaments by its name, or as name@version. A name and version can be submitted once;
    give changed files a new version in bot.toml.
    """
    from arena.conformance.submission import submit

    with open_home() as arena_home:
        submission = submit(arena_home, path, lambda text: click.echo(printable(text)), games)
        if submission.refusal is not None:
            click.echo(f"arena: {printable(submission.refusal)}", err=True)
            show_stderr(submission.bot.label, submission.stderr)
            click.echo(f"to fix it: {printable(submission.hint)}", err=True)
            return FAILED
        click.echo(f"{printable(submission.bot.label)} is {'already ' if submission.is_old else ''}submitted")
    return OK
