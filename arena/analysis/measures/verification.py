"""Verifying a tournament from its records, the rules, its definition and its corrections alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.analysis.measures.standings_cache import standings_of
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import ArenaError, UsageError
from arena.base.records import MatchRecord, TimeControl, time_controls_of
from arena.base.text import shortened_text
from arena.match.replay import ReplayError, check_record
from arena.ratings import Result, rate_results
from arena.ratings.result_arrays import counting
from arena.store.home import ArenaHome
from arena.store.results.statements import derived_keys, record_from, stored_bots_and_ranks
from arena.store.results.store import Store
from arena.store.results.values import Correction, StoredTournament, explaining, in_force
from arena.tournament.schedule import ChosenOpenings

# Checks a tournament's corrections: every match that does not count is explained by one, and nothing else is.


def corrections_problems(store: Store, tournament: StoredTournament) -> Iterator[str]:
    """Yield a sentence for each problem."""
    log = tournament.corrections
    yield from _log_problems(log)
    explanations = explaining(log)
    aside = set()
    for match, correction, text in store.corrections.set_aside(tournament):
        aside.add((match, correction))
        where = f"match {match}, set aside by correction {correction}"
        if correction not in explanations:
            yield f"{where}: no such correction stands"
        try:
            check_record(record_from(match, text))
        except (ArenaError, KeyError, TypeError, ValueError, IndexError) as error:
            yield f"{where}: {type(error).__name__}: {error}"
    skipped = store.corrections.skipped(tournament)
    for match, correction in skipped:
        if correction not in explanations:
            yield f"match {match}: it is left out by correction {correction}, but no such correction stands"
    yield from _void_problems(log, aside)
    yield from _line_problems(store, tournament, *({match for match, _ in pairs} for pairs in (skipped, aside)))


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


def _void_problems(log: tuple[Correction, ...], aside: set[tuple[int, int]]) -> Iterator[str]:
    """Yield corrections whose void matches are not those that they have set aside: matches with their corrections."""
    for c in in_force(log):
        if c.kind is not CorrectionKind.VOID:
            continue
        found = sorted(match for match, correction in aside if correction == c.number)
        if found != list(c.details.matches):
            named, stored = (
                shortened_text(", ".join(map(str, matches))) or "none" for matches in (c.details.matches, found)
            )
            yield f"correction {c.number} voids the matches {named}, but set aside are {stored}"


def _line_problems(store: Store, tournament: StoredTournament, skipped: set[int], aside: set[int]) -> Iterator[str]:
    """Yield matches that are missing, have a bot outside the table, or are not in the schedule."""
    recorded = store.recorded_matches(tournament)
    annulled = {
        c.details.entrant: c.number
        for c in in_force(tournament.corrections)
        if c.details.disqualified_matches is DisqualifiedMatches.ANNUL and c.details.entrant is not None
    }
    left_out = frozenset(skipped)
    not_scheduled = {"has a record": set(recorded), "is left out": skipped, "is set aside": aside}
    for line in store.schedule(tournament):
        for matches in not_scheduled.values():
            matches.discard(line.match)
        if line.match not in recorded:
            if tournament.finished_at is not None and line.match not in left_out:
                yield f"match {line.match}: it has no record, although the tournament is finished"
            continue
        for entrant in annulled.keys() & set(line.seats):
            bot = tournament.definition.entrants[entrant].label
            yield f"match {line.match}: {bot} is disqualified (correction {annulled[entrant]}), but its record counts"
    for state, matches in not_scheduled.items():
        yield from (f"match {match}: it {state}, but it is not in the schedule" for match in sorted(matches))


RATING_TOLERANCE = 0.02
"""Two fits of the same results, summed in another order, may differ by a few of the fit's own tolerance."""


class Verification(NamedTuple):
    """The number of records that were checked, and a sentence for each problem."""

    checked: int
    problems: list[str]


