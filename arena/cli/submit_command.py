"""``arena submit``: check a bot and copy it into the arena."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.common import open_home, print_json, show_stderr
from arena.cli.group import FAILED, OK
from arena.cli.options import games_option, json_option
from arena.report.tables import printable

if TYPE_CHECKING:
    from arena.conformance.submission import Submission


@click.command("submit")
@click.argument("path", type=click.Path(path_type=Path))
@games_option("Load this external game, which the bot claims")
@json_option
def command(path: Path, games: tuple[str, ...], as_json: bool) -> int:
    """Copy the bot at PATH into the arena, after a match against itself of every game it claims. PATH is a directory, a
    single program, or an archive: .zip, .tar, .tar.gz, .tar.xz or .tar.bz2.

    It can then be entered in tournaments by its name, or as name@version. A name and version can be submitted once;
    give changed files a new version in bot.toml.
    """
    from arena.conformance.submission import submit

    with open_home() as arena_home:
        submission = submit(arena_home, path, lambda text: None if as_json else click.echo(printable(text)), games)
        if as_json:
            print_json(_as_json(submission))
        if submission.refusal is not None:
            click.echo(f"arena: {printable(submission.refusal)}", err=True)
            show_stderr(submission.bot.label, submission.stderr)
            click.echo(f"to fix it: {printable(submission.hint)}", err=True)
            return FAILED
        if not as_json:
            click.echo(f"{printable(submission.bot.label)} is {'already ' if submission.is_old else ''}submitted")
    return OK


def _as_json(submission: Submission) -> dict[str, object]:
    bot = submission.bot
    return {
        "bot": bot.label,
        "name": bot.name,
        "version": bot.version,
        "digest": bot.digest,
        "is_submitted": submission.refusal is None,
        "was_submitted": submission.is_old,
        "refusal": submission.refusal,
        "hint": submission.hint,
        "stderr": submission.stderr,
    }
