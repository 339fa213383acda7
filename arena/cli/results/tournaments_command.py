"""``arena tournaments``: the tournaments in the home, or in its bin."""

from __future__ import annotations

import click

from arena.base.text import counted
from arena.cli.results.tournament_table import tournament_table
from arena.cli.terminal.common import open_home, print_table
from arena.cli.terminal.options import format_options


@click.command("tournaments")
@click.option("--deleted", is_flag=True, help="Those in the bin, which arena restore brings back.")
@format_options
def command(deleted: bool, table_format: str) -> None:
    """List all tournaments, comparisons included, the oldest first.

    State: running (its director is named), finished, stopped (arena run resumes it) or not begun. Matches: those with a
    record, of those in the schedule so far. Size: of the records.
    """
    from arena.store.results.states import listed_tournaments

    with open_home(must_exist=True) as arena_home:
        store = arena_home.store
        in_bin = store.deleted_tournaments()
        listed = listed_tournaments(store, in_bin if deleted else store.tournaments())
    footer = _bin_footer(len(in_bin)) if deleted else _footer(len(listed), len(in_bin))
    print_table(*tournament_table(listed, table_format, in_bin=deleted), table_format, footer)


def _footer(count: int, deleted: int) -> str:
    parts = [] if count else ["There is no tournament yet; begin one with: arena run FILE"]
    if deleted:
        parts.append(f"{counted(deleted, 'more tournament')} in the bin: arena tournaments --deleted")
    return "\n".join(parts)


def _bin_footer(count: int) -> str:
    if not count:
        return "The bin is empty."
    return "To bring one back: arena restore NAME. To remove it forever: arena delete --forever NAME."
