"""Verifying a tournament from its records, the rules and its definition alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.analysis.measures.corrections_check import corrections_problems
from arena.analysis.measures.standings_cache import standings_of
from arena.base.errors import UsageError
from arena.match.replay import ReplayError, check_record
from arena.ratings import Result, rate_results
from arena.ratings.result_arrays import counting
from arena.store.home import ArenaHome
from arena.store.results.statements import record_from
from arena.store.results.values import StoredTournament
from arena.tournament.schedule import ChosenOpenings

RATING_TOLERANCE = 0.02
"""Two fits of the same results, summed in another order, may differ by a few of the fit's own tolerance."""


class Verification(NamedTuple):
    """The result of verifying a tournament.

    Attributes:
        checked: the number of records that were checked.
        problems: a sentence for each problem.
    """

    checked: int
    problems: list[str]


def verify(home: ArenaHome, tournament: StoredTournament | str) -> Verification:
    """Replay every record by the rules, recompute the ratings of the table, and check the corrections.

    If something is recorded or corrected meanwhile (``is_settled``), the ratings are not compared.

    Args:
        home: where it is.
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
    for match, text in home.store.record_texts(tournament):
        checked += 1
        try:
            record = record_from(match, text)
            check_record(record)
        except (ReplayError, UsageError, KeyError, TypeError, ValueError, IndexError) as error:
            problems.append(f"match {match}: {type(error).__name__}: {error}")
            continue
        bots_of[match] = record.bots
        if tournament.definition.openings:
            opening_of[match] = [action for _, action in record.actions[: record.opening_plies]]
        if len(set(record.bots)) == len(record.bots):
            opening = record.actions[: record.opening_plies]
            openings.append(str((record.game, record.options, record.bots, opening)))
            actions.append(str((record.actions, record.ranks)))
            results.append((record.bots, record.ranks))
    problems += [*_seat_problems(home, tournament, bots_of), *corrections_problems(home.store, tournament)]
    problems += _opening_problems(home, tournament, opening_of)
    problems += home.store.counter_problems(tournament)
    if not problems and results:
        rated = [result for result, counts in zip(results, counting(openings, actions), strict=True) if counts]
        different = _compare_ratings(home, tournament, rated)
        problems += different if is_settled(home, tournament) else []
    return Verification(checked, problems)


def is_settled(home: ArenaHome, tournament: StoredTournament) -> bool:
    """Return whether nothing has been recorded or corrected since the tournament was read."""
    now = home.store.tournament(tournament.name)
    return (now.recorded, now.corrections) == (tournament.recorded, tournament.corrections)


def _seat_problems(
    home: ArenaHome, tournament: StoredTournament, bots_of: Mapping[int, Sequence[str]]
) -> Iterator[str]:
    """Yield the matches that others have played than the schedule says."""
    entrants = tournament.definition.entrants
    for line in home.store.schedule(tournament):
        wanted = [entrants[k].label for k in line.seats]
        played = bots_of.get(line.match)
        if played is not None and list(played) != wanted:
            yield f"match {line.match}: played by {', '.join(played)}, but the schedule says {', '.join(wanted)}"


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
