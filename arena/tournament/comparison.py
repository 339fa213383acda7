"""Comparing two versions of a bot: the definition of such a tournament, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from arena.base.definition import Definition, GameChoice
from arena.base.errors import UsageError
from arena.base.names import check_tournament_name
from arena.base.records import DEFAULT_PLY_LIMIT, Bot, Limits, TimeControl
from arena.games import make_game
from arena.match.players.manifest import claims_problem
from arena.ratings.sequential import Hypotheses, Verdict
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.definition import check_game_of, check_ply_limit
from arena.tournament.formats.sprt import Comparison
from arena.tournament.formats.table import field_of
from arena.tournament.rounds import meetings

DEFAULT_LIMIT = 10_000
"""Encounters after which a comparison ends undecided."""


def comparison_definition(
    new: Bot,
    old: Bot,
    game: str,
    options: Mapping[str, Any],
    hypotheses: Hypotheses,
    *,
    name: str | None = None,
    limit: int = DEFAULT_LIMIT,
    opening_plies: int = 2,
    ply_limit: int = DEFAULT_PLY_LIMIT,
    time_control: TimeControl = TimeControl(),  # noqa: B008 - an immutable value
    rng_seed: int = 0,
    workers: int | None = None,
    isolation: str = "auto",
) -> Definition:
    """Return the tournament that compares two bots.

    Two bots of the same name and version (one program with different arguments) are named "new" and "old".
    """
    rules = make_game(game, **options)
    check_game_of(game, (new, old))
    for bot in (new, old):
        problem = claims_problem(bot, game)
        if problem is not None:
            raise UsageError(f"bot {bot.name!r} {problem}")
    if new.label == old.label:
        new, old = replace(new, name=f"{new.name} new"), replace(old, name=f"{old.name} old")
    name = name if name is not None else f"{new.name} against {old.name} in {game}"[:64].strip()
    check_tournament_name(name, "name")
    check_ply_limit(ply_limit, opening_plies)
    return Definition(
        name=name,
        games=(GameChoice(game=game, options=rules.options, players=rules.players),),
        entrants=(new, old),
        format="comparison",
        encounters=limit,
        opening_plies=opening_plies,
        ply_limit=ply_limit,
        time_control=time_control,
        limits=Limits(),
        rng_seed=rng_seed,
        isolation=isolation,
        fresh_bots=False,
        workers=workers,
        settings=asdict(hypotheses),
    )


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
