"""``arena stats``: the statistics behind a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.base.errors import UsageError
from arena.cli.lab.accuracy_table import ABOUT, TITLE, accuracy_table, say_left_out
from arena.cli.terminal.common import (
    load_standings,
    named_or_latest,
    no_result_sentences,
    open_home,
    print_json,
    print_table,
    sentences_text,
    table_text,
)
from arena.cli.terminal.options import format_options, game_option

if TYPE_CHECKING:
    from arena.analysis.text.tables import Column, Row

TABLES = ("games", "seats", "groups", "better", "nash", "accuracy", "times", "faults")


@click.command("stats")
@click.argument("tournament", required=False)
@game_option
@click.option("--table", type=click.Choice(TABLES), help="Only this table, in any format.")
@format_options
def command(tournament: str | None, game: str | None, table: str | None, table_format: str) -> None:
    """Show the statistics behind the table of TOURNAMENT (by default the latest).

    For each game draws and the score of each seat, with 95 % intervals by a bootstrap over encounters; groups of bots
    that can't be told apart; the probability that one bot is better than another; whether a single rating per bot fits,
    with the cycles and Nash averaging if it does not; agreement with Bradley-Terry; faults and time used; and how
    accurately each bot plays, in matches that arena lab annotate has annotated.
    """
    from arena.analysis.measures.bot_times import bot_times
    from arena.analysis.measures.encounters import count_encounters
    from arena.analysis.measures.game_statistics import cross_check, game_statistics
    from arena.analysis.text.statistics_tables import STATS_TITLES, stats_sentences, stats_tables
    from arena.lab.matches.accuracy import accuracy_of_tournament

    if table is None and table_format not in ("text", "json"):
        raise UsageError(f"--format {table_format}: one table at a time; choose one with --table {'|'.join(TABLES)}")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        stored.require_game(game)
        encounters = count_encounters(arena_home.store.results(stored, game))
        standings = load_standings(arena_home, stored.name, game)
        missing = no_result_sentences(arena_home.store.reasons_without_result(stored))
        times = bot_times(arena_home.store.records(stored, game)) if table in (None, "times") else []
        accuracy = accuracy_of_tournament(arena_home.store, stored, game)
    check = cross_check(encounters, standings)
    formatted = table_format not in ("json", "csv")
    tables: dict[str, tuple[list[Column], list[Row]]] = stats_tables(
        standings, game_statistics(encounters), check, times, formatted
    )
    tables["accuracy"] = accuracy_table(accuracy.bots, standings.shown_names, formatted)
    if table in (None, "accuracy"):
        say_left_out(accuracy, stored.name, standings.shown_names)
    if table is not None:
        print_table(*tables[table], table_format)
    elif table_format == "json":
        print_json(_everything(tables, standings, check))
    else:
        for name, (columns, rows) in tables.items():
            if rows and (name != "nash" or standings.consistency.is_flagged):
                title, about = (TITLE, ABOUT) if name == "accuracy" else STATS_TITLES[name]
                click.echo(f"{sentences_text(f'{title}. {about}')}\n\n{table_text(columns, rows)}\n")
        click.echo(sentences_text("\n".join([*stats_sentences(standings, check), *missing])))


def _everything(tables: dict[str, Any], standings: Any, check: Any) -> dict[str, Any]:
    tested = standings.consistency
    values = {
        name: [{column.key: row[column.key] for column in columns} for row in rows]
        for name, (columns, rows) in tables.items()
    }
    return values | {
        "consistency": {
            "phi": tested.phi,
            "chance": tested.p_value,
            "cycles": [list(cycle) for cycle in tested.cycles],
            "misleads": tested.is_flagged,
        },
        "bradley_terry": check.bradley_terry,
        "bradley_terry_kendall": check.agreement,
        "prior_width": standings.fitted.prior_width,
        "draw_probability": standings.draw_probability,
    }
