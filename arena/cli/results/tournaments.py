"""The tournaments and seasons of a home, as lists and as the overview that ``arena`` alone prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.errors import UsageError
from arena.base.text import counted, minute_text, short_size_text
from arena.cli.terminal.common import line_width, open_home, print_done, print_table, sentences_text, table_text
from arena.cli.terminal.options import format_options

if TYPE_CHECKING:
    from arena.analysis.measures.overview import LatestResult, Overview
    from arena.store.results.states import Leaders, ListedTournament
    from arena.store.results.store import Store


_NAME = Column("tournament", "tournament", is_number=False)
_MATCHES = [Column("recorded", "matches", drop_order=1), Column("scheduled", "of", drop_order=1)]
_WHAT = [
    Column("format", "format", is_number=False, drop_order=4),
    Column("games", "games", is_number=False, drop_order=3, wraps=True),
]
_SIZE = [Column("corrections", "corrections", drop_order=7), Column("bytes", "size", drop_order=6)]

_COLUMNS = [
    _NAME,
    Column("state", "state", is_number=False),
    *_WHAT,
    *_MATCHES,
    Column("begun", "begun (UTC)", is_number=False, drop_order=5),
    *_SIZE,
    Column("director", "director", is_number=False, drop_order=2),
]

_TRASH_COLUMNS = [
    _NAME,
    Column("in_bin", "in the trash as", is_number=False),
    Column("deleted", "deleted (UTC)", is_number=False, drop_order=2),
    *_WHAT,
    *_MATCHES,
    *_SIZE,
]

_OFTEN_EMPTY = ("corrections", "director")


def tournament_table(
    listed: Sequence[ListedTournament], table_format: str, in_trash: bool = False
) -> tuple[list[Column], list[dict[str, Any]]]:
    formatted = table_format not in ("json", "csv")
    rows = [_row(tournament, formatted) for tournament in listed]
    columns = _TRASH_COLUMNS if in_trash else _COLUMNS
    if formatted:
        columns = [c for c in columns if c.key not in _OFTEN_EMPTY or any(row[c.key] for row in rows)]
    return columns, rows


def _row(listed: ListedTournament, formatted: bool) -> dict[str, Any]:
    stored = listed.tournament
    return {
        "tournament": stored.name,
        "in_bin": stored.trash_name,
        "state": listed.state,
        "format": stored.format,
        "games": ", ".join(stored.games) if formatted else stored.games,
        "recorded": stored.recorded,
        "scheduled": stored.scheduled,
        "begun": _time(stored.created_at, formatted),
        "deleted": _time(stored.deleted_at, formatted),
        "bytes": short_size_text(stored.record_bytes) if formatted else stored.record_bytes,
        "corrections": len(stored.corrections),
        "director": listed.director,
    }


def _time(text: str | None, formatted: bool) -> str | None:
    return minute_text(text) if text is not None and formatted else text


@click.command("tournaments")
@click.option("--deleted", is_flag=True, help="Those in the trash, which arena tournament restore brings back.")
@format_options
def tournaments_command(deleted: bool, table_format: str) -> None:
    """List all tournaments, comparisons included, the oldest first.

    State: running (its director is named), finished, stopped (arena run resumes it) or not begun. Matches: those with a
    record, of those in the schedule so far. Size: of the records.
    """
    from arena.store.results.states import listed_tournaments

    with open_home(must_exist=True) as arena_home:
        store = arena_home.store
        in_trash = store.deleted_tournaments()
        listed = listed_tournaments(store, in_trash if deleted else store.tournaments())
    footer = _trash_footer(len(in_trash)) if deleted else _footer(len(listed), len(in_trash))
    print_table(*tournament_table(listed, table_format, in_trash=deleted), table_format, footer)


def _footer(count: int, deleted: int) -> str:
    parts = [] if count else ["There is no tournament yet; begin one with: arena run FILE"]
    if deleted:
        parts.append(f"{counted(deleted, 'more tournament')} in the trash: arena tournament list --deleted")
    return "\n".join(parts)


def _trash_footer(count: int) -> str:
    if not count:
        return "The trash is empty."
    return "Bring one back: arena tournament restore NAME. Remove it forever: arena tournament delete --forever NAME."


SEASON_COLUMNS = [
    Column("season", "season", is_number=False),
    Column("count", "tournaments", drop_order=1),
    Column("tournaments", "which", is_number=False, wraps=True),
]


@click.command("seasons")
@format_options
def seasons_command(table_format: str) -> None:
    """List the seasons, each with its tournaments."""
    with open_home(must_exist=True) as arena_home:
        seasons = arena_home.store.seasons.all()
    is_for_programs = table_format in ("json", "csv")
    rows = [
        {
            "season": season.name,
            "count": len(season.tournaments),
            "tournaments": list(season.tournaments) if is_for_programs else ", ".join(season.tournaments) or "-",
        }
        for season in seasons
    ]
    empty = "There is no season yet; begin one with: arena tournament season NAME --add TOURNAMENT"
    print_table(SEASON_COLUMNS, rows, table_format, empty=empty)


@click.command("season")
@click.argument("season", metavar="NAME")
@click.argument("tournaments", nargs=-1, metavar="[TOURNAMENT]...")
@click.option("--add", "change", flag_value="add", help="Add tournaments; the season begins with its first.")
@click.option("--drop", "change", flag_value="drop", help="Take tournaments out; the season ends with its last.")
@click.option("--delete", "change", flag_value="delete", help="Forget the season; its tournaments stay.")
@format_options
def season_command(season: str, tournaments: tuple[str, ...], change: str | None, table_format: str) -> None:
    """List the tournaments of season NAME, or change which ones it has.

    \b
    arena tournament season 2026 --add spring summer
    arena leaderboard --season 2026

    A season may have tournaments of several games, and a tournament may be in several seasons.
    """
    if change in ("add", "drop") and not tournaments:
        raise UsageError(f"season {season!r}: expected the tournaments to {change}")
    if change in (None, "delete") and tournaments:
        raise UsageError(f"season {season!r}: expected --add or --drop with tournaments")
    with open_home(must_exist=True) as arena_home:
        store = arena_home.store
        if change is None:
            _print_season(store, season, table_format)
            return
        _change_season(store, season, change, tournaments)
        remaining = next((listed.tournaments for listed in store.seasons.all() if listed.name == season), ())
    values = {"season": season, "tournaments": remaining}
    print_done(table_format == "json", values, _season_sentence(season, remaining, change))


def _change_season(store: Store, name: str, change: str, tournaments: Sequence[str]) -> None:
    if change == "delete":
        store.seasons.delete(name)
        return
    chosen = [store.tournament(tournament) for tournament in tournaments]
    if change == "add":
        store.seasons.add(name, chosen)
    else:
        store.seasons.remove(name, chosen)


def _print_season(store: Store, name: str, table_format: str) -> None:
    from arena.store.results.states import listed_tournaments

    names = store.seasons.get(name).tournaments
    listed = listed_tournaments(store, [store.tournament(tournament) for tournament in names])
    print_table(*tournament_table(listed, table_format), table_format)


def _season_sentence(name: str, tournaments: Sequence[str], change: str) -> str:
    if change == "delete":
        return f"Season {name} is deleted; its tournaments stay."
    if not tournaments:
        return f"Season {name} has no tournament any more, and ends."
    return f"Season {name} has {counted(len(tournaments), 'tournament')}: {', '.join(tournaments)}"


OVERVIEW_COLUMNS = [
    Column("tournament", "tournament", is_number=False),
    Column("leader", "leader", is_number=False, wraps=True),
    Column("state", "state", is_number=False, drop_order=1),
    Column("recorded", "matches", drop_order=2),
    Column("scheduled", "of", drop_order=2),
    Column("format", "format", is_number=False, drop_order=4),
    Column("begun", "begun (UTC)", is_number=False, drop_order=3),
]

MAX_NAMES = 3
"""The most leaders that are named; of more, only their number is shown."""


def print_overview() -> None:
    from arena.analysis.measures.overview import overview

    with open_home(must_exist=True) as arena_home:
        summary = overview(arena_home)
    played = f"{counted(summary.tournaments, 'tournament')} with {counted(summary.matches, 'match')}"
    click.echo(sentences_text(f"{summary.place}: {played}, {counted(summary.submitted_bots, 'submitted bot')}."))
    for listed in summary.running:
        played = f"{listed.tournament.recorded:,} of {counted(listed.tournament.scheduled, 'match')}"
        click.echo(sentences_text(f"Now playing: {listed.tournament.name}, {played} ({listed.director})."))
    if summary.latest:
        click.echo()
        click.echo(
            table_text(OVERVIEW_COLUMNS, [_overview_row(result) for result in summary.latest], names_left_out=False)
        )
    click.echo()
    _print_commands(_next_commands(summary))


def _print_commands(commands: Mapping[str, str]) -> None:
    width = max(map(len, commands))
    for command, meaning in commands.items():
        line = printable(f"  {command:{width}}  {meaning}")
        click.echo(line if len(line) <= line_width() else printable(f"  {command}"))


def _overview_row(result: LatestResult) -> dict[str, Any]:
    stored, leader = result.listed.tournament, _leader(result.leaders)
    own = {"tournament": stored.name, "leader": leader, "state": result.listed.state}
    return row_of(OVERVIEW_COLUMNS, stored, **own, begun=minute_text(stored.created_at))


def _leader(leaders: Leaders) -> str:
    names = " and ".join(leaders.bots) if len(leaders.bots) <= MAX_NAMES else counted(len(leaders.bots), "bot")
    return names if leaders.score_share is None else f"{names}, {100 * leaders.score_share:.1f} % of the points"


def _next_commands(summary: Overview) -> dict[str, str]:
    from arena.store.results.scope import EXPERIMENTS

    if not summary.latest:
        return {
            "arena quickstart": "play four example bots",
            "arena run FILE": "play a tournament",
            "arena --help": "all commands",
        }
    newest = [result.listed.tournament for result in summary.latest]
    shown = next((stored for stored in newest if stored.format not in EXPERIMENTS), newest[0])
    return {
        f"arena standings {shlex.quote(shown.name)}": "its whole table",
        "arena leaderboard": "all bots, over all tournaments",
        "arena tournament list": "all tournaments",
        "arena --help": "all commands",
    }
