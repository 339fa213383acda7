"""``arena rounds``: who met whom, as a bracket, as round cards, or round by round."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import Column, Row
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import (
    can_be_printed,
    named_or_latest,
    open_home,
    print_json,
    print_table,
    sentences_text,
    text_width,
)
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, format_options

if TYPE_CHECKING:
    from arena.analysis.measures.rounds_played import RoundsPlayed
    from arena.store.results.values import StoredTournament

SHOWN_ROUNDS = 10
"""How many rounds are printed, the latest ones, if no round is asked for."""

COLUMNS = [
    Column("round", "round"),
    Column("bots", "bots", is_number=False),
    Column("points", "points", is_number=False),
    Column("recorded", "recorded"),
    Column("scheduled", "scheduled"),
]


@click.command("rounds")
@click.argument("tournament", required=False)
@click.option("--round", "number", type=WholeNumber(1, MAX_COUNT), metavar="N", help="Only the meetings of round N.")
@format_options
def command(tournament: str | None, number: int | None, table_format: str) -> None:
    """Show who met whom in TOURNAMENT (by default the latest).

    Of a knockout that is the bracket, of a Swiss the round cards: the rival's number and the score of each round, with
    the total below. Of other formats it is the latest rounds. JSON and CSV have all rounds.
    """
    from arena.analysis.measures.rounds_played import rounds_played
    from arena.store.results.again import read_whole

    with open_home(must_exist=True) as arena_home:
        name, store = named_or_latest(arena_home, tournament).name, arena_home.store
        last = store.last_round(name)
        if last == 0:
            raise UsageError(f"tournament {name!r}: no round has been scheduled yet")
        if number is not None and number > last:
            raise UsageError(f"--round {number}: tournament {name!r} has rounds 1 to {last}")
        chosen = (number, number) if number is not None else (1 - SHOWN_ROUNDS if table_format == "text" else 1, None)

        def read() -> tuple[StoredTournament, RoundsPlayed]:
            stored = store.tournament(name)
            return stored, rounds_played(store, stored, *chosen)

        stored, found = read_whole(read)
    if table_format == "text":
        click.echo(_text(stored, found, number))
    elif table_format == "json":
        print_json({"tournament": stored.name, "format": stored.format, **asdict(found)})
    else:
        print_table(COLUMNS, _rows(found), table_format)


def _rows(found: RoundsPlayed) -> list[Row]:
    return [
        {
            "round": played.number,
            "bots": ", ".join(meeting.bots),
            "points": ", ".join(f"{points:g}" for points in meeting.points) if meeting.recorded else None,
            "recorded": meeting.recorded,
            "scheduled": meeting.scheduled,
        }
        for played in found.rounds
        for meeting in played.meetings
    ]


def _text(stored: StoredTournament, found: RoundsPlayed, number: int | None) -> str:
    from arena.analysis.text.bracket_text import bracket_text
    from arena.analysis.text.rounds_text import Style, round_cards_text, rounds_text

    style = Style(width=text_width(), is_ascii=not can_be_printed("┐├½…–"))
    has_several_games = len(stored.games) > 1
    if number is not None:
        return rounds_text(found.rounds, style, has_several_games)
    parts = [sentences_text(_head(stored, found))]
    if found.bracket is not None:
        parts.append(bracket_text(found.bracket, style))
    if found.cards is not None:
        parts.append(round_cards_text(found.cards, style, found.departed))
    has_table = found.bracket is not None or found.cards is not None
    shown = [played for played in found.rounds if not (has_table and played.is_complete)]
    if shown:
        parts.append(rounds_text(shown, style, has_several_games))
    for how in dict.fromkeys(found.departed.values()) if found.cards is None else ():
        bots = [bot for bot, departure in found.departed.items() if departure == how]
        parts.append(sentences_text(f"{how}: {', '.join(bots)}"))
    return "\n\n".join(parts)


def _head(stored: StoredTournament, found: RoundsPlayed) -> str:
    """Return the tournament in a line, and which rounds of it are shown."""
    entrants = counted(len(stored.definition.entrants), "entrant")
    head = f"{stored.name}: {stored.format}, {entrants}, {found.status}"
    first, last = found.rounds[0].number, found.rounds[-1].number
    if found.bracket is None and found.cards is None and last - first + 1 < found.last:
        head += f"; rounds {first} to {last} are shown, and --round N shows any"
    return head
