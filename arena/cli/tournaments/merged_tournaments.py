"""What a merge or an import has done, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.text import counted
from arena.cli.terminal.common import print_json
from arena.cli.terminal.streams import OK, WRONG_USE

if TYPE_CHECKING:
    from arena.tournament.transfer.results import MergedTournament

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
        yield f"the programs of {names}{others} were not taken; arena run and arena repro --bot-path need them"


def _taken(merged: MergedTournament) -> str:
    if not merged.has_changed:
        already = f"; {_matches(merged.already_here, 'here')} already" if merged.already_here else ""
        return f"nothing new{already}"
    is_finished = "; it is finished" if merged.is_finished else ""
    if merged.is_new:
        matches = counted(merged.taken + merged.left, "match")
        return f"new here, with {counted(merged.taken, 'record')} of {matches}{is_finished}"
    longer = f", and {counted(merged.lines_taken, 'match')} of later rounds" if merged.lines_taken else ""
    already = f"; {_matches(merged.already_here, 'here')} already" if merged.already_here else ""
    return f"{counted(merged.taken, 'record')} taken{longer}{already}{is_finished}"


def _matches(count: int, state: str) -> str:
    return f"{counted(count, 'match')} {'was' if count == 1 else 'were'} {state}"
