"""``arena submit``: check a bot and copy it into the arena, here or at a site; ``arena challenge``: play there."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from arena.analysis.text.tables import Column, printable
from arena.base.errors import SiteAwayError, UsageError
from arena.base.shipped import bot_path
from arena.base.text import counted, size_text
from arena.cli.remote.exchange import printable_line, printable_sentence, printable_text
from arena.cli.remote.site_client import Fields, SiteClient, for_site
from arena.cli.terminal.common import open_home, print_json, print_table, show_stderr
from arena.cli.terminal.options import A_PATH, format_options, games_option, json_option, plain_http_option
from arena.cli.terminal.streams import FAILED, OK
from arena.match.players.bot_files import describe_left_out
from arena.store.people.unrated_match import ENDED, MatchState
from arena.store.people.values import FINAL, SubmissionState

if TYPE_CHECKING:
    from arena.base.records import Bot
    from arena.community.submissions.submission import Submission


# Submitting a bot at a site, and waiting for what becomes of it. The other end is
# ``arena/server/operations/submissions.py``. Submitting the same bytes again is the same submission, so whatever was
# interrupted is simply done again.

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 3.0
MAX_PAUSE_SECONDS = 30.0
"""The longest pause between two tries while the site is away."""
MAX_TRIES_AWAY = 20
MAX_REPORT_CHARACTERS = 200_000

_PLACE = re.compile(r"/submissions/([1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Outcome:
    number: int
    state: SubmissionState
    bot: str | None
    reason: str
    is_reported: bool = False
    """Whether the report ends with the reason."""


def upload_bot(client: SiteClient, file: BinaryIO, size_bytes: int, file_name: str, note: str) -> int:
    answer = client.upload("/submissions", file, size_bytes, file_name=file_name, note=note)
    match = _PLACE.fullmatch(Fields(answer, client.no_arena()).text("to"))
    if match is None:
        raise client.no_arena()
    return int(match[1])


def follow(
    client: SiteClient, number: int, listener: Callable[[str], None], pause_for: Callable[[float], None] = time.sleep
) -> Outcome:
    shown, pause, failures = 0, FIRST_PAUSE_SECONDS, 0
    while True:
        try:
            answer = client.get_json(f"/submissions/{number}")
        except SiteAwayError as error:
            failures += 1
            if failures >= MAX_TRIES_AWAY:
                raise
            pause_for(max(min(2.0**failures, MAX_PAUSE_SECONDS), error.retry_after_seconds or 0))
            continue
        failures = 0
        outcome, lines = _read(client, number, answer)
        # the last line may still grow while it is being checked
        ready = lines if outcome is not None else lines[:-1]
        for line in ready[shown:]:
            listener(printable_line(line))
        shown = max(shown, len(ready))
        if outcome is not None:
            return outcome
        pause_for(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE_SECONDS)


def _read(client: SiteClient, number: int, answer: dict[str, object]) -> tuple[Outcome | None, list[str]]:
    line, details = answer.get("line"), answer.get("details")
    if not isinstance(line, dict) or not isinstance(details, dict):
        raise client.no_arena()
    report, reason, bot = details.get("report"), details.get("reason"), line.get("bot")
    if not isinstance(report, str) or not isinstance(reason, str) or not isinstance(bot, str | None):
        raise client.no_arena()
    state = next((state for state in SubmissionState if state == line.get("state")), None)
    if state is None:
        raise client.no_arena()
    lines = report[:MAX_REPORT_CHARACTERS].splitlines()
    if state not in FINAL:
        return None, lines
    shown = printable_sentence(bot) if bot is not None else None
    return Outcome(number, state, shown, printable_text(reason), bool(reason) and reason in report), lines


@click.command("submit")
@click.argument("path", type=A_PATH)
@click.option("--to", "url", metavar="URL", help="Submit it to the site of an arena, where you are signed in.")
@click.option("--note", default="", metavar="TEXT", help="A note for yourself, with --to.")
@games_option("Load this external game, which the bot claims")
@plain_http_option
@json_option
def submit_command(
    path: Path, url: str | None, note: str, games: tuple[str, ...], plain_http: bool, as_json: bool
) -> int:
    """Copy the bot at PATH into the arena, after a match against itself of every game it claims. PATH is a directory, a
    single program, or an archive: .zip, .tar, .tar.gz, .tar.xz or .tar.bz2.

    Tournaments can then enter it by its name, or as name@version. You can submit a name and version once; give changed
    files a new version in bot.toml.

    \b
    arena submit my_bot --to https://arena.example.org

    submits it to an arena elsewhere, after `arena site login`, and shows what becomes of it. The same files again are
    the same submission, so you can repeat a command that was interrupted.
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
    from arena.games import GAMES

    def check_claimed(bot: Bot) -> None:
        for game in games:
            if game not in bot.games and game not in GAMES:
                raise UsageError(
                    f"--game {game!r}: {bot.label} does not claim it; expected one of games in its bot.toml"
                )

    show = _showing(as_json)
    with open_home() as arena_home:
        submission = submit(arena_home, path, show, games, before_trial=check_claimed)
        if as_json:
            print_json(_as_json(submission))
        if submission.refusal is not None:
            click.echo(f"arena: {printable(submission.refusal)}", err=True)
            show_stderr(submission.bot.label, submission.stderr)
            for fact in submission.facts:
                click.echo(printable(fact), err=True)
            return FAILED
        show(f"{submission.bot.label} is {'already ' if submission.is_old else ''}submitted")
    return OK


