"""``arena leaderboard``: the ratings of all bots over all tournaments."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import Column
from arena.base.text import minute_text
from arena.cli.terminal.common import open_home, print_standings, print_table
from arena.cli.terminal.options import comparisons_option, format_options, is_wide
from arena.cli.terminal.since import read_since

if TYPE_CHECKING:
    from arena.analysis.measures.rating_history import RatingSnapshot

SHOWN_BOTS = 8


@click.command("leaderboard")
@click.argument("game", required=False)
@click.option("--season", metavar="NAME", help="Only the tournaments of this season.")
@click.option("--tournament", "tournaments", multiple=True, metavar="NAME", help="Only this tournament; repeatable.")
@click.option(
    "--since",
    callback=read_since,
    metavar="DATE",
    help="Only tournaments begun since a date or an age: 2026-03-01, 30d.",
)
@comparisons_option
@click.option("--over-time", is_flag=True, help="The rating of each bot after each tournament.")
@format_options
def command(
    game: str | None,
    season: str | None,
    tournaments: tuple[str, ...],
    since: datetime | None,
    comparisons: bool,
    over_time: bool,
    table_format: str,
) -> None:
    """Rate every bot that has played GAME, over all tournaments; without GAME, every bot in all games together.

    A new version of a bot is a new player. A bot's rating over all games is fitted to all its matches together, and
    means most where all bots play the same games.

    Tournaments named by --tournament are added to those of --season; of these, --since leaves out what was begun
    earlier. Comparisons count if they are named, belong to the season, or with --comparisons. Deleted tournaments never
    count.
    """
    from arena.analysis.measures.rating_history import history_over_tournaments
    from arena.analysis.measures.standings_cache import standings_of
    from arena.games import find_game
    from arena.store.results.scope import Scope

    if game is not None:
        find_game(game)
    scope = Scope(tournaments=tournaments, season=season, since=since, comparisons=comparisons)
    with open_home(must_exist=True) as arena_home:
        if since is not None and not arena_home.store.tournaments(scope):
            click.echo(f"No tournament of these was begun since {since:%Y-%m-%d %H:%M} (UTC).", err=True)
        if over_time:
            directory = arena_home.cache_directory
            history = history_over_tournaments(arena_home.store, game, scope, cache_directory=directory)
            _print_history(history, table_format)
            return
        table = standings_of(arena_home.store, scope, game)
    print_standings(table, table_format)


def _print_history(snapshots: list[RatingSnapshot], table_format: str) -> None:
    """Print mu after each tournament, a column for each bot, the best at the end first."""
    bots = [line.label for line in snapshots[-1].lines] if snapshots else []
    shown = bots if table_format in ("json", "csv") or is_wide() else bots[:SHOWN_BOTS]
    columns = [
        Column("tournament", "after", is_number=False),
        Column("at", "begun", is_number=False, drop_order=2),
        Column("matches", "matches", drop_order=1),
        *(Column(bot, bot, 2, is_parted=True) for bot in shown),
    ]
    rows = []
    for snapshot in snapshots:
        rated = {line.label: line for line in snapshot.lines}
        mus = {bot: rated[bot].rating.mu if bot in rated else None for bot in shown}
        at = snapshot.at if table_format == "json" else minute_text(snapshot.at)
        rows.append({"tournament": snapshot.title, "at": at, "matches": snapshot.matches, **mus})
    more = f" The best {len(shown)} of {len(bots)} bots; --wide shows all." if len(shown) < len(bots) else ""
    print_table(columns, rows, table_format, f"mu of each bot after each tournament.{more}")
