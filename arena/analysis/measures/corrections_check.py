"""Checks a tournament's corrections: every match that does not count is explained by one, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import ArenaError
from arena.match.replay import check_record
from arena.store.results.statements import record_from
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredTournament, explaining, in_force


def corrections_problems(store: Store, tournament: StoredTournament) -> Iterator[str]:
    """Yield a sentence for each problem."""
    log = tournament.corrections
    yield from _log_problems(log)
    known = explaining(log)
    aside = set()
    for match, correction, text in store.corrections.set_aside(tournament):
        aside.add(match)
        where = f"match {match}, set aside by correction {correction}"
        if correction not in known:
            yield f"{where}: no such correction stands"
        try:
            check_record(record_from(match, text))
        except (ArenaError, KeyError, TypeError, ValueError, IndexError) as error:
            yield f"{where}: {type(error).__name__}: {error}"
    skipped = store.corrections.skipped(tournament)
    for match, correction in skipped:
        if correction not in known:
            yield f"match {match}: it is left out by correction {correction}, but no such correction stands"
    yield from _line_problems(store, tournament, {match for match, _ in skipped}, aside)


def _log_problems(log: tuple[Correction, ...]) -> Iterator[str]:
    if [c.number for c in log] != list(range(1, len(log) + 1)):
        yield f"the log of corrections has the numbers {[c.number for c in log]}"
    undone: set[int] = set()
    for c in log:
        number = c.details.undoes
        if (number is None) == (c.kind is CorrectionKind.UNDO):
            yield f"correction {c.number}: it does not say what it undoes"
        elif number is not None and (number >= c.number or number in undone):
            yield f"correction {c.number}: correction {number} can't be undone by it"
        elif number is not None:
            undone.add(number)


def _line_problems(store: Store, tournament: StoredTournament, skipped: set[int], aside: set[int]) -> Iterator[str]:
    """Yield what is wrong with matches: one is missing, is of a bot out of the table, or is not in the schedule."""
    recorded = store.recorded_matches(tournament)
    annulled = {
        c.details.entrant: c.number
        for c in in_force(tournament.corrections)
        if c.details.disqualified_matches is DisqualifiedMatches.ANNUL and c.details.entrant is not None
    }
    left_out = frozenset(skipped)
    unknown = {"has a record": set(recorded), "is left out": skipped, "is set aside": aside}
    for line in store.schedule(tournament):
        for matches in unknown.values():
            matches.discard(line.match)
        if line.match not in recorded:
            if tournament.finished_at is not None and line.match not in left_out:
                yield f"match {line.match}: it has no record, although the tournament is finished"
            continue
        for entrant in annulled.keys() & set(line.seats):
            bot = tournament.definition.entrants[entrant].label
            yield f"match {line.match}: {bot} is disqualified (correction {annulled[entrant]}), but its record counts"
    for state, matches in unknown.items():
        yield from (f"match {match}: it {state}, but it is not in the schedule" for match in sorted(matches))
