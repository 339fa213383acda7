"""``arena`` without a command: what the home has, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable
from arena.base.text import counted, minute_text
from arena.cli.terminal.common import line_width, open_home, sentences_text, table_text

if TYPE_CHECKING:
    from arena.analysis.measures.overview import LatestResult, Overview
    from arena.store.results.leaders import Leaders

COLUMNS = [
    Column("tournament", "tournament", is_number=False),
    Column("leader", "leader", is_number=False, wraps=True),
    Column("state", "state", is_number=False, drop_order=1),
    Column("recorded", "matches", drop_order=2),
    Column("scheduled", "of", drop_order=2),
    Column("format", "format", is_number=False, drop_order=4),
    Column("begun", "begun (UTC)", is_number=False, drop_order=3),
]

MAX_NAMES = 3
"""More leaders are counted."""


def print_overview() -> None:
    """Print what the home has.

    Raises:
        NoHomeError: if it does not exist yet.
    """
    from arena.analysis.measures.overview import overview

    with open_home(must_exist=True) as arena_home:
        found = overview(arena_home)
    click.echo(sentences_text(_counts(found)))
    for listed in found.running:
        played = f"{listed.tournament.recorded:,} of {counted(listed.tournament.scheduled, 'match')}"
        click.echo(sentences_text(f"Now playing: {listed.tournament.name}, {played} ({listed.director})."))
    if found.latest:
        click.echo()
        click.echo(table_text(COLUMNS, [_row(result) for result in found.latest], names_left_out=False))
    click.echo()
    _print_commands(_next_commands(found))


def _print_commands(commands: Mapping[str, str]) -> None:
    """Print commands with their meanings, which are left out where the terminal is too narrow."""
    width = max(map(len, commands))
    for command, meaning in commands.items():
        line = printable(f"  {command:{width}}  {meaning}")
        click.echo(line if len(line) <= line_width() else printable(f"  {command}"))


def _counts(found: Overview) -> str:
    played = f"{counted(found.tournaments, 'tournament')} with {counted(found.matches, 'match')}"
    return f"{found.place}: {played}, {counted(found.submitted_bots, 'submitted bot')}."


def _row(result: LatestResult) -> dict[str, Any]:
    stored = result.listed.tournament
    return {
        "tournament": stored.name,
        "leader": _leader(result.leaders),
        "state": result.listed.state,
        "recorded": stored.recorded,
        "scheduled": stored.scheduled,
        "format": stored.format,
        "begun": minute_text(stored.created_at),
    }


def _leader(leaders: Leaders) -> str:
    names = " and ".join(leaders.bots) if len(leaders.bots) <= MAX_NAMES else counted(len(leaders.bots), "bot")
    return names if leaders.score_share is None else f"{names}, {100 * leaders.score_share:.1f} % of the points"


def _next_commands(found: Overview) -> dict[str, str]:
    """Return what to try next, with its meaning."""
    from arena.store.results.scope import EXPERIMENTS

    if not found.latest:
        return {
            "arena quickstart": "play four example bots",
            "arena run FILE": "play a tournament",
            "arena --help": "all commands",
        }
    newest = [result.listed.tournament for result in found.latest]
    shown = next((stored for stored in newest if stored.format not in EXPERIMENTS), newest[0])
    return {
        f"arena standings {shlex.quote(shown.name)}": "its whole table",
        "arena leaderboard": "all bots, over all tournaments",
        "arena tournaments": "all tournaments",
        "arena --help": "all commands",
    }
