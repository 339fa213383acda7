"""``arena schedule``: what a tournament will be, before it is played."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import chosen_format, format_options, home_option, print_table
from arena.report.tables import Column, printable

if TYPE_CHECKING:
    from arena.records import ScheduledMatch
    from arena.tournament.definition import Definition

MATCH_COLUMNS = [
    Column("match", "match"),
    Column("round", "round"),
    Column("encounter", "encounter"),
    Column("game", "game", is_number=False),
    Column("bots", "seats", is_number=False),
    Column("opening", "opening", is_number=False),
]


@click.command("schedule")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--matches", "lists_matches", is_flag=True, help="List every match instead of the summary.")
@click.option("--audit", "only_audit", is_flag=True, help="Only the table of balances.")
@click.option("--workers", type=click.IntRange(1, 1024), help="For the expected time [default: one for each core].")
@format_options
@home_option
def command(
    file: Path,
    lists_matches: bool,
    only_audit: bool,
    workers: int | None,
    table_format: str,
    as_json: bool,
    home: str | None,
) -> None:
    """Show the schedule of the tournament that FILE defines, without playing it.

    How many matches there are, how long they will take (from what such matches have taken before), and how fair it is:
    the worst imbalance in who plays how often, sits where, meets whom and acts right after whom. Where rounds depend on
    results, that is the first round, or what the store has of the tournament.
    """
    from arena.tournament.arena_home import ArenaHome
    from arena.tournament.audit import audit
    from arena.tournament.definition import load_definition
    from arena.tournament.executors.local import available_cores
    from arena.tournament.expected import seconds_a_match
    from arena.tournament.rounds import is_adaptive
    from arena.tournament.schedule import schedule
    from arena.tournament.tables import AUDIT_COLUMNS

    table_format = chosen_format(table_format, as_json)
    with ArenaHome(home) as arena_home:
        definition = load_definition(file, arena_home.find_bot)
        stored = arena_home.store.find_tournament(definition.name)
        from_store = stored is not None and is_adaptive(definition)
        lines = list(arena_home.store.schedule(stored) if stored and from_store else schedule(definition))
        if lists_matches:
            print_table(MATCH_COLUMNS, _match_rows(lines, definition, table_format), table_format)
            return
        found = audit(lines, [choice.game for choice in definition.games], list(definition.shown_names.values()))
        if table_format == "text" and not only_audit:
            measured = seconds_a_match(arena_home.store, definition)
            slots = workers or definition.workers or len(available_cores())
            click.echo(_summary(definition, lines, measured, slots) + "\n")
    print_table(AUDIT_COLUMNS, [asdict(line) for line in found], table_format)


def _match_rows(lines: Iterable[ScheduledMatch], definition: Definition, table_format: str) -> list[dict[str, Any]]:
    from arena.games import make_game

    names = list(definition.shown_names.values())
    games = [make_game(choice.game, **choice.options) for choice in definition.games]
    rows = []
    for line in lines:
        seats = [names[k] for k in line.seats]
        opening = [games[line.game].format_action(action) for action in line.opening_actions]
        is_json = table_format == "json"
        rows.append(
            {
                "match": line.match,
                "round": line.round,
                "encounter": line.encounter,
                "game": definition.games[line.game].game,
                "bots": seats if is_json else ", ".join(seats),
                "opening": opening if is_json else " ".join(opening),
            }
        )
    return rows


def _summary(definition: Definition, lines: list[ScheduledMatch], measured: dict[str, float], slots: int) -> str:
    from arena.tournament.rounds import expected_matches, is_adaptive

    grows = is_adaptive(definition)
    total = expected_matches(definition) if grows else len(lines)
    games = {choice.game: sum(line.game == k for line in lines) for k, choice in enumerate(definition.games)}
    rounds = max((line.round for line in lines), default=0)
    encounters = max((line.encounter for line in lines), default=0)
    text = [
        f"{printable(definition.name)}: {definition.format}, {len(definition.entrants)} entrants,"
        f" {', '.join(f'{game} for {choice.players}' for game, choice in zip(games, definition.games, strict=True))}"
    ]
    if not grows:
        text.append(f"{len(lines)} matches in {encounters} encounters and {rounds} rounds")
    else:
        known = f"at most {total} matches" if total is not None else "matches without end"
        text.append(f"{known}; {len(lines)} of them are known so far, in {rounds} round{'s' * (rounds != 1)}")
    text.append(_expected_time(games, measured, slots, len(lines), total))
    return "\n".join(text)


def _expected_time(games: dict[str, int], measured: dict[str, float], slots: int, known: int, total: int | None) -> str:
    unmeasured = [game for game in games if game not in measured]
    if unmeasured:
        return (
            f"expected time: unknown, for no match of {', '.join(unmeasured)} between these bots has been recorded yet;"
            " a short tournament of them will tell"
        )
    seconds = sum(often * measured[game] for game, often in games.items())
    if total is not None and known:
        seconds *= total / known
    each = ", ".join(f"{game} {1000 * measured[game]:.1f} ms" for game in games)
    if total is None:
        return f"expected time: without end; a match takes {each}"
    return f"expected time: {_duration(seconds / slots)} with {slots} at a time (measured for a match: {each})"


def _duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} seconds"
