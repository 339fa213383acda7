"""Verifying a tournament from its records, the rules, its definition and its corrections alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.analysis.measures.standings_cache import standings_of
from arena.base.errors import StoreError, UsageError
from arena.base.records import MatchRecord, ScheduledMatch
from arena.base.text import shortened_text
from arena.match.replay import ReplayError, check_record
from arena.ratings import Result
from arena.ratings.result_arrays import EncounterArrays, counting
from arena.ratings.set_fit import SetFit
from arena.ratings.settled_fit import settle
from arena.store.home import ArenaHome
from arena.store.results.statements import derived_keys, record_from, stored_bots_and_ranks
from arena.store.results.values import StoredTournament
from arena.tournament.consistency import correction_problems, record_problems, schedule_problems, value_problems
from arena.tournament.formats.format import format_class

RATING_TOLERANCE = 0.02
"""Two fits of the same results, summed in another order, may differ by a few of the fit's own tolerance."""


class Verification(NamedTuple):
    """The number of records that were checked, and a sentence for each problem."""

    checked: int
    problems: list[str]


def verify(home: ArenaHome, tournament: StoredTournament | str) -> Verification:
    """Replay every record by the rules, recompute the ratings of the table, and check the corrections.

    If something is recorded or corrected meanwhile (``is_settled``), the ratings are not compared; after a
    correction, neither are the schedule and the corrections, which were read one after the other.

    Args:
        tournament: the tournament, or its name.

    Raises:
        UnknownNameError: if there is no such tournament.
    """
    if isinstance(tournament, str):
        tournament = home.store.tournament(tournament)
    problems: list[str] = []
    compared: list[str] = []
    results: list[Result] = []
    openings: list[str] = []
    actions: list[str] = []
    recorded: set[int] = set()
    derived: Counter[tuple[str, ...]] = Counter()
    for row, line in _with_lines(home, tournament):
        match = row.match
        recorded.add(match)
        if line is None:
            problems.append(f"match {match}: it has a record, but it is not in the schedule")
        try:
            record = record_from(match, row.record)
            check_record(record)
            problems += _column_problems(row, record)
            problems += (f"match {match}: {problem}" for problem in value_problems(record))
            if line is not None:
                differing = record_problems(record, line, tournament.definition)
                compared += (f"match {match}: {problem}" for problem in differing)
        except (ReplayError, UsageError, KeyError, TypeError, ValueError, IndexError) as error:
            problems.append(f"match {match}: {type(error).__name__}: {error}")
            continue
        derived.update(derived_keys(row, record))
        if len(set(record.bots)) == len(record.bots):
            opening = record.actions[: record.opening_plies]
            openings.append(str((record.game, record.options, record.bots, opening)))
            actions.append(str((record.actions, record.ranks)))
            results.append((record.bots, record.ranks))
    compared += correction_problems(home.store.as_source(), tournament, recorded)
    compared += _schedule_problems(home, tournament)
    if compared and _is_unchanged(home, tournament, "definition_text", "finished_at", "corrections"):
        problems += compared
    problems += home.store.counter_problems(tournament, "match_count", "record_count")
    problems += _lost_problems(home, tournament)
    if not problems:
        problems += home.store.counter_problems(tournament, "record_bytes")
    if not problems and derived != home.store.derived_counts(tournament) and is_settled(home, tournament):
        problems.append("the tables of who met whom and of faults are not what follows from the records")
    if not problems and results:
        rated = [result for result, counts in zip(results, counting(openings, actions), strict=True) if counts]
        different = _compare_ratings(home, tournament, rated)
        problems += different if is_settled(home, tournament) else []
    return Verification(len(recorded), problems)


def is_settled(home: ArenaHome, tournament: StoredTournament) -> bool:
    """Return whether nothing was recorded or corrected since the tournament was read."""
    return _is_unchanged(home, tournament, "recorded", "corrections")


def _is_unchanged(home: ArenaHome, tournament: StoredTournament, *values: str) -> bool:
    latest = home.store.tournament(tournament.name)
    return all(getattr(latest, value) == getattr(tournament, value) for value in values)


def _column_problems(row: Any, record: MatchRecord) -> Iterator[str]:
    """Yield what is stored beside a record, where tables and pages read it, and is not what the record says."""
    beside = (row.encounter, row.game, *stored_bots_and_ranks(row.bots, row.ranks), row.termination)
    said = (record.encounter, record.game, tuple(record.bots), tuple(record.ranks), str(record.termination))
    for name, stored, expected in zip(("encounter", "game", "bots", "ranks", "termination"), beside, said, strict=True):
        if stored != expected:
            yield f"match {record.match}: {name} is {stored!r:.80} beside the record, which says {expected!r:.80}"


def _with_lines(home: ArenaHome, tournament: StoredTournament) -> Iterator[tuple[Any, ScheduledMatch | None]]:
    """Yield the row of each record with its match in the schedule; None if that has no such match."""
    lines = home.store.schedule(tournament)
    line = next(lines, None)
    for row in home.store.record_rows(tournament):
        while line is not None and line.match < row.match:
            line = next(lines, None)
        yield row, line if line is not None and line.match == row.match else None


def _schedule_problems(home: ArenaHome, tournament: StoredTournament) -> Iterator[str]:
    rounds = home.store.results_by_round(tournament) if format_class(tournament.definition).needs_results else None
    problems = [*schedule_problems(home.store.schedule(tournament), tournament, rounds)]
    if problems and (rounds is None or is_settled(home, tournament)):  # a round may have been added meanwhile
        yield from problems


def _lost_problems(home: ArenaHome, tournament: StoredTournament) -> Iterator[str]:
    """Yield a sentence if a match has no record any more, not even one that is set aside."""
    store = home.store
    try:
        with store.one_transaction():
            latest = store.tournament(tournament.name)
            lost = store.events.recorded_matches(latest.number) - store.recorded_matches(latest)
            for c in latest.corrections if lost else ():
                lost -= set(store.corrections.set_aside_matches(latest, c.number))
    except StoreError as error:
        yield str(error)
        return
    if lost:
        numbers = shortened_text(", ".join(map(str, sorted(lost))))
        yield f"by the log of events, these matches had records that are gone: {numbers}"


def _compare_ratings(home: ArenaHome, tournament: StoredTournament, results: list[Result]) -> list[str]:
    table = standings_of(home.store, tournament.name, cache_directory=home.cache_directory)
    arrays = EncounterArrays.of_results(Counter(reversed(results)).items())
    fit = SetFit(arrays.names, arrays.results)
    settle(fit, None)
    recomputed = fit.polish()
    problems = []
    for line in table.lines:
        again = recomputed.get(line.label)
        if again is not None and abs(again.mu - line.rating.mu) > RATING_TOLERANCE:
            problems.append(f"{line.bot}: mu is {line.rating.mu:.3f} in the table, but {again.mu:.3f} from the replays")
    return problems
