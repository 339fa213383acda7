"""``arena delete``: put a tournament into the bin, or remove one from there forever."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.confirmation import confirm, yes_option
from arena.cli.terminal.options import json_option

if TYPE_CHECKING:
    from arena.store.home import ArenaHome
    from arena.store.results.values import StoredTournament


@click.command("delete")
@click.argument("tournament")
@click.option("--forever", is_flag=True, help="Remove a tournament that is in the bin, with all its records.")
@yes_option
@json_option
def command(tournament: str, forever: bool, is_confirmed: bool, as_json: bool) -> None:
    """Put TOURNAMENT into the bin, after asking.

    It is in no list, leaderboard, statistic or season any more, and another tournament may have its name.
    `arena restore` brings it back as it was; `arena tournaments --deleted` lists the bin.
    """
    with open_home(must_exist=True) as arena_home:
        stored = (_erase if forever else _delete)(arena_home, tournament, is_confirmed)
    if as_json:
        name = tournament if stored is None else stored.name
        in_bin = None if stored is None or forever else stored.bin_name
        print_json({"tournament": name, "is_deleted": stored is not None, "in_bin": in_bin})
    elif stored is not None and forever:
        click.echo(printable(f"{stored.name} is removed."))
    elif stored is not None:
        click.echo(
            printable(f"{stored.name} is in the bin; to bring it back: arena restore {shlex.quote(stored.name)}")
        )


def _delete(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
    """Return the tournament as it is in the bin; None if the answer was no."""
    from arena.store.housekeeping import delete_tournament

    stored = arena_home.store.tournament(name)
    with arena_home.store.lock(name):
        pass  # refused before asking, if a director is running it
    question = f"Put tournament {name!r} with {counted(stored.recorded, 'record')} into the bin?"
    return delete_tournament(arena_home, name) if confirm(question, is_confirmed) else None


def _erase(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
    """Return the tournament as it was in the bin; None if the answer was no."""
    from arena.store.housekeeping import erase_tournament

    stored = arena_home.store.deleted_tournament(name)
    what = f"tournament {stored.name!r}, deleted {(stored.deleted_at or '')[:10]},"
    if not confirm(f"Remove {what} and its {counted(stored.recorded, 'record')} forever?", is_confirmed):
        return None
    erase_tournament(arena_home, stored.bin_name)
    return stored
