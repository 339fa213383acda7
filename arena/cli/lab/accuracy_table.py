"""The table of how well bots play by what is known."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import Column, Row, printable
from arena.base.text import all_of

if TYPE_CHECKING:
    from arena.lab.matches.accuracy import BotAccuracy, TournamentAccuracy

COLUMNS = [
    Column("bot", "bot", is_number=False),
    Column("matches", "matches", drop_order=3),
    Column("decisions", "decisions", drop_order=2),
    Column("kept", "kept %"),
    Column("mistakes", "?"),
    Column("blunders", "??"),
    Column("earned", "earned", 1, drop_order=1),
    Column("lucky", "lucky", 1, drop_order=1),
    Column("points_known", "of matches", drop_order=4),
]

TITLE = "Accuracy"
ABOUT = (
    "By annotated matches: the share of value kept in a decision with 95 % interval; actions that lose margin and that"
    " change the outcome; points held all the way, and points that the other bot had let slip."
)


def accuracy_table(
    bots: Sequence[BotAccuracy], names: Mapping[str, str], formatted: bool = True
) -> tuple[list[Column], list[Row]]:
    """Return the table of accuracy.

    Args:
        bots: in order.
        names: what tables call them, by ``name@version``.
        formatted: intervals as text; otherwise as JSON types.
    """
    return COLUMNS, [
        {
            "bot": names.get(bot.bot, bot.bot),
            "matches": bot.matches,
            "decisions": bot.decisions,
            "kept": _kept(bot, formatted),
            "mistakes": bot.mistakes,
            "blunders": bot.blunders,
            "earned": bot.earned,
            "lucky": bot.lucky,
            "points_known": bot.points_known,
        }
        for bot in bots
    ]


def say_left_out(accuracy: TournamentAccuracy, tournament: str, names: Mapping[str, str]) -> None:
    """Say on stderr which bots are not in the table of a tournament, and how to have them in it."""
    for match in sorted(set(accuracy.left_out.values())):
        bots = all_of([names.get(bot, bot) for bot, first in accuracy.left_out.items() if first == match])
        again = f"arena lab annotate {shlex.quote(f'{tournament}/{match}')}"
        note = f"the accuracy of {bots} is not shown: that of match {match} is malformed; to annotate it again: {again}"
        click.echo(printable(f"arena: {note}"), err=True)


def _kept(bot: BotAccuracy, formatted: bool) -> object:
    share = bot.kept
    if share is None:
        return "-" if formatted else None
    if not formatted:
        return {"value": share.value, "low": share.low, "high": share.high}
    interval = f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if bot.encounters > 1 else ""
    return f"{100 * share.value:.1f}{interval}"
