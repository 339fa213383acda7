"""Commands that rename, delete and restore tournaments, export records, and take those of an export or a home."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.stored import from_json_text
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_done, print_json
from arena.cli.terminal.options import FilePath, confirm, json_option, name_option, yes_option
from arena.cli.terminal.streams import OK, WRONG_USE
from arena.store.home import ArenaHome, delete_tournament, erase_tournament, rename_tournament, restore_tournament

if TYPE_CHECKING:
    from arena.store.results.values import StoredTournament
    from arena.tournament.transfer.checks import MergedTournament


@click.command("rename")
@click.argument("tournament")
@click.argument("name", metavar="NEW")
@json_option
def rename_command(tournament: str, name: str, as_json: bool) -> None:
    """Give TOURNAMENT the name NEW; its log goes with it.

    Its records keep the name they were recorded under. To resume it from a file in which it has its old name:
    arena run FILE --name NEW
    """
    with open_home(must_exist=True) as arena_home:
        rename_tournament(arena_home, tournament, name)
    print_done(as_json, {"tournament": name, "was": tournament}, f"{tournament} is named {name} now.")


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
    if stored is None:
        if as_json:
            print_json({"tournament": tournament, "is_deleted": False, "in_bin": None})
        return
    undo = f"is in the trash; to bring it back: arena tournament restore {shlex.quote(stored.name)}"
    values = {"tournament": stored.name, "is_deleted": True, "in_bin": None if forever else stored.trash_name}
    print_done(as_json, values, f"{stored.name} {'is removed.' if forever else undo}")


def _delete(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
    stored = arena_home.store.tournament(name)
    with arena_home.store.lock(name):
        pass  # refused before asking, if a director is running it
    question = f"Put tournament {name!r} with {counted(stored.recorded, 'record')} into the trash?"
    return delete_tournament(arena_home, name) if confirm(question, is_confirmed) else None


def _erase(arena_home: ArenaHome, name: str, is_confirmed: bool) -> StoredTournament | None:
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
    with open_home(must_exist=True) as arena_home:
        restored = restore_tournament(arena_home, deleted_tournament, new_name)
    sentence = f"{restored.name} is back, with {counted(restored.recorded, 'record')}."
    print_done(as_json, {"tournament": restored.name, "recorded": restored.recorded}, sentence)


@click.command("export")
@click.argument("tournament", required=False)
@click.option(
    "--whole", is_flag=True, help="With definition, schedule and corrections, so that another home can import it."
)
@click.option("--set-aside", is_flag=True, help="The records that corrections have set aside, in place of the others.")
@click.option("--json", is_flag=True, expose_value=False, help="Print JSON, and nothing else; it does so anyway.")
def export_command(tournament: str | None, whole: bool, set_aside: bool) -> None:
    """Print one JSON object for each recorded match of TOURNAMENT, or of all, in the order of the schedule.

    It is the operator's own copy: everything that bots wrote is in it, which in a contest only their authors may read.
    arena publish writes what everybody may have.
    """
    if whole and set_aside:
        raise UsageError("--whole and --set-aside: expected one of them; a whole export has what was set aside as well")
    from arena.store.results.scope import ALL_TOURNAMENTS, Scope
    from arena.tournament.transfer.export import whole_export

    with open_home(must_exist=True) as arena_home, arena_home.store.one_transaction():
        within = arena_home.store.tournament(tournament) if tournament is not None else ALL_TOURNAMENTS
        chosen = arena_home.store.tournaments() if isinstance(within, Scope) else [within]
        if whole:
            for line in chain.from_iterable(whole_export(arena_home.store.as_source(), stored) for stored in chosen):
                click.echo(line)
            return
        records: Iterable[tuple[int, str]] = arena_home.store.record_texts(within)
        if set_aside:
            corrections = arena_home.store.corrections
            records = ((aside.match, aside.text) for stored in chosen for aside in corrections.set_aside(stored))
        for match, text in records:
            click.echo(json.dumps(from_json_text(text, f"the record of match {match}")))


MAX_SHOWN_BOTS = 3


external_game_option = click.option(
    "--external-game",
    "external_games",
    metavar="MODULE:CLASS",
    multiple=True,
    help="A game from outside the package that may be imported to replay the records; repeatable.",
)


def print_merged(tournaments: Sequence[MergedTournament], as_json: bool) -> int:
    """Print what was taken of each tournament, and return the exit code: refusals are on stderr."""
    for merged in tournaments:
        if merged.refusal is not None:
            click.echo(printable(f"arena: {merged.refusal}"), err=True)
        elif not as_json:
            for sentence in _sentences(merged):
                click.echo(printable(f"{merged.name}: {sentence}"))
    if as_json:
        print_json([asdict(merged) for merged in tournaments])
    elif not tournaments:
        click.echo("There is no tournament in it.")
    return WRONG_USE if any(merged.refusal is not None for merged in tournaments) else OK


def _sentences(merged: MergedTournament) -> Iterator[str]:
    yield _taken(merged)
    if merged.differing:
        results = f", {merged.differing_results} with another result" if merged.differing_results else ""
        yield f"{_matches(merged.differing, 'played')} on both sides{results}; the records here stay"
    if merged.left:
        yield f"{counted(merged.left, 'match')} still to be played: arena run FILE"
    if merged.is_new and merged.absent_bots:
        names = ", ".join(merged.absent_bots[:MAX_SHOWN_BOTS])
        more = len(merged.absent_bots) - MAX_SHOWN_BOTS
        others = f" and {more} more" if more > 0 else ""
        yield f"the programs of {names}{others} were not taken; arena run and arena bot repro --bot-path need them"


def _taken(merged: MergedTournament) -> str:
    already = f"; {_matches(merged.already_here, 'here')} already" if merged.already_here else ""
    if not merged.has_changed:
        return f"nothing new{already}"
    is_finished = "; it is finished" if merged.is_finished else ""
    if merged.is_new:
        matches = counted(merged.taken + merged.left, "match")
        return f"new here, with {counted(merged.taken, 'record')} of {matches}{is_finished}"
    longer = f", and {counted(merged.lines_taken, 'match')} of later rounds" if merged.lines_taken else ""
    return f"{counted(merged.taken, 'record')} taken{longer}{already}{is_finished}"


def _matches(count: int, state: str) -> str:
    return f"{counted(count, 'match')} {'was' if count == 1 else 'were'} {state}"


@click.command("import")
@click.argument("file", type=click.File("rb"))
@name_option("that in the file")
@external_game_option
@json_option
def import_command(file: BinaryIO, name: str | None, external_games: tuple[str, ...], as_json: bool) -> int:
    """Take the records in FILE, which arena tournament export has printed; - reads them from the standard input.

    An export made with --whole has its tournament with it. Any other fills in the matches that a tournament of this
    home lacks. The arena first compares every record with the schedule and replays it by the rules; records here stay.
    A file that was cut off or edited changes nothing. You can safely import again.
    """
    from arena.tournament.transfer.export import LineError
    from arena.tournament.transfer.merging import import_records

    with open_home() as arena_home:
        try:
            merged = import_records(arena_home, file, name=name, external_games=external_games)
        except LineError as error:
            raise UsageError(f"{file.name}: {error}; nothing was changed") from error
        except OSError as error:
            raise UsageError(f"{file.name} can't be read: {error.strerror}; nothing was changed") from error
        return print_merged(merged, as_json)


@click.command("merge")
@click.argument("other_home", type=FilePath())
@click.argument("tournaments", metavar="[TOURNAMENT]...", nargs=-1)
@external_game_option
@json_option
def merge_command(other_home: str, tournaments: tuple[str, ...], external_games: tuple[str, ...], as_json: bool) -> int:
    """Take the tournaments in OTHER_HOME, or only those named, with all that was played there.

    A tournament that is here as well gets the matches that it lacks; where both sides have played a match, the record
    here stays. The arena first compares every record with the schedule and replays it by the rules. It only reads
    OTHER_HOME, which may be in use or from an earlier version, and takes no programs of bots. You can safely merge
    again.
    """
    from arena.tournament.transfer.merging import merge_home

    with open_home() as arena_home:
        return print_merged(merge_home(arena_home, other_home, tournaments, external_games=external_games), as_json)
