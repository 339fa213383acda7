"""The tournaments of tuning: what a round is as a definition, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from arena.definition import Definition
from arena.errors import UsageError
from arena.games import make_game
from arena.players.manifest import claims_problem
from arena.ratings.repeats import counting
from arena.records import Bot
from arena.results import StoredResult, points_of
from arena.tournament.definition import check_game_of, check_ply_limit, check_tournament_name
from arena.tournament.tuning import Values

START = "start"
MAX_NAME_CHARACTERS = 30
"""Of a bot's own name, before the values."""

MAX_TUNING_NAME_CHARACTERS = 58
"""Behind it, a tournament's name has the number of the round, or "test"."""


def trials_definition(base: Definition, number: int, rounds: int, bots: Sequence[Bot], encounters: int) -> Definition:
    """Return the tournament of a round.

    Args:
        base: what all rounds have in common; its name is that of the tuning.
        number: of the round, from 1; the one after the last is the final test.
        rounds: how many rounds there are.
        bots: the start, and the variants.
        encounters: of each variant.
    """
    is_test = number > rounds
    return replace(
        base,
        name=f"{base.name} {'test' if is_test else number}",
        entrants=tuple(bots),
        encounters=encounters,
        rng_seed=(base.rng_seed + number) % 2**63,
    )


def check_base(base: Definition, start: Bot) -> None:
    """Raise UsageError if the start can't play the game, or the tournaments can't have their names."""
    (choice,) = base.games
    make_game(choice.game, **choice.options)
    check_game_of(choice.game, (start,))
    problem = claims_problem(start, choice.game)
    if problem is not None:
        raise UsageError(f"bot {start.name!r} {problem}")
    check_tournament_name(base.name, "--name")
    if len(base.name) > MAX_TUNING_NAME_CHARACTERS:
        raise UsageError(f"--name {base.name!r}: expected at most {MAX_TUNING_NAME_CHARACTERS} characters")
    check_ply_limit(base.ply_limit, base.opening_plies)


def named_variant(bot: Bot, values: Values) -> Bot:
    """Return a bot under the name of a variant."""
    return replace(bot, name=" ".join((bot.name[:MAX_NAME_CHARACTERS].strip(), *values)))


def scores_of(results: Sequence[StoredResult], variants: Sequence[Bot]) -> list[list[float]]:
    """Return the share of points of each variant in each of its encounters; duplicate encounters do not count.

    Args:
        results: of all matches, in the order of the schedule.
        variants: the bots.
    """
    scores: dict[str, list[float]] = {bot.label: [] for bot in variants}
    encounters = [tuple(of_one) for _, of_one in groupby(results, key=attrgetter("encounter"))]
    openings = [tuple((result.bots, result.opening_hash) for result in one) for one in encounters]
    actions = [tuple(result.actions_hash for result in one) for one in encounters]
    for one, counted in zip(encounters, counting(openings, actions), strict=True):
        label = next(bot for bot in one[0].bots if bot in scores)
        if counted:
            scores[label].append(sum(points_of(result.ranks, result.bots.index(label)) for result in one) / len(one))
    return list(scores.values())
