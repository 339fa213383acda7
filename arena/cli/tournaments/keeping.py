"""Commands that rename a tournament, put it into the trash, and take it out again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.options import confirm, json_option, yes_option

if TYPE_CHECKING:
    from arena.store.home import ArenaHome
    from arena.store.results.values import StoredTournament


@click.command("rename")
@click.argument("tournament")
@click.argument("name", metavar="NEW")
@json_option
def rename_command(tournament: str, name: str, as_json: bool) -> None:
    """Give TOURNAMENT the name NEW; its log goes with it.

    Its records keep the name they were recorded under. To resume it from a file in which it has its old name:
    arena run FILE --name NEW
    """
    from arena.store.home import rename_tournament

    with open_home(must_exist=True) as arena_home:
        rename_tournament(arena_home, tournament, name)
    if as_json:
        print_json({"tournament": name, "was": tournament})
    else:
        click.echo(printable(f"{tournament} is named {name} now."))


@click.command("delete")
@click.argument("tournament")
@click.option("--forever", is_flag=True, help="Remove a tournament that is in the trash, with all its records.")
@yes_option
@json_option
def delete_command(tournament: str, forever: bool, is_confirmed: bool, as_json: bool) -> None:
    """Put TOURNAMENT into the trash, after asking.

    It is in no list, leaderboard, statistic or season any more, and another tournament may have its name.
    `arena tournament restore` brings it back as it was; `arena tournament list --deleted` lists the trash.
    """
    with open_home(must_exist=True) as arena_home:
        stored = (_erase if forever else _delete)(arena_home, tournament, is_confirmed)
    if as_json:
        name = tournament if stored is None else stored.name
        in_trash = None if stored is None or forever else stored.trash_name
        print_json({"tournament": name, "is_deleted": stored is not None, "in_bin": in_trash})
    elif stored is not None and forever:
        click.echo(printable(f"{stored.name} is removed."))
    elif stored is not None:
        click.echo(
            printable(
                f"{stored.name} is in the trash; to bring it back: arena tournament restore {shlex.quote(stored.name)}"
            )
        )


def _delete(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
    from arena.store.home import delete_tournament

    stored = arena_home.store.tournament(name)
    with arena_home.store.lock(name):
        pass  # refused before asking, if a director is running it
    question = f"Put tournament {name!r} with {counted(stored.recorded, 'record')} into the trash?"
    return delete_tournament(arena_home, name) if confirm(question, is_confirmed) else None


def _erase(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
    from arena.store.home import erase_tournament

    stored = arena_home.store.deleted_tournament(name)
    what = f"tournament {stored.name!r}, deleted {(stored.deleted_at or '')[:10]},"
    if not confirm(f"Remove {what} and its {counted(stored.recorded, 'record')} forever?", is_confirmed):
        return None
    erase_tournament(arena_home, stored.trash_name)
    return stored


@click.command("restore")
@click.argument("deleted_tournament", metavar="TOURNAMENT")
@click.option("--as", "new_name", metavar="NAME", help="Its name from now on, in place of the one it had.")
@json_option
def restore_command(deleted_tournament: str, new_name: str | None, as_json: bool) -> None:
    """Take TOURNAMENT out of the trash, as it was.

    TOURNAMENT is the name it had; if several had it, the name that `arena tournament list --deleted` shows, such as
    deleted/7.
    """
    from arena.store.home import restore_tournament

    with open_home(must_exist=True) as arena_home:
        restored = restore_tournament(arena_home, deleted_tournament, new_name)
    if as_json:
        print_json({"tournament": restored.name, "recorded": restored.recorded})
    else:
        click.echo(printable(f"{restored.name} is back, with {counted(restored.recorded, 'record')}."))
