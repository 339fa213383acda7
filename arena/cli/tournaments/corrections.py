"""Shared by the commands that correct a tournament."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.enums import CorrectionKind
from arena.base.text import counted
from arena.cli.terminal.common import print_json, split_arguments

if TYPE_CHECKING:
    from arena.base.records import Bot
    from arena.store.home import ArenaHome
    from arena.store.results.correction import Correction
    from arena.store.results.store import Store

reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why, for everybody to read.")


def bot_to_enter(arena_home: ArenaHome, text: str, args: str, name: str | None = None) -> Bot:
    """Return the bot that is named on the command line: a path, ``arena:NAME``, or a submitted bot.

    Raises:
        UsageError: if there is no such bot, or the name or the arguments are not accepted.
    """
    from arena.match.players.manifest import check_name
    from arena.tournament.definition import find_entrant

    bot = find_entrant(text, split_arguments(args), Path.cwd(), arena_home.bots)
    if name is None:
        return bot
    check_name("--as", name, arena_home.bots.is_known)
    return replace(bot, name=name)


def print_correction(store: Store, tournament: str, made: Correction, as_json: bool) -> None:
    """Print what was corrected, and what is left to play."""
    from arena.analysis.text.corrections_table import correction_text

    stored = store.tournament(tournament)
    if as_json:
        values = {"tournament": stored.name, "number": made.number, "kind": made.kind, "bot": made.details.bot or None}
        values |= {"correction": correction_text(made), "reason": made.reason, "made_at": made.made_at}
        print_json(values | {"left": stored.scheduled - stored.recorded})
        return
    click.echo(printable(f"Correction {made.number} of {stored.name}: {correction_text(made)}."))
    lost = sum(made.number == skipped.correction for skipped in store.corrections.skipped(stored))
    if lost and made.kind in (CorrectionKind.VOID, CorrectionKind.REPLACE):
        click.echo(f"{counted(lost, 'match')} can't be played again, because a bot has left the tournament.")
    left = stored.scheduled - stored.recorded
    if left:
        click.echo(f"The next arena run plays {left} of its {counted(stored.scheduled, 'match')}.")
    if made.kind is not CorrectionKind.UNDO:
        name = shlex.quote(stored.name)
        click.echo(printable(f"To take it back: arena undo {name} {made.number} --reason TEXT"))
