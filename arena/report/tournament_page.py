"""From a tournament in the store to its report: one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from arena.analysis.bot_times import bot_times
from arena.analysis.encounters import count_encounters
from arena.analysis.game_statistics import cross_check, game_statistics
from arena.analysis.schedule_balance import schedule_balance
from arena.analysis.standings import Standings, crosstable
from arena.analysis.standings_cache import standings_of
from arena.errors import UsageError
from arena.home import ArenaHome
from arena.match.replay import states_of
from arena.records import MatchRecord
from arena.report.html_page import Section, frames_of, html_page
from arena.report.standings_table import (
    BALANCE_COLUMNS,
    crosstable_table,
    ranking_table,
    standings_footer,
    standings_table,
)
from arena.report.statistics_tables import STATS_TITLES, stats_sentences, stats_tables
from arena.report.tables import printable
from arena.store.values import StoredTournament
from arena.text import counted
from arena.tournament.rounds import ranking_of

CAPTIONS = {
    "ratings": "Ratings with 95 % intervals",
    "course": "Ratings over matches",
    "crosstable": "Score against each rival",
    "seats": "Score in each seat",
    "times": "Time used for an action",
}


def tournament_page(home: ArenaHome, tournament: StoredTournament, most_matches: int) -> tuple[str, bool]:
    """Return the report of a tournament, and whether it has plots, which need the extra ``plots``.

    Args:
        home: where the tournament is.
        tournament: the tournament.
        most_matches: how many matches can be replayed in it, the first ones.
    """
    table = standings_of(home.store, tournament.name, cache_directory=home.cache_directory)
    plots = _plots(home, tournament, table)
    sections = [_standings_section(home, tournament, table)]
    if plots:
        sections.append(Section("Plots", plots=plots))
    sections += _statistics_sections(home, tournament, table)
    sections.append(_balance_section(home, tournament))
    names = tournament.definition.shown_names
    records = list(islice(home.store.records(tournament), most_matches))
    page = html_page(
        tournament.name,
        _subtitle(tournament),
        sections,
        [_index_line(record, names) for record in records],
        [match_frames(record, names) for record in records],
        _about(len(records), tournament.recorded),
    )
    return page, bool(plots)


def _subtitle(tournament: StoredTournament) -> str:
    definition = tournament.definition
    games = ", ".join(
        f"{choice.game} ({', '.join(f'{key} {value}' for key, value in choice.options.items())})"
        for choice in definition.games
    )
    return (
        f"{definition.format} of {counted(len(definition.entrants), 'bot')} in {games};"
        f" {tournament.recorded} of {counted(tournament.scheduled, 'match')}, begun {tournament.created_at}"
    )


def _about(included: int, recorded: int) -> str:
    if included == recorded:
        which = f"All {recorded} matches" if recorded != 1 else "The match"
        return f"{which} can be replayed: choose one in the list; arrow keys step, space plays."
    return (
        f"The first {included} of {counted(recorded, 'match')} can be replayed here; arena report --max-matches N"
        " includes more, and arena replay shows any."
    )


def _standings_section(home: ArenaHome, tournament: StoredTournament, table: Standings) -> Section:
    columns, rows = standings_table(table)
    ranking = ranking_of(home.store, tournament)
    if ranking is not None:
        own_columns, own_rows = ranking_table(ranking)
        place_of = {row["bot"]: row["place"] for row in own_rows}
        columns = [own_columns[0], *columns]
        others = len(place_of) + 1  # of records that name no entrant
        placed = ({**row, "place": place_of.get(row["bot"], others)} for row in rows)
        rows = sorted(placed, key=lambda row: (row["place"], row["rank"]))
    return Section("Standings", columns, rows, standings_footer(table))


def _plots(home: ArenaHome, tournament: StoredTournament, table: Standings) -> list[tuple[str, str]]:
    try:
        from arena.report.plots import rendered
        from arena.report.tournament_plots import PLOTS, tournament_plot
    except UsageError:
        return []
    return [
        (rendered(tournament_plot(home, tournament, table, kind), "svg", for_page=True).decode(), CAPTIONS[kind])
        for kind in PLOTS
    ]


def _statistics_sections(home: ArenaHome, tournament: StoredTournament, table: Standings) -> list[Section]:
    encounters = count_encounters(home.store.results(tournament))
    sections = [
        Section("Crosstable", *crosstable_table(crosstable(encounters), table.shown_names), "Points / matches.")
    ]
    check = cross_check(encounters, table)
    times = bot_times(home.store.records(tournament))
    for name, (columns, rows) in stats_tables(table, game_statistics(encounters), check, times).items():
        if rows and (name != "nash" or table.consistency.is_flagged):
            sections.append(Section(STATS_TITLES[name][0], columns, rows, STATS_TITLES[name][1]))
    return [*sections, Section("Tests", text=" ".join(stats_sentences(table, check)))]


def _balance_section(home: ArenaHome, tournament: StoredTournament) -> Section:
    names = list(tournament.definition.shown_names.values())
    lines = schedule_balance(home.store.schedule(tournament), tournament.games, names)
    text = "How far the worst count is from what would be fair, in matches."
    return Section("Schedule balance", BALANCE_COLUMNS, [asdict(line) for line in lines], text)


def _index_line(record: MatchRecord, names: Mapping[str, str]) -> dict[str, Any]:
    bots = [printable(names.get(bot, bot)) for bot in record.bots]
    order = sorted(range(len(bots)), key=lambda seat: record.ranks[seat])
    faults = ", ".join(f"{bots[fault.seat]}: {fault.kind}" for fault in record.faults)
    return {
        "match": record.match,
        "game": record.game,
        "bots": ", ".join(bots),
        "result": ", ".join(f"{record.ranks[s]}. {bots[s]} {record.scores[s]:g}" for s in order),
        "how": faults or record.termination,
    }


def match_frames(record: MatchRecord, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a match for the page's viewer: its shapes, and for each ply which appear and which disappear."""
    states = list(states_of(record))
    drawings = [game.drawing(state) for game, state in states]
    game = states[0][0]
    shapes, frames = frames_of([drawing.shapes for drawing in drawings])
    notes = {int(ply): note for ply, note in record.notes}
    bots = [printable(names.get(bot, bot)) for bot in record.bots]
    faults = [f"{bots[fault.seat]}: {fault.kind} at ply {fault.ply}: {fault.detail}" for fault in record.faults]
    return {
        "bots": bots,
        "width": max(drawing.width for drawing in drawings),
        "height": max(drawing.height for drawing in drawings),
        "mono": _is_text(shapes),
        "shapes": shapes,
        "frames": frames,
        "notes": [list(map(printable, drawing.notes)) for drawing in drawings],
        "scores": [[f"{score:.6g}" for score in game.scores(state)] for game, state in states],
        "actions": [[seat, _action_text(game, action)] for seat, action in record.actions],
        "marks": [_square(action) for _, action in record.actions],
        "comments": [_comment(record, notes, ply) for ply in range(len(record.actions))],
        "end": printable("; ".join([f"ended: {record.termination}", *faults])),
    }


def _is_text(shapes: list[Any]) -> bool:
    return all(shape[0] == "text" for shape in shapes)


def _action_text(game: Any, action: Any) -> str:
    return "out" if action is None else str(game.format_action(action))


def _square(action: Any) -> list[int] | None:
    """Return the square of an action, to be marked; None if the action is no square."""
    is_square = isinstance(action, (list, tuple)) and all(type(value) is int for value in action)
    return list(action) if is_square else None


def _comment(record: MatchRecord, notes: Mapping[int, Any], ply: int) -> str:
    seconds = record.wall_seconds[ply]
    if seconds is None:
        return f"opening {record.opening}" if ply < record.opening_plies else ""
    text = f"{1000 * seconds:.2f} ms"
    return text + (f"; {printable(str(notes[ply]))}" if ply in notes else "")
