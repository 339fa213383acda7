"""``arena tournament schedule``: what a tournament will be, before it is played."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, printable, row_of
from arena.base.enums import OpeningChoice
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_table, sentences_text, warn_of_rejected, warn_of_weak_isolation
from arena.cli.terminal.options import A_PATH, Number, format_options, within_option, workers_option
from arena.cli.terminal.streams import FAILED, OK
from arena.tournament.executors.worker_start import workers_that_fit

if TYPE_CHECKING:
    from arena.analysis.measures.balance import GameTimes
    from arena.base.definition import Definition
    from arena.base.records import ScheduledMatch
    from arena.store.home import ArenaHome

MAX_MATCHES_PER_GAME = 32
"""How many matches of each game are played to measure their time."""

MAX_OPENINGS = 1000
"""How many openings of each game are solved."""

SIMULATIONS = 5
MANY_BOTS = 100
"""Tournaments of more bots are simulated only once."""

DEFAULT_SPREAD = 4.0
"""The standard deviation of strengths, in points of mu, if nothing is known about the bots."""

MATCH_COLUMNS = [
    Column("match", "match"),
    Column("round", "round", drop_order=2),
    Column("encounter", "encounter", drop_order=4),
    Column("game", "game", is_number=False, drop_order=3),
    Column("bots", "seats", is_number=False, wraps=True),
    Column("opening", "opening", is_number=False, drop_order=5),
]


@click.command("schedule")
@click.argument("file", type=A_PATH)
@click.option("--matches", "lists_matches", is_flag=True, help="List every match instead of the summary.")
@click.option("--audit", "only_audit", is_flag=True, help="Only the table of the schedule balance.")
@click.option(
    "--measure",
    "measures",
    is_flag=True,
    help="Play up to 32 matches of each game, for 30 seconds at most, to see how long they take.",
)
@click.option(
    "--spread",
    type=Number(0.0, 100),
    help="With [until]: the standard deviation of the bots' strengths, in points of mu [default: as rated, or 4].",
)
@within_option("How long to find out what the openings are worth, such as 60s or 5m.", default="3s")
@workers_option
@format_options
def schedule_command(
    file: Path,
    lists_matches: bool,
    only_audit: bool,
    measures: bool,
    spread: float | None,
    within_seconds: float,
    workers: int | None,
    table_format: str,
) -> int:
    """Show the schedule of the tournament that FILE defines (a path, or an example such as arena:swiss), without
    playing it.

    How many matches there are, how long they will take (from what such matches have taken before), and how fair it is:
    the worst imbalance in who plays how often, sits where, meets whom and acts right after whom. Where rounds depend on
    results, that is the first round, or all rounds stored so far.

    For a tournament that plays until it is decided, it estimates the number of matches by simulation: with the
    strengths that its ratings give these bots, or with strengths of a standard deviation of --spread.

    For games for two, it also counts the openings that are decided, among those that it can solve in time (--within).
    With --measure, it plays a few matches now, with the same isolation and as many at a time as the tournament, and
    stores none of them.
    """
    from arena.analysis.measures.balance import recorded_times, schedule_balance, seatings_of
    from arena.analysis.text.statistics_tables import BALANCE_COLUMNS
    from arena.tournament.definition import load_definition
    from arena.tournament.formats.format import format_class
    from arena.tournament.opening_information import with_openings
    from arena.tournament.resumption import with_stored_openings
    from arena.tournament.schedule import schedule

    if measures and (lists_matches or only_audit):
        raise UsageError(f"--measure and {'--matches' if lists_matches else '--audit'}: expected one of them")
    with open_home() as arena_home:
        definition = load_definition(file, arena_home.bots)
        warn_of_rejected(definition)
        stored = arena_home.store.find_tournament(definition.name)
        kind = format_class(definition)
        definition = with_openings(with_stored_openings(definition, stored.definition) if stored else definition, kind)
        from_store = stored is not None and kind.needs_results
        lines = arena_home.store.schedule(stored) if stored and from_store else schedule(definition)
        if lists_matches:
            print_table(MATCH_COLUMNS, _match_rows(lines, definition, table_format), table_format)
            return OK
        counts = _Counts()
        games, names = [choice.game for choice in definition.games], list(definition.shown_names.values())
        balance = schedule_balance(seatings_of(counts.passing(lines)), games, names)
        slots = workers or definition.workers or workers_that_fit(definition.limits)
        is_text = table_format == "text" and not only_audit
        times = recorded_times(arena_home.store, definition) if is_text and not measures else []
        counts.until_decided = _simulated(definition, arena_home, spread) if is_text or measures else None
    if measures:
        return _measure(definition, counts, slots, table_format)
    if is_text:
        click.echo(f"{sentences_text(_summary(definition, counts))}\n{_time(definition, counts, times, slots)}")
        for sentence in _opening_sentences(definition, counts, within_seconds):
            click.echo(sentences_text(sentence))
        click.echo()
    print_table(BALANCE_COLUMNS, [asdict(line) for line in balance], table_format)
    return OK


def _measure(definition: Definition, counts: _Counts, slots: int, table_format: str) -> int:
    from arena.analysis.measures.balance import times_of
    from arena.analysis.text.duration_text import MEASURED_COLUMNS, failure_sentences, measured_rows
    from arena.tournament.director import measure

    if not counts.first:
        raise UsageError(f"tournament {definition.name!r}: no match is scheduled")
    warn_of_weak_isolation(definition.isolation)
    measurement = measure(definition, counts.first, slots)
    times = [
        times_of(measurement.records.get(number, ()), choice.game, choice.players, measurement.start_seconds)
        for number, choice in enumerate(definition.games)
    ]
    failures = failure_sentences(measurement)
    if table_format != "text":
        rows = measured_rows(times, _matches_to_play(definition, counts), slots)
        print_table(MEASURED_COLUMNS, rows, table_format)
    else:
        time_text = _time(definition, counts, times, slots, is_measured=True)
        click.echo(f"{sentences_text(_summary(definition, counts))}\n{time_text}")
    for failure in failures:
        click.echo(f"arena: {printable(failure)}", err=True)
    return FAILED if failures else OK


class _Counts:
    def __init__(self) -> None:
        self.matches: Counter[int] = Counter()  # of each game
        self.first: dict[int, list[ScheduledMatch]] = {}  # the first matches of each game
        self.openings: dict[int, dict[tuple[Any, ...], None]] = {}  # of each game, in the order of the schedule
        self.encounters = self.rounds = 0
        self.until_decided: tuple[list[int], str] | None = None  # matches of simulations, and of what field

    def passing(self, lines: Iterable[ScheduledMatch]) -> Iterator[ScheduledMatch]:
        for line in lines:
            self.matches[line.game] += 1
            if self.matches[line.game] <= MAX_MATCHES_PER_GAME:
                self.first.setdefault(line.game, []).append(line)
            if line.opening_actions and len(self.openings.setdefault(line.game, {})) < MAX_OPENINGS:
                self.openings[line.game][line.opening_actions] = None
            self.encounters, self.rounds = max(self.encounters, line.encounter), max(self.rounds, line.round)
            yield line


def _simulated(definition: Definition, arena_home: ArenaHome, spread: float | None) -> tuple[list[int], str] | None:
    """Return how many matches simulations of a tournament take that plays until it is decided, and of what field."""
    from arena.analysis.measures.standings_cache import standings_of
    from arena.tournament.until_simulation import expected_matches

    if definition.until is None:
        return None
    bots = len(definition.entrants) - len(definition.gone)
    strengths = [0.0] * bots
    if spread is None and arena_home.store.find_tournament(definition.name) is not None:
        rated = [line.rating.mu for line in standings_of(arena_home.store, definition.name).lines if line.matches]
        strengths = rated if len(rated) == bots else strengths
    if any(strengths):
        spread, field = None, "a field as it is rated so far"
    else:
        spread = DEFAULT_SPREAD if spread is None else spread
        field = f"fields with a standard deviation of {spread:g} points of mu"
    runs = SIMULATIONS if bots <= MANY_BOTS else 1
    return expected_matches(definition.until, strengths, runs, spread), field


def _match_rows(lines: Iterable[ScheduledMatch], definition: Definition, table_format: str) -> list[dict[str, Any]]:
    from arena.games import make_game
    from arena.games.checked_game import checked_game

    names = list(definition.shown_names.values())
    games = [checked_game(make_game(choice.game, **choice.options), choice.game) for choice in definition.games]
    rows = []
    for line in lines:
        seats = [names[k] for k in line.seats]
        opening = [games[line.game].format_action(action) for action in line.opening_actions]
        texts = (seats, opening) if table_format == "json" else (", ".join(seats), " ".join(opening))
        game = definition.games[line.game].game
        rows.append(row_of(MATCH_COLUMNS, line, game=game, bots=texts[0], opening=texts[1]))
    return rows


def _summary(definition: Definition, counts: _Counts) -> str:
    from arena.tournament.formats.format import format_of
    from arena.tournament.rounds import matches_of

    scheduled = counts.matches.total()
    games = ", ".join(f"{choice.game} for {choice.players}" for choice in definition.games)
    text = [f"{definition.name}: {definition.format}, {counted(len(definition.entrants), 'entrant')}, {games}"]
    planned = format_of(definition)
    if not planned.needs_results:
        encounters, rounds = counted(counts.encounters, "encounter"), counted(counts.rounds, "round")
        return "\n".join([*text, f"{counted(scheduled, 'match')} in {encounters} and {rounds}"])
    expected = matches_of(planned.total_encounters(), definition)
    most = matches_of(planned.max_encounters(), definition)
    known = f"{scheduled} of them are known so far, in {counted(counts.rounds, 'round')}"
    if counts.until_decided is not None:
        matches, field = counts.until_decided
        text.append(
            f"about {counted(matches[len(matches) // 2], 'match')}, and {matches[0]:,} to {matches[-1]:,} in"
            f" {counted(len(matches), 'simulation')} of {field}; {known}"
        )
    elif expected is None or most is None:
        text.append(f"matches without end; {known}")
    elif most > expected:
        text.append(f"{counted(expected, 'match')}, or at most {most:,} if duels are tied; {known}")
    else:
        text.append(f"at most {counted(most, 'match')}; {known}")
    return "\n".join([*text, planned.plan()] if planned.plan() else text)


def _opening_sentences(definition: Definition, counts: _Counts, within_seconds: float) -> Iterator[str]:
    from arena.games import make_game
    from arena.lab.openings import judged_margins, judged_sentence, opening_balance, opening_sentence
    from arena.lab.solving.positions import rules_of
    from arena.tournament.opening_information import is_judged_by_playouts

    own = [
        number for number, choice in enumerate(definition.games) if choice.players == 2 and number in counts.openings
    ]
    for number in own:
        choice, openings = definition.games[number], counts.openings[number]
        deadline = time.monotonic() + within_seconds / len(own)
        is_chosen = bool(definition.openings) and definition.openings[number].choose is OpeningChoice.INFORMATION
        if is_chosen and is_judged_by_playouts(choice, definition.opening_plies):
            game = make_game(choice.game, **choice.options)
            yield judged_sentence(definition, number, len(openings), judged_margins(game, openings, deadline))
            continue
        rules = rules_of(choice.game, choice.options)
        yield opening_sentence(definition, number, opening_balance(rules, choice.game, openings, deadline))


def _time(
    definition: Definition, counts: _Counts, times: Sequence[GameTimes], slots: int, is_measured: bool = False
) -> str:
    from arena.analysis.text.duration_text import time_sentences, unknown_time

    reason = unknown_time(times, is_measured=is_measured)
    number = sum(len(own.seconds) for own in times)
    played = f"{counted(number, 'match')} played now" if is_measured else counted(number, "recorded match")
    matches = _matches_to_play(definition, counts)
    lines = [reason] if reason else time_sentences(times, matches, slots, definition.longest_time, played)
    return sentences_text("\n".join(lines))


def _matches_to_play(definition: Definition, counts: _Counts) -> list[float] | None:
    from arena.tournament.formats.format import format_of
    from arena.tournament.rounds import matches_of

    scheduled = counts.matches.total()
    planned = format_of(definition)
    total = matches_of(planned.total_encounters(), definition) if planned.needs_results else scheduled
    if counts.until_decided is not None:
        total = counts.until_decided[0][len(counts.until_decided[0]) // 2]
    if total is None:
        return None
    return [counts.matches[k] * total / max(1, scheduled) for k in range(len(definition.games))]
