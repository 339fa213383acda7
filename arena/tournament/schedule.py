"""From a definition to its schedule: every match with its seats, opening and seed, in a fixed order.

Encounter by encounter, so that at any time everybody has played about equally often.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.games import make_game
from arena.records import MatchSpec, ScheduledMatch
from arena.tournament.definition import Definition, GameChoice
from arena.tournament.formats import FORMATS
from arena.tournament.openings import Opening, openings
from arena.tournament.seeds import seed_of


def schedule(definition: Definition) -> Iterator[ScheduledMatch]:
    """Yield every match of a tournament.

    Every pairing plays the same openings: encounter k of each starts from opening k.

    Raises:
        DefinitionError: if there is no opening of that many plies.
    """
    drawn = [_openings_of(choice, definition) for choice in definition.games]
    pairings = [FORMATS[definition.format](len(definition.entrants), choice.players) for choice in definition.games]
    match = encounter = 0
    for opening in range(definition.encounters):
        for game, game_pairings in enumerate(pairings):
            opening_actions = next(drawn[game])
            for pairing in game_pairings:
                encounter += 1
                for seats in rotations(pairing):
                    match += 1
                    seed = seed_of("match", definition.rng_seed, match)
                    yield ScheduledMatch(match, encounter, game, seats, opening, opening_actions, seed)


def _openings_of(choice: GameChoice, definition: Definition) -> Iterator[Opening]:
    return openings(make_game(choice.game, **choice.options), definition.opening_plies, definition.rng_seed)


def rotations(pairing: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all seat rotations of a pairing: (a, b, c), (b, c, a), (c, a, b)."""
    return [pairing[k:] + pairing[:k] for k in range(len(pairing))]


def spec_of(scheduled: ScheduledMatch, definition: Definition) -> MatchSpec:
    """Return everything a worker needs to play a scheduled match."""
    choice = definition.games[scheduled.game]
    return MatchSpec(
        scheduled.match,
        definition.name,
        choice.game,
        choice.options,
        tuple(definition.entrants[entrant] for entrant in scheduled.seats),
        scheduled.rng_seed,
        scheduled.opening,
        scheduled.opening_actions,
        scheduled.encounter,
        definition.time_control,
    )
