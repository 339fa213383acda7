"""The tournaments of ``arena compare`` and ``arena tune``: their definitions and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from arena.base.definition import Definition
from arena.base.errors import UsageError
from arena.base.names import check_tournament_name
from arena.base.records import Bot, MatchRecord
from arena.base.results import StoredResult, points_of
from arena.match.players.manifest import claims_problem
from arena.ratings.result_arrays import counting
from arena.ratings.sequential import Hypotheses, Verdict
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.definition import check_game_of, check_ply_limit
from arena.tournament.formats.comparison import Comparison
from arena.tournament.formats.format import field_of, format_of
from arena.tournament.rounds import meetings
from arena.tournament.tuning import Values

DEFAULT_LIMIT = 10_000
"""Encounters after which a comparison ends undecided."""


def _definition(entrants: Sequence[Bot], conditions: Definition, **keys: Any) -> Definition:
    for choice in conditions.games:
        check_game_of(choice.game, entrants)
        for bot in entrants:
            if (problem := claims_problem(bot, choice.game)) is not None:
                raise UsageError(f"bot {bot.name!r} {problem}")
    check_ply_limit(conditions.ply_limit, conditions.opening_plies)
    return replace(conditions, entrants=tuple(entrants), **keys)


def _games_of(conditions: Definition) -> str:
    return " and ".join(dict.fromkeys(choice.game for choice in conditions.games))


def comparison_definition(
    new: Bot,
    old: Bot,
    conditions: Definition,
    hypotheses: Hypotheses,
    *,
    name: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Definition:
    """Return the tournament that compares two bots under these conditions, a definition without entrants.

    Two bots of the same name and version (one program with different arguments) are named "new" and "old".
    """
    if new.label == old.label:
        new, old = replace(new, name=f"{new.name} new"), replace(old, name=f"{old.name} old")
    name = name if name is not None else f"{new.name} against {old.name} in {_games_of(conditions)}"[:64].strip()
    check_tournament_name(name, "name")
    settings = asdict(hypotheses)
    definition = _definition(
        (new, old), conditions, name=name, format="comparison", encounters=limit, settings=settings
    )
    format_of(definition)
    return definition


@dataclass(frozen=True)
class ComparisonResult:
    """The result of a comparison; faults by kind, of the new and of the old bot, in all matches that were played."""

    verdict: Verdict
    hypotheses: Hypotheses
    duplicate_encounters: int
    players: int
    faults: tuple[Mapping[str, int], Mapping[str, int]]


def comparison_result(store: Store, tournament: StoredTournament) -> ComparisonResult:
    """Return the result so far of a comparison in the store."""
    definition = tournament.definition
    field = field_of(definition)
    comparison = Comparison(field)
    for results in store.results_by_round(tournament):
        comparison.add_results(meetings(results, definition))
    counts = store.fault_counts(tournament)
    new, old = (counts.get(bot, {}) for bot in field.bots)
    return ComparisonResult(
        comparison.verdict, field.settings, comparison.duplicate_encounters, field.players, (new, old)
    )


# The tournaments of tuning: what a round is as a definition, and its scores.

START = "start"
MAX_NAME_CHARACTERS = 30
"""The most characters of a bot's own name, before the values."""

MAX_TUNING_NAME_CHARACTERS = 58
"""The number of the round, or "test", follows in the names of tournaments."""


def base_definition(start: Bot, conditions: Definition, *, name: str | None = None) -> Definition:
    """Return what the tournaments of all rounds have in common: conditions, and a name. It has no entrants yet."""
    if name is None:
        name = f"tune {start.name} in {_games_of(conditions).rpartition(':')[2]}"[:MAX_TUNING_NAME_CHARACTERS].strip()
    check_tournament_name(name, "--name")
    if len(name) > MAX_TUNING_NAME_CHARACTERS:
        raise UsageError(f"--name {name!r}: expected at most {MAX_TUNING_NAME_CHARACTERS} characters")
    return replace(_definition((start,), conditions, name=name, format="trials"), entrants=())


def trials_definition(
    base: Definition, number: int, rounds: int, bots: Sequence[Bot], encounters: int, drawn: Sequence[int] = ()
) -> Definition:
    """Return the tournament of a round; a number beyond ``rounds`` is that of the final test."""
    is_test = number > rounds
    return replace(
        base,
        name=_test_name(base) if is_test else f"{base.name} {number}",
        entrants=tuple(bots),
        encounters=encounters,
        settings={"drawn": list(drawn)} if drawn else {},
        rng_seed=(base.rng_seed + number) % 2**63,
    )


def _test_name(base: Definition) -> str:
    return f"{base.name} test"


def named_variant(bot: Bot, values: Values) -> Bot:
    """Return a bot under the name of a variant."""
    return replace(bot, name=" ".join((bot.name[:MAX_NAME_CHARACTERS].strip(), *values)))


def tested_values(store: Store, base: Definition, parameters: int) -> Values | None:
    """Return the values of a final test that was begun, perhaps by an earlier version, which estimated others."""
    stored = store.find_tournament(_test_name(base))
    return None if stored is None else tuple(stored.definition.entrants[-1].name.split()[-parameters:])


def check_start(records: Iterable[MatchRecord], name: str, start: str) -> None:
    """Raise UsageError if the start had a fault in most matches: there is nothing to compare with.

    A variant that has faults loses by them, as its values may be to blame.
    """
    matches, faults = 0, list[str]()
    for record in records:
        own = [fault for fault in record.faults if record.bots[fault.seat] == start]
        faults += [f"match {record.match} ({own[0].kind})"] if own else []
        matches += 1
    if 2 * len(faults) > matches:
        raise UsageError(
            f"tournament {name!r}: {start} had faults in {len(faults):,} of {matches:,} matches, first in {faults[0]};"
            " expected a bot that can play (arena check); then give the tuning another name (--name NAME)"
        )


def scores_of(results: Sequence[StoredResult], variants: Sequence[Bot]) -> list[list[float]]:
    """Return the share of points of each variant in each of its encounters; duplicate encounters do not count."""
    scores: dict[str, list[float]] = {bot.label: [] for bot in variants}
    encounters = [tuple(group) for _, group in groupby(results, key=attrgetter("encounter"))]
    openings = [tuple((result.bots, result.opening_hash) for result in encounter) for encounter in encounters]
    actions = [tuple(result.actions_hash for result in encounter) for encounter in encounters]
    for encounter, counted in zip(encounters, counting(openings, actions), strict=True):
        label = next(bot for bot in encounter[0].bots if bot in scores)
        if counted:
            scores[label].append(
                sum(points_of(result.ranks, result.bots.index(label)) for result in encounter) / len(encounter)
            )
    return list(scores.values())
