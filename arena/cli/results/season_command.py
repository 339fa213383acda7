"""``arena season``: a named set of tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.results.tournament_table import tournament_table
from arena.cli.terminal.common import open_home, print_json, print_table
from arena.cli.terminal.options import format_options

if TYPE_CHECKING:
    from arena.store.results.store import Store


@click.command("season")
@click.argument("season", metavar="NAME")
@click.argument("tournaments", nargs=-1, metavar="[TOURNAMENT]...")
@click.option("--add", "change", flag_value="add", help="Add tournaments; the season begins with its first.")
@click.option("--drop", "change", flag_value="drop", help="Take tournaments out; the season ends with its last.")
@click.option("--delete", "change", flag_value="delete", help="Forget the season; its tournaments stay.")
@format_options
def command(season: str, tournaments: tuple[str, ...], change: str | None, table_format: str) -> None:
    """List the tournaments of season NAME, or change which ones it has.

    \b
    arena season 2026 --add spring summer
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
        _change(store, season, change, tournaments)
        left = next((one.tournaments for one in store.seasons.all() if one.name == season), ())
    if table_format == "json":
        print_json({"season": season, "tournaments": left})
    else:
        click.echo(printable(_sentence(season, left, change)))


def _change(store: Store, name: str, change: str, tournaments: Sequence[str]) -> None:
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


def _sentence(name: str, tournaments: Sequence[str], change: str) -> str:
    if change == "delete":
        return f"Season {name} is deleted; its tournaments stay."
    if not tournaments:
        return f"Season {name} has no tournament any more, and ends."
    return f"Season {name} has {counted(len(tournaments), 'tournament')}: {', '.join(tournaments)}"