def _showing(as_json: bool) -> Callable[[str], None]:
    return (lambda _: None) if as_json else lambda text: click.echo(printable(text))


def _submit_to_site(path: Path, url: str, note: str, plain_http: bool, as_json: bool) -> int:
    from arena.match.players.manifest import resolved_bot_path
    from arena.match.uploads.unpacking import packed

    show, client = _showing(as_json), for_site(url, plain_http)
    for sentence in describe_left_out(resolved_bot_path(bot_path(path))):
        show(sentence)
    with packed(path) as bot:
        number = upload_bot(client, bot.file, bot.size_bytes, bot.name, note)
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
    is_shown = outcome.is_reported and not as_json  # so what a compiler wrote is not shown again
    reason = outcome.reason.partition("\n")[0] if is_shown else outcome.reason
    click.echo(f"arena: submission {number} is {verdict}{': ' * bool(reason)}{reason}", err=True)
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


LISTED = 20
PAUSE_SECONDS = 1.0
MAX_PLIES = 1_000_000

CHALLENGE_COLUMNS = [
    Column("challenger", "challenger", is_number=False),
    Column("bot", "bot", is_number=False),
    Column("game", "game", is_number=False),
    Column("seat", "seat"),
    Column("state", "state", is_number=False),
    Column("plies", "plies"),
    Column("outcome", "outcome", is_number=False, wraps=True),
    Column("page", "page", is_number=False, drop_order=1),
]


@click.command("challenge")
@click.argument("bot", metavar="RIVAL")
@click.option("--mine", required=True, metavar="NAME", help="Your bot, which was accepted there.")
@click.option("--game", required=True, metavar="GAME", help="The game they play.")
@click.option("--at", "url", required=True, metavar="URL", help="The site of the arena, where you are signed in.")
@click.option("--one-match", "is_one", is_flag=True, help="Play one match, with your bot in seat 0.")
@plain_http_option
@format_options
def challenge_command(
    bot: str, mine: str, game: str, url: str, is_one: bool, plain_http: bool, table_format: str = "text"
) -> int:
    """Let your bot play against RIVAL at the site of an arena: two matches, with each bot in both seats, unrated.

    \b
    arena challenge greedy --mine my_bot --game differences \\
        --at https://arena.example.org

    RIVAL is any bot that visitors may play against there. Only you see the matches.
    """
    client = for_site(url, plain_http)
    client.post_json("/challenges", {"challenger": mine, "bot": bot, "game": game, "both_seats": not is_one})
    count = 1 if is_one else 2
    while True:
        rows = _challenges(client)[:count]
        if len(rows) < count:
            raise client.no_arena()
        if all(row["state"] in ENDED for row in rows):
            break
        time.sleep(PAUSE_SECONDS)
    print_table(CHALLENGE_COLUMNS, rows, table_format, f"{counted(count, 'match')}, unrated")
    return OK if all(row["state"] == MatchState.OVER for row in rows) else FAILED


def _challenges(client: SiteClient) -> list[dict[str, object]]:
    answer = Fields(client.get_json("/challenges"), client.no_arena())
    return [
        {
            **{name: challenge.text(name) for name in ("challenger", "bot", "game", "state")},
            "seat": challenge.whole("seat", 0, 1),
            "plies": challenge.whole("plies", 0, MAX_PLIES),
            "outcome": challenge.sentence("outcome"),
            "page": f"{client.site}{challenge.address('address')}",
        }
        for challenge in answer.objects("own", LISTED)
    ]
