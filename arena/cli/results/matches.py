"""Commands that show who met whom: as a bracket, as round cards, round by round, or as a list of matches."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, Row, row_of
from arena.base.bot_text import OPERATOR
from arena.base.errors import UnknownNameError, UsageError
from arena.base.text import counted
from arena.cli.terminal.common import (
    can_be_printed,
    named_or_latest,
    no_result_sentences,
    open_home,
    print_json,
    print_table,
    sentences_text,
    text_width,
)
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, format_options

if TYPE_CHECKING:
    from arena.analysis.measures.rounds_played import RoundsPlayed
    from arena.base.records import MatchRecord
    from arena.store.results.values import StoredTournament


SHOWN_ROUNDS = 10
"""How many of the latest rounds are printed, unless the user asks for one."""

ROUND_COLUMNS = [
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
def rounds_command(tournament: str | None, number: int | None, table_format: str) -> None:
    """Show who met whom in TOURNAMENT (by default the latest).

    Of a knockout that is the bracket, of a Swiss the round cards: the rival's number and the score of each round, with
    the total below. Of other formats it is the latest rounds. JSON and CSV have all rounds.
    """
    from arena.analysis.measures.rounds_played import rounds_played
    from arena.store.results.values import read_whole

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

        stored, played_rounds = read_whole(read)
    if table_format == "text":
        click.echo(_text(stored, played_rounds, number))
    elif table_format == "json":
        print_json({"tournament": stored.name, "format": stored.format, **asdict(played_rounds)})
    else:
        print_table(ROUND_COLUMNS, _rows(played_rounds), table_format)


def _rows(played_rounds: RoundsPlayed) -> list[Row]:
    return [
        row_of(
            ROUND_COLUMNS,
            meeting,
            round=played.number,
            bots=", ".join(meeting.bots),
            points=", ".join(f"{points:g}" for points in meeting.points) if meeting.recorded else None,
        )
        for played in played_rounds.rounds
        for meeting in played.meetings
    ]


def _text(stored: StoredTournament, played_rounds: RoundsPlayed, number: int | None) -> str:
    from arena.analysis.text.rounds_text import Style, bracket_text, round_cards_text, rounds_text

    style = Style(width=text_width(), is_ascii=not can_be_printed("┐├½…–"))
    has_several_games = len(stored.games) > 1
    if number is not None:
        return rounds_text(played_rounds.rounds, style, has_several_games)
    parts = [sentences_text(_head(stored, played_rounds))]
    if played_rounds.bracket is not None:
        parts.append(bracket_text(played_rounds.bracket, style))
    if played_rounds.cards is not None:
        parts.append(round_cards_text(played_rounds.cards, style, played_rounds.departed))
    has_table = played_rounds.bracket is not None or played_rounds.cards is not None
    shown = [played for played in played_rounds.rounds if not (has_table and played.is_complete)]
    if shown:
        parts.append(rounds_text(shown, style, has_several_games))
    for how in dict.fromkeys(played_rounds.departed.values()) if played_rounds.cards is None else ():
        bots = [bot for bot, departure in played_rounds.departed.items() if departure == how]
        parts.append(sentences_text(f"{how}: {', '.join(bots)}"))
    return "\n\n".join(parts)


def _head(stored: StoredTournament, played_rounds: RoundsPlayed) -> str:
    entrants = counted(len(stored.definition.entrants), "entrant")
    head = f"{stored.name}: {stored.format}, {entrants}, {played_rounds.status}"
    first, last = played_rounds.rounds[0].number, played_rounds.rounds[-1].number
    if played_rounds.bracket is None and played_rounds.cards is None and last - first + 1 < played_rounds.last:
        head += f"; rounds {first} to {last} are shown, and --round N shows any"
    return head


MATCH_COLUMNS = [
    Column("match", "match"),
    Column("game", "game", is_number=False, drop_order=4),
    Column("bots", "bots", is_number=False, wraps=True),
    Column("opening", "opening", drop_order=7),
    Column("scores", "scores", is_number=False, drop_order=3),
    Column("ranks", "ranks", is_number=False, drop_order=1),
    Column("plies", "plies", drop_order=6),
    Column("termination", "termination", is_number=False, drop_order=5),
    Column("faults", "faults", is_number=False, drop_order=2, wraps=True),
]

TIMES_COLUMNS = [
    Column("bot", "bot", is_number=False),
    Column("matches", "matches", drop_order=6),
    Column("actions", "actions", drop_order=4),
    Column("wall_seconds", "wall s", 3, drop_order=5),
    Column("mean_seconds", "mean action s", 4, drop_order=1),
    Column("p99_seconds", "p99 action s", 4, drop_order=2),
    Column("cpu_seconds", "CPU s", 3, drop_order=3),
    Column("off_turn_cpu_seconds", "off-turn CPU s", 3, drop_order=7),
    Column("longest_seconds", "longest action s", 4, drop_order=2),
]


@click.command("matches")
@click.argument("tournament", required=False)
@click.option("--bot", help="Only matches of this bot (name or name@version).")
@click.option("--faults", "only_faults", is_flag=True, help="Only matches with a fault.")
@click.option(
    "--limit", type=WholeNumber(1, MAX_COUNT), default=1000, show_default=True, help="List at most this many."
)
@click.option("--times", is_flag=True, help="Show the time that each bot used, instead of the matches.")
@format_options
def matches_command(
    tournament: str | None,
    bot: str | None,
    only_faults: bool,
    limit: int,
    times: bool,
    table_format: str,
) -> None:
    """List the recorded matches of TOURNAMENT (by default the latest)."""
    from arena.analysis.measures.game_statistics import bot_times

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        names = [entrant.name for entrant in stored.definition.entrants]
        if bot is not None and bot.partition("@")[0] not in names:
            raise UnknownNameError("bot", bot, names)
        chosen = (
            record
            for record in arena_home.store.records(stored)
            if (bot is None or any(bot in (label, label.partition("@")[0]) for label in record.bots))
            and (record.faults or not only_faults)
        )
        if times:
            rows = [row_of(TIMES_COLUMNS, line) for line in bot_times(chosen)]
            print_table(TIMES_COLUMNS, rows, table_format)
            return
        rows = [_row(record, table_format) for record in islice(chosen, limit)]
        has_more = next(chosen, None) is not None
        missing = no_result_sentences(arena_home.store.reasons_without_result(stored))
    if table_format == "text" and not rows:
        click.echo("No match with a fault." if only_faults else "No match has been recorded yet.")
    else:
        print_table(MATCH_COLUMNS, rows, table_format, f"To step through one: arena replay {stored.name}/MATCH")
    if table_format == "text" and missing:
        click.echo(sentences_text("\n".join(missing)))
    if has_more:
        click.echo(f"Only the first {limit}; more with --limit.", err=True)


def _row(record: MatchRecord, table_format: str) -> dict[str, Any]:
    if table_format == "json":
        values = record.to_json(OPERATOR)
        return {**{column.key: values.get(column.key) for column in MATCH_COLUMNS}, "plies": len(record.actions)}
    return row_of(
        MATCH_COLUMNS,
        record,
        bots=" ".join(record.bots),
        scores=" ".join(f"{score:.6g}" for score in record.scores),
        ranks=" ".join(map(str, record.ranks)),
        plies=len(record.actions),
        faults=", ".join(f"{record.bots[fault.seat]}: {fault.kind}" for fault in record.faults),
    )
