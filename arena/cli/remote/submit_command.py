"""``arena submit``: check a bot and copy it into the arena, here or at a site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import size_text
from arena.cli.terminal.common import open_home, print_json, show_stderr
from arena.cli.terminal.options import games_option, json_option, plain_http_option
from arena.cli.terminal.streams import FAILED, OK

if TYPE_CHECKING:
    from arena.community.submissions.submission import Submission


@click.command("submit")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--to", "url", metavar="URL", help="Hand it in at the site of an arena, where you are signed in.")
@click.option("--note", default="", metavar="TEXT", help="A note for yourself, with --to.")
@games_option("Load this external game, which the bot claims")
@plain_http_option
@json_option
def submit_command(
    path: Path, url: str | None, note: str, games: tuple[str, ...], plain_http: bool, as_json: bool
) -> int:
    """Copy the bot at PATH into the arena, after a match against itself of every game it claims. PATH is a directory, a
    single program, or an archive: .zip, .tar, .tar.gz, .tar.xz or .tar.bz2.

    It can then be entered in tournaments by its name, or as name@version. A name and version can be submitted once;
    give changed files a new version in bot.toml.

    \b
    arena submit mybot --to https://arena.example.org

    hands it in at an arena elsewhere, after `arena site login`, and shows what becomes of it. The same files again are
    the same submission, so a command that was interrupted can be repeated.
    """
    if url is not None:
        if games:
            raise UsageError(f"--game {games[0]!r}: the site at --to decides which games it has")
        return _submit_to_site(path, url, note, plain_http, as_json)
    if note:
        raise UsageError("--note: it is for a submission at a site; expected --to URL as well")
    return _submit(path, games, as_json)


def _submit(path: Path, games: tuple[str, ...], as_json: bool) -> int:
    from arena.community.submissions.submission import submit

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


def _submit_to_site(path: Path, url: str, note: str, plain_http: bool, as_json: bool) -> int:
    from arena.base.shipped import bot_path
    from arena.cli.remote.site_client import for_site
    from arena.cli.remote.submission import follow, upload_bot
    from arena.community.uploads.unpacking import packed
    from arena.match.players.bot_files import describe_left_out
    from arena.match.players.manifest import resolved_bot_path
    from arena.store.people.values import SubmissionState

    def show(text: str) -> None:
        if not as_json:
            click.echo(printable(text))

    client = for_site(url, plain_http)
    for sentence in describe_left_out(resolved_bot_path(bot_path(path))):
        show(sentence)
    with packed(path) as bot:
        number = upload_bot(client, bot.file, bot.size_bytes, bot.name, note, lambda _: None)
        show(f"{bot.name}, {size_text(bot.size_bytes)}: {client.site}/submissions/{number}")
    outcome = follow(client, number, show)
    if as_json:
        print_json(
            {
                "submission": outcome.number,
                "state": outcome.state,
                "bot": outcome.bot,
                "reason": outcome.reason,
                "page": f"{client.site}/submissions/{number}",
            }
        )
    if outcome.state is SubmissionState.ACCEPTED:
        return OK
    verdict = "rejected" if outcome.state is SubmissionState.REJECTED else outcome.state
    click.echo(f"arena: submission {number} is {verdict}{': ' * bool(outcome.reason)}{outcome.reason}", err=True)
    return FAILED


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
