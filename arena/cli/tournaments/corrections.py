"""Commands that correct a tournament, and the log of what was corrected."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.corrections_table import correction_text, corrections_table
from arena.analysis.text.tables import printable
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.text import counted, minute_text
from arena.cli.terminal.common import (
    named_or_latest,
    open_home,
    print_json,
    print_table,
    print_wrapped,
    split_arguments,
)
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, format_options, json_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.base.records import Bot
    from arena.store.home import ArenaHome
    from arena.store.results.values import Correction


reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why, for everybody to read.")


def bot_to_enter(arena_home: ArenaHome, text: str, args: str, name: str | None = None) -> Bot:
    """Return the bot that is named on the command line: a path, ``arena:NAME``, or a submitted bot."""
    from arena.match.players.manifest import check_name
    from arena.tournament.definition import find_entrant

    bot = find_entrant(text, split_arguments(args), Path.cwd(), arena_home.bots)
    if name is None:
        return bot
    check_name("--as", name, arena_home.bots.is_known)
    return replace(bot, name=name)


def correct(tournament: str, as_json: bool, make: Callable[[ArenaHome], Correction]) -> None:
    """Make a correction, and print what was corrected and what is left to play."""
    with open_home(must_exist=True) as arena_home:
        correction = make(arena_home)
        stored = arena_home.store.tournament(tournament)
        lost = sum(correction.number == skipped.correction for skipped in arena_home.store.corrections.skipped(stored))
    if as_json:
        values = {
            "tournament": stored.name,
            "number": correction.number,
            "kind": correction.kind,
            "bot": correction.details.bot or None,
            "correction": correction_text(correction),
            "reason": correction.reason,
            "made_at": correction.made_at,
            "left": stored.scheduled - stored.recorded,
        }
        print_json(values)
        return
    click.echo(printable(f"Correction {correction.number} of {stored.name}: {correction_text(correction)}."))
    if lost and correction.kind in (CorrectionKind.VOID, CorrectionKind.REPLACE):
        click.echo(f"{counted(lost, 'match')} can't be played again, because a bot has left the tournament.")
    unplayed = stored.scheduled - stored.recorded
    if unplayed:
        click.echo(f"The next arena run plays {unplayed} of its {counted(stored.scheduled, 'match')}.")
    if correction.kind is not CorrectionKind.UNDO:
        name = shlex.quote(stored.name)
        click.echo(printable(f"To take it back: arena correct undo {name} {correction.number} --reason TEXT"))


@click.command("corrections")
@click.argument("tournament", required=False)
@format_options
def corrections_command(tournament: str | None, table_format: str) -> None:
    """List what has been corrected in TOURNAMENT (by default the latest), and why, the oldest first."""
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        set_aside = arena_home.store.corrections.set_aside_counts(stored)
    columns, rows = corrections_table(stored.corrections, set_aside)
    if table_format != "text":
        print_table(columns, rows, table_format)
        return
    if not rows:
        click.echo(printable(f"Nothing has been corrected in {stored.name}."))
    for row in rows:
        undone = f" (undone by {row['undone_by']})" if row["undone_by"] is not None else ""
        head = f"{row['number']:3}. "
        aside = f", {counted(row['set_aside'], 'record')} set aside" if row["set_aside"] else ""
        print_wrapped(head, len(head), printable(f"{row['correction']}{undone}"))
        print_wrapped(" " * len(head), len(head), f"{minute_text(row['made_at'])} UTC{aside}")
        print_wrapped(" " * len(head), len(head), printable(f"Reason: {row['reason']}"))


@click.command("withdraw")
@click.argument("tournament")
@click.argument("bot")
@reason_option
@json_option
def withdraw_command(tournament: str, bot: str, reason: str, as_json: bool) -> None:
    """Let BOT leave TOURNAMENT: it is not paired any more, and its recorded matches stay.

    In a Swiss its rivals get the point of a bye; in a knockout its rival advances.
    """
    from arena.tournament.corrections.entrants import withdraw

    correct(tournament, as_json, lambda home: withdraw(home.store, tournament, bot, reason=reason))


@click.command("disqualify")
@click.argument("tournament")
@click.argument("bot")
@click.option(
    "--rule",
    type=click.Choice([rule.value for rule in DisqualifiedMatches]),
    default=DisqualifiedMatches.ANNUL.value,
    show_default=True,
    help="What becomes of its matches: annul, they count for nobody; keep, they count for its rivals.",
)
@reason_option
@json_option
def disqualify_command(tournament: str, bot: str, rule: str, reason: str, as_json: bool) -> None:
    """Take BOT out of TOURNAMENT: it is not paired any more, and has no line in the table."""
    from arena.tournament.corrections.entrants import disqualify

    matches = DisqualifiedMatches(rule)
    correct(tournament, as_json, lambda home: disqualify(home.store, tournament, bot, reason=reason, matches=matches))


@click.command("replace")
@click.argument("tournament")
@click.argument("bot")
@click.argument("new")
@click.option("--args", default="", help="Arguments added to its command.")
@reason_option
@json_option
def replace_command(tournament: str, bot: str, new: str, args: str, reason: str, as_json: bool) -> None:
    """Give the entrant BOT of TOURNAMENT the files of NEW: a path, or a submitted bot.

    NEW has to pass its check. The arena sets the records of BOT's matches aside, and the next arena run plays these
    again; all other results stay. You need not change the tournament file.
    """
    from arena.tournament.corrections.entrants import replace_bot

    correct(
        tournament,
        as_json,
        lambda home: replace_bot(home.store, tournament, bot, bot_to_enter(home, new, args), reason=reason),
    )


@click.command("void")
@click.argument("tournament")
@click.argument("matches", nargs=-1, required=True, type=WholeNumber(1, MAX_COUNT), metavar="MATCH...")
@reason_option
@json_option
def void_command(tournament: str, matches: tuple[int, ...], reason: str, as_json: bool) -> None:
    """Void each MATCH of TOURNAMENT, given by its number: the next arena run plays it again.

    The new match has the same opening and seats. The arena keeps the record that no longer counts: arena tournament
    export --set-aside.
    """
    from arena.tournament.corrections.corrected_tournament import void_matches

    correct(tournament, as_json, lambda home: void_matches(home.store, tournament, matches, reason=reason))


@click.command("enter")
@click.argument("tournament")
@click.argument("bot")
@click.option("--as", "name", metavar="NAME", help="Its name in this tournament, in place of its own.")
@click.option("--args", default="", help="Arguments added to its command.")
@click.option("--challenger", is_flag=True, help="Enter a gauntlet as a challenger, and not in the field.")
@reason_option
@json_option
def enter_command(
    tournament: str, bot: str, name: str | None, args: str, challenger: bool, reason: str, as_json: bool
) -> None:
    """Let BOT, a path or a submitted bot, enter TOURNAMENT, a round robin or a gauntlet that has begun.

    BOT has to pass its check. The next arena run plays its matches, from the same openings as everybody's. The
    tournament file may stay as it is.
    """
    from arena.tournament.corrections.entrants import enter_late

    def made(home: ArenaHome) -> Correction:
        entrant = bot_to_enter(home, bot, args, name)
        return enter_late(home.store, tournament, entrant, reason=reason, is_challenger=challenger)

    correct(tournament, as_json, made)


@click.command("undo")
@click.argument("tournament")
@click.argument("number", required=False, type=WholeNumber(1, MAX_COUNT))
@reason_option
@json_option
def undo_command(tournament: str, number: int | None, reason: str, as_json: bool) -> None:
    """Undo correction NUMBER of TOURNAMENT; by default the latest. arena correct list lists them.

    The records that it has set aside count again, and what has been played in their place is set aside.
    """
    from arena.tournament.corrections.corrected_tournament import undo_correction

    correct(tournament, as_json, lambda home: undo_correction(home.store, tournament, number, reason=reason))