def verify(home: ArenaHome, tournament: StoredTournament | str) -> Verification:
    """Replay every record by the rules, recompute the ratings of the table, and check the corrections.

    If something is recorded or corrected meanwhile (``is_settled``), the ratings are not compared.

    Args:
        tournament: the tournament, or its name.

    Raises:
        UnknownNameError: if there is no such tournament.
    """
    if isinstance(tournament, str):
        tournament = home.store.tournament(tournament)
    problems: list[str] = []
    checked = 0
    results: list[Result] = []
    openings: list[str] = []
    actions: list[str] = []
    bots_of: dict[int, Sequence[str]] = {}
    opening_of: dict[int, Sequence[Any]] = {}
    times_of: dict[int, tuple[TimeControl, ...]] = {}
    derived: Counter[tuple[str, ...]] = Counter()
    for row in home.store.record_rows(tournament):
        checked += 1
        match = row.match
        try:
            record = record_from(match, row.record)
            check_record(record)
            problems += _column_problems(row, record)
        except (ReplayError, UsageError, KeyError, TypeError, ValueError, IndexError) as error:
            problems.append(f"match {match}: {type(error).__name__}: {error}")
            continue
        derived.update(derived_keys(row, record))
        bots_of[match] = record.bots
        if record.time_controls:
            times_of[match] = record.time_controls
        if tournament.definition.openings:
            opening_of[match] = [action for _, action in record.actions[: record.opening_plies]]
        if len(set(record.bots)) == len(record.bots):
            opening = record.actions[: record.opening_plies]
            openings.append(str((record.game, record.options, record.bots, opening)))
            actions.append(str((record.actions, record.ranks)))
            results.append((record.bots, record.ranks))
    problems += [*_seat_problems(home, tournament, bots_of, times_of), *corrections_problems(home.store, tournament)]
    problems += _opening_problems(home, tournament, opening_of)
    problems += home.store.counter_problems(tournament)
    if not problems and derived != home.store.derived_counts(tournament) and is_settled(home, tournament):
        problems.append("the tables of who met whom and of faults are not what follows from the records")
    if not problems and results:
        rated = [result for result, counts in zip(results, counting(openings, actions), strict=True) if counts]
        different = _compare_ratings(home, tournament, rated)
        problems += different if is_settled(home, tournament) else []
    return Verification(checked, problems)


def is_settled(home: ArenaHome, tournament: StoredTournament) -> bool:
    """Return whether nothing has been recorded or corrected since the tournament was read."""
    latest = home.store.tournament(tournament.name)
    return (latest.recorded, latest.corrections) == (tournament.recorded, tournament.corrections)


def _column_problems(row: Any, record: MatchRecord) -> Iterator[str]:
    """Yield what is stored beside a record, where tables and pages read it, and is not what the record says."""
    beside = (row.encounter, row.game, *stored_bots_and_ranks(row.bots, row.ranks), row.termination)
    said = (record.encounter, record.game, tuple(record.bots), tuple(record.ranks), str(record.termination))
    for name, stored, expected in zip(("encounter", "game", "bots", "ranks", "termination"), beside, said, strict=True):
        if stored != expected:
            yield f"match {record.match}: {name} is {stored!r:.80} beside the record, which says {expected!r:.80}"


def _seat_problems(
    home: ArenaHome,
    tournament: StoredTournament,
    bots_of: Mapping[int, Sequence[str]],
    times_of: Mapping[int, tuple[TimeControl, ...]],
) -> Iterator[str]:
    """Yield the matches that other bots have played than the schedule has, or with other odds of time."""
    entrants, common = tournament.definition.entrants, tournament.definition.time_control
    for line in home.store.schedule(tournament):
        scheduled = [entrants[k].label for k in line.seats]
        played = bots_of.get(line.match)
        if played is not None and list(played) != scheduled:
            yield f"match {line.match}: played by {', '.join(played)}, but the schedule says {', '.join(scheduled)}"
        if played is not None and times_of.get(line.match, ()) != time_controls_of(
            [entrants[k] for k in line.seats], common
        ):
            yield f"match {line.match}: its time controls are not those of its entrants"


def _opening_problems(
    home: ArenaHome, tournament: StoredTournament, opening_of: Mapping[int, Sequence[Any]]
) -> Iterator[str]:
    """Yield the matches that did not begin with the opening that was chosen for them."""
    if not tournament.definition.openings:
        return
    try:
        chosen = ChosenOpenings(tournament.definition)
    except UsageError as error:
        yield str(error)
        return
    for line in home.store.schedule(tournament):
        played = opening_of.get(line.match)
        if not chosen.has(line):
            yield f"match {line.match}: its scheduled opening is not the one that was chosen"
        elif played is not None and _plain(played) != _plain(line.opening_actions):
            yield f"match {line.match}: it did not begin with its scheduled opening"


def _plain(actions: Sequence[Any]) -> object:
    """Return actions as they are stored: with lists in place of tuples."""
    return json.loads(json.dumps(actions))


def _compare_ratings(home: ArenaHome, tournament: StoredTournament, results: list[Result]) -> list[str]:
    table = standings_of(home.store, tournament.name, cache_directory=home.cache_directory)
    width, probability = table.fitted.prior_width, table.fitted.draw_probability
    recomputed = rate_results(reversed(results), sigma=width, draw_probability=probability)
    problems = []
    for line in table.lines:
        again = recomputed.get(line.label)
        if again is not None and abs(again.mu - line.rating.mu) > RATING_TOLERANCE:
            problems.append(f"{line.bot}: mu is {line.rating.mu:.3f} in the table, but {again.mu:.3f} from the replays")
    return problems
