"""Commands that show tables: standings, crosstable, statistics, leaderboard."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, fitted_table
from arena.base.errors import UsageError
from arena.base.text import any_of, counted, minute_text
from arena.cli.lab.lab_annotate import ABOUT_ACCURACY as ABOUT
from arena.cli.lab.lab_annotate import ACCURACY_TITLE as TITLE
from arena.cli.lab.lab_annotate import accuracy_table, report_left_out
from arena.cli.terminal.common import (
    can_be_printed,
    load_standings,
    named_or_latest,
    no_result_sentences,
    open_home,
    print_json,
    print_ranking,
    print_standings,
    print_table,
    sentences_text,
    table_text,
    text_width,
)
from arena.cli.terminal.options import comparisons_option, format_options, game_option, is_wide, read_since

if TYPE_CHECKING:
    from arena.analysis.measures.leaderboards import RatingSnapshot
    from arena.analysis.measures.standings import Standings
    from arena.analysis.text.tables import Row
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
def standings_command(tournament: str | None, game: str | None, places: bool, table_format: str) -> None:
    """Show the table of TOURNAMENT (by default the latest), the best bot first."""
    from arena.store.results.values import read_whole
    from arena.tournament.rounds import ranking_of

    with open_home(must_exist=True) as arena_home:
        name = named_or_latest(arena_home, tournament, game).name

        def read() -> tuple[StoredTournament, list[tuple[str, Placing]] | None, Standings]:
            stored = arena_home.store.tournament(name)
            ranking = ranking_of(arena_home.store, stored) if game is None else None
            return stored, ranking, load_standings(arena_home, name, game)

        stored, ranking, table = read_whole(read)
    if places and ranking is None:
        from arena.tournament.formats.format import FORMATS

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
        click.echo(sentences_text(f"Round by round: arena tournament rounds {stored.name}"))


@click.command("crosstable")
@click.argument("tournament", required=False)
@game_option
@format_options
def crosstable_command(tournament: str | None, game: str | None, table_format: str) -> None:
    """Show points/matches of each bot against each rival in TOURNAMENT (by default the latest).

    A win is a point, a tie half. Where the terminal is too narrow, and all have met equally often, only the points are
    shown.
    """
    from arena.analysis.measures.game_statistics import crosstable_of
    from arena.analysis.text.standings_table import crosstable_table

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament, game)
        table = crosstable_of(arena_home.store, stored.name, game, cache_directory=arena_home.cache_directory)
    columns, rows = crosstable_table(table.scores, table.shown_names, formatted=table_format != "json")
    footer = ""
    if table_format == "text" and can_be_printed("½"):
        is_in_parts = "\n\n" in fitted_table(columns, rows, text_width())[0]
        counts = {score.matches for score in table.scores.values()}
        if is_in_parts and len(counts) == 1:
            columns, rows = crosstable_table(table.scores, table.shown_names, points_only=True)
            footer = f"Points in {counted(counts.pop(), 'match')} against each rival."
    print_table(columns, rows, table_format, footer)


TABLES = ("games", "seats", "groups", "better", "nash", "accuracy", "times", "faults")


@click.command("stats")
@click.argument("tournament", required=False)
@game_option
@click.option("--table", type=click.Choice(TABLES), help="Only this table, in any format.")
@click.option("--notes", is_flag=True, help="Only the numbers that bots have reported in their notes, by phase.")
@click.option("--by-ply", is_flag=True, help="With --notes: by ply in place of phases.")
@format_options
def stats_command(
    tournament: str | None, game: str | None, table: str | None, notes: bool, by_ply: bool, table_format: str
) -> None:
    """Show the statistics behind the table of TOURNAMENT (by default the latest).

    For each game draws and the score of each seat, with 95 % intervals by a bootstrap over encounters; groups of bots
    that can't be told apart; the probability that one bot is better than another; whether a single rating per bot fits,
    with the cycles and Nash averaging if it does not; agreement with Bradley-Terry; faults and time used; and how
    accurately each bot plays, in matches that arena lab annotate has annotated.

    A note that is a map of numbers, such as {"depth": 9, "nodes": 120000}, has its means with --notes: over all actions
    of a bot, and in the beginning, the middle and the end of its matches, each a third of the plies after the opening.
    """
    if by_ply and not notes:
        raise UsageError("--by-ply: expected only together with --notes")
    if notes:
        if table is not None:
            raise UsageError(f"--notes and --table {table}: expected one of them")
        _print_notes(tournament, game, by_ply, table_format)
        return
    from arena.analysis.measures.game_statistics import bot_times, cross_check, game_statistics
    from arena.analysis.measures.result_table import read_results
    from arena.analysis.text.statistics_tables import STATS_TITLES, stats_sentences, stats_tables
    from arena.lab.matches.accuracy import accuracy_of_tournament

    if table is None and table_format not in ("text", "json"):
        raise UsageError(f"--format {table_format}: one table at a time; choose one with --table {'|'.join(TABLES)}")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament, game)
        results = read_results(arena_home.store, stored, game)
        standings = load_standings(arena_home, stored.name, game)
        missing = no_result_sentences(arena_home.store.reasons_without_result(stored))
        times = bot_times(arena_home.store.records(stored, game)) if table in (None, "times") else []
        accuracy = accuracy_of_tournament(arena_home.store, stored, game)
    check = cross_check(results, standings)
    formatted = table_format not in ("json", "csv")
    tables: dict[str, tuple[list[Column], list[Row]]] = stats_tables(
        standings, game_statistics(results), check, times, formatted
    )
    tables["accuracy"] = accuracy_table(accuracy.bots, standings.shown_names, formatted)
    if table in (None, "accuracy"):
        report_left_out(accuracy, stored.name, standings.shown_names)
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


NOTE_COLUMNS = (
    Column("bot", "bot", is_number=False),
    Column("number", "number", is_number=False),
    Column("actions", "actions", drop_order=3),
    Column("mean", "mean", 2),
    Column("beginning", "beginning", 2, drop_order=1),
    Column("middle", "middle", 2, drop_order=1),
    Column("end", "end", 2, drop_order=1),
    Column("least", "least", 2, drop_order=2),
    Column("most", "most", 2, drop_order=2),
)
PLY_COLUMNS = (*NOTE_COLUMNS[:2], Column("ply", "ply"), *NOTE_COLUMNS[2:4])


def _print_notes(tournament: str | None, game: str | None, by_ply: bool, table_format: str) -> None:
    from arena.analysis.measures.noted_numbers import noted_numbers

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament, game)
        numbers = noted_numbers(arena_home.store.records(stored, game))
    names = stored.definition.shown_names
    rows = [noted.row() | {"bot": names.get(noted.bot, noted.bot)} for noted in numbers]
    if by_ply:
        rows = [
            row | {"ply": ply, "actions": mean.count, "mean": mean.value}
            for row, noted in zip(rows, numbers, strict=True)
            for ply, mean in sorted(noted.plies.items())
        ]
    footer = "Means of the numbers in notes." if rows else "No bot has reported a number: notes that are maps count."
    print_table(PLY_COLUMNS if by_ply else NOTE_COLUMNS, rows, table_format, footer)


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


SHOWN_BOTS = 8


@click.command("leaderboard")
@click.argument("game", required=False)
@click.option("--season", metavar="NAME", help="Only the tournaments of this season.")
@click.option("--tournament", "tournaments", multiple=True, metavar="NAME", help="Only this tournament; repeatable.")
@click.option(
    "--since",
    callback=read_since,
    metavar="DATE",
    help="Only tournaments begun since a date or an age: 2026-03-01, 30d.",
)
@comparisons_option
@click.option("--over-time", is_flag=True, help="The rating of each bot after each tournament.")
@format_options
def leaderboard_command(
    game: str | None,
    season: str | None,
    tournaments: tuple[str, ...],
    since: datetime | None,
    comparisons: bool,
    over_time: bool,
    table_format: str,
) -> None:
    """Rate every bot that has played GAME, over all tournaments; without GAME, every bot in all games together.

    A new version of a bot is a new player. A bot's rating over all games is fitted to all its matches together, and
    means most where all bots play the same games.

    --tournament adds tournaments to those of --season; --since leaves out those that began earlier. Comparisons count
    if you name them, if they belong to the season, or with --comparisons. Deleted tournaments never count.
    """
    from arena.analysis.measures.leaderboards import history_over_tournaments
    from arena.analysis.measures.standings_cache import standings_of
    from arena.games import find_game
    from arena.store.results.scope import Scope

    if game is not None:
        find_game(game)
    scope = Scope(tournaments=tournaments, season=season, since=since, comparisons=comparisons)
    with open_home(must_exist=True) as arena_home:
        if since is not None and not arena_home.store.tournaments(scope):
            click.echo(f"No tournament of these was begun since {since:%Y-%m-%d %H:%M} (UTC).", err=True)
        if over_time:
            directory = arena_home.cache_directory
            history = history_over_tournaments(arena_home.store, game, scope, cache_directory=directory)
            _print_history(history, table_format)
            return
        table = standings_of(arena_home.store, scope, game)
    print_standings(table, table_format)


def _print_history(snapshots: list[RatingSnapshot], table_format: str) -> None:
    bots = [line.label for line in snapshots[-1].lines] if snapshots else []
    shown = bots if table_format in ("json", "csv") or is_wide() else bots[:SHOWN_BOTS]
    columns = [
        Column("tournament", "after", is_number=False),
        Column("at", "begun", is_number=False, drop_order=2),
        Column("matches", "matches", drop_order=1),
        *(Column(bot, bot, 2, is_parted=True) for bot in shown),
    ]
    rows = []
    for snapshot in snapshots:
        rated = {line.label: line for line in snapshot.lines}
        mus = {bot: rated[bot].rating.mu if bot in rated else None for bot in shown}
        at = snapshot.at if table_format == "json" else minute_text(snapshot.at)
        rows.append({"tournament": snapshot.title, "at": at, "matches": snapshot.matches, **mus})
    more = f" The best {len(shown)} of {len(bots)} bots; --wide shows all." if len(shown) < len(bots) else ""
    print_table(columns, rows, table_format, f"mu of each bot after each tournament.{more}")
