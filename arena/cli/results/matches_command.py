"""``arena matches``: the matches of a tournament."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column
from arena.base.bot_text import OPERATOR
from arena.cli.terminal.common import named_or_latest, no_result_sentences, open_home, print_table, sentences_text
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, format_options

if TYPE_CHECKING:
    from arena.base.records import MatchRecord

COLUMNS = [
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
def command(
    tournament: str | None,
    bot: str | None,
    only_faults: bool,
    limit: int,
    times: bool,
    table_format: str,
) -> None:
    """List the recorded matches of TOURNAMENT (by default the latest)."""
    from arena.analysis.measures.bot_times import bot_times
    from arena.base.errors import UnknownNameError

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
            rows = [{column.key: getattr(line, column.key) for column in TIMES_COLUMNS} for line in bot_times(chosen)]
            print_table(TIMES_COLUMNS, rows, table_format)
            return
        rows = [_row(record, table_format) for record in islice(chosen, limit)]
        has_more = next(chosen, None) is not None
        missing = no_result_sentences(arena_home.store.reasons_without_result(stored))
    if table_format == "text" and not rows:
        click.echo("No match with a fault." if only_faults else "No match has been recorded yet.")
    else:
        print_table(COLUMNS, rows, table_format, f"To step through one: arena replay {stored.name}/MATCH")
    if table_format == "text" and missing:
        click.echo(sentences_text("\n".join(missing)))
    if has_more:
        click.echo(f"Only the first {limit}; more with --limit.", err=True)


def _row(record: MatchRecord, table_format: str) -> dict[str, Any]:
    if table_format == "json":
        values = record.to_json(OPERATOR)
        return {**{column.key: values.get(column.key) for column in COLUMNS}, "plies": len(record.actions)}
    return {
        "match": record.match,
        "game": record.game,
        "bots": " ".join(record.bots),
        "opening": record.opening,
        "scores": " ".join(f"{score:.6g}" for score in record.scores),
        "ranks": " ".join(str(rank) for rank in record.ranks),
        "plies": len(record.actions),
        "termination": record.termination,
        "faults": ", ".join(f"{record.bots[fault.seat]}: {fault.kind}" for fault in record.faults),
    }
