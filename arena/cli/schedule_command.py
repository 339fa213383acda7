"""``arena schedule``: what a tournament will be, before it is played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import open_home, print_table
from arena.cli.options import format_options, workers_option
from arena.report.tables import Column, printable
from arena.text import counted

if TYPE_CHECKING:
    from arena.definition import Definition
    from arena.records import ScheduledMatch

MATCH_COLUMNS = [
    Column("match", "match"),
    Column("round", "round", drop_order=2),
    Column("encounter", "encounter", drop_order=4),
    Column("game", "game", is_number=False, drop_order=3),
    Column("bots", "seats", is_number=False, wraps=True),
    Column("opening", "opening", is_number=False, drop_order=5),
]


@click.command("schedule")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--matches", "lists_matches", is_flag=True, help="List every match instead of the summary.")
@click.option("--audit", "only_audit", is_flag=True, help="Only the table of the schedule balance.")
@workers_option
@format_options
def command(
    file: Path,
    lists_matches: bool,
    only_audit: bool,
    workers: int | None,
    table_format: str,
) -> None:
    """Show the schedule of the tournament that FILE defines (a path, or an example such as arena:swiss), without
    playing it.

    How many matches there are, how long they will take (from what such matches have taken before), and how fair it is:
    the worst imbalance in who plays how often, sits where, meets whom and acts right after whom. Where rounds depend on
    results, that is the first round, or all rounds stored so far.
    """
    from arena.analysis.duration import seconds_a_match
    from arena.analysis.schedule_balance import schedule_balance
    from arena.executors.cores import available_cores
    from arena.report.standings_table import BALANCE_COLUMNS
    from arena.tournament.definition import load_definition
    from arena.tournament.rounds import needs_results
    from arena.tournament.schedule import schedule

    with open_home() as arena_home:
        definition = load_definition(file, arena_home.bots)
        stored = arena_home.store.find_tournament(definition.name)
        from_store = stored is not None and needs_results(definition)
        lines = arena_home.store.schedule(stored) if stored and from_store else schedule(definition)
        if lists_matches:
            print_table(MATCH_COLUMNS, _match_rows(lines, definition, table_format), table_format)
            return
        counts = _Counts()
        found = schedule_balance(
            counts.passing(lines), [choice.game for choice in definition.games], list(definition.shown_names.values())
        )
        if table_format == "text" and not only_audit:
            measured = seconds_a_match(arena_home.store, definition)
            slots = workers or definition.workers or len(available_cores())
            click.echo(_summary(definition, counts, measured, slots) + "\n")
    print_table(BALANCE_COLUMNS, [asdict(line) for line in found], table_format)


class _Counts:
    """Counts matches, encounters and rounds while they go by, for a schedule may be long."""

    def __init__(self) -> None:
        self.matches: Counter[int] = Counter()  # of each game
        self.encounters = self.rounds = 0

    def passing(self, lines: Iterable[ScheduledMatch]) -> Iterator[ScheduledMatch]:
        """Yield the lines."""
        for line in lines:
            self.matches[line.game] += 1
            self.encounters, self.rounds = max(self.encounters, line.encounter), max(self.rounds, line.round)
            yield line


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


def _summary(definition: Definition, counts: _Counts, measured: Sequence[float | None], slots: int) -> str:
    from arena.tournament.rounds import max_matches, needs_results

    grows = needs_results(definition)
    scheduled = counts.matches.total()
    total = max_matches(definition) if grows else scheduled
    games = ", ".join(f"{choice.game} for {choice.players}" for choice in definition.games)
    text = [
        f"{printable(definition.name)}: {definition.format}, {counted(len(definition.entrants), 'entrant')}, {games}"
    ]
    if not grows:
        encounters, rounds = counted(counts.encounters, "encounter"), counted(counts.rounds, "round")
        text.append(f"{counted(scheduled, 'match')} in {encounters} and {rounds}")
    else:
        known = f"at most {counted(total, 'match')}" if total is not None else "matches without end"
        text.append(f"{known}; {scheduled} of them are known so far, in {counted(counts.rounds, 'round')}")
    text.append(_expected_time(definition, counts, measured, slots, total))
    return "\n".join(text)


def _expected_time(
    definition: Definition, counts: _Counts, measured: Sequence[float | None], slots: int, total: int | None
) -> str:
    names = [choice.game for choice in definition.games]
    unmeasured = [name for name, seconds in zip(names, measured, strict=True) if seconds is None]
    if unmeasured:
        return (
            f"expected time: unknown, for no match of {', '.join(unmeasured)} between these bots has been recorded yet;"
            " a short tournament of them will tell"
        )
    known = [seconds or 0.0 for seconds in measured]
    each = ", ".join(f"{name} {1000 * seconds:.1f} ms" for name, seconds in zip(names, known, strict=True))
    if total is None:
        return f"expected time: without end; a match takes {each}"
    whole = sum(counts.matches[k] * seconds for k, seconds in enumerate(known))
    whole *= total / max(1, counts.matches.total())
    return f"expected time: {_duration(whole / slots)} with {slots} at a time (measured for a match: {each})"


def _duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} seconds"
