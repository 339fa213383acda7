"""``arena standings``: the table of a tournament."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.base.errors import UsageError
from arena.base.text import any_of
from arena.cli.terminal.common import (
    load_standings,
    named_or_latest,
    open_home,
    print_ranking,
    print_standings,
    sentences_text,
)
from arena.cli.terminal.options import format_options, game_option

if TYPE_CHECKING:
    from arena.analysis.measures.standings import Standings
    from arena.store.results.values import StoredTournament
    from arena.tournament.formats.format import Placing


@click.command("standings")
@click.argument("tournament", required=False)
@game_option
@click.option(
    "--places",
    is_flag=True,
    help="Only the final ranking by the format: of a Swiss by score and tie-breaks, or of a knockout.",
)
@format_options
def command(tournament: str | None, game: str | None, places: bool, table_format: str) -> None:
    """Show the table of TOURNAMENT (by default the latest), the best bot first."""
    from arena.store.results.again import read_whole
    from arena.tournament.rounds import ranking_of

    with open_home(must_exist=True) as arena_home:
        name = named_or_latest(arena_home, tournament).name

        def read() -> tuple[StoredTournament, list[tuple[str, Placing]] | None, Standings]:
            stored = arena_home.store.tournament(name)
            stored.require_game(game)
            ranking = ranking_of(arena_home.store, stored) if game is None else None
            return stored, ranking, load_standings(arena_home, name, game)

        stored, ranking, table = read_whole(read)
    if places and ranking is None:
        from arena.tournament.formats.table import FORMATS

        ranked = any_of([name for name, kind in FORMATS.items() if kind.has_ranking])
        raise UsageError(
            f"--places: {stored.definition.format} has no table of its own; expected {ranked} with all its games"
        )
    if ranking is not None and (places or table_format == "text"):
        print_ranking(ranking, stored.finished_at is not None, table_format)
        if places:
            return
        click.echo()
    print_standings(table, table_format)
    if ranking is not None and table_format == "text":
        click.echo(sentences_text(f"Round by round: arena rounds {stored.name}"))
