"""The tournaments of a contest: their definitions, and who reaches the final."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import Any

from arena.analysis.measures.standings_cache import standings_of
from arena.base.definition import Definition, GameChoice, GameOpenings, gone
from arena.base.errors import UsageError
from arena.base.records import Bot
from arena.base.text import counted
from arena.community.contests.entrants import ISOLATION
from arena.store.people.contest import StageRules, StoredContest
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, absences, out_of_table
from arena.tournament.formats.table import FORMATS, format_of
from arena.tournament.rounds import ranking_of


def is_ladder(rules: StageRules) -> bool:
    """Return whether a stage is played from the opening on, by everybody who has entered so far."""
    return FORMATS[rules.format].open_entry


def definition_of(stored: StoredContest, rules: StageRules, name: str, bots: Sequence[Bot]) -> Definition:
    """Return the tournament of a stage.

    Args:
        stored: the contest.
        rules: of the stage.
        name: of the tournament.
        bots: who plays.

    Raises:
        UsageError: if the format can't be played by this number.
    """
    contest = stored.contest
    if len(bots) < contest.players:
        raise UsageError(
            f"{counted(len(bots), 'bot')} {'plays' if len(bots) == 1 else 'play'} in {name!r}, and a match needs"
            f" {contest.players}"
        )
    definition = Definition(
        name=name,
        games=(GameChoice(game=contest.game, options=contest.options, players=contest.players),),
        entrants=tuple(bots),
        format=rules.format,
        encounters=rules.encounters,
        opening_plies=rules.opening_plies,
        openings=() if rules.opening_choice is None else (GameOpenings(choose=rules.opening_choice),),
        ply_limit=rules.ply_limit,
        time_control=contest.time_control,
        limits=contest.limits,
        rng_seed=stored.rng_seed_of(name),
        isolation=ISOLATION,
        settings=_fitted_settings(rules, bots, contest.players),
    )
    format_of(definition)
    return definition


def _fitted_settings(rules: StageRules, bots: Sequence[Bot], players: int) -> Mapping[str, Any]:
    """Return the settings of a format for those who play, whose number nobody knew when they were written."""
    settings = dict(rules.settings)
    if settings.get("rounds") is not None:  # without repeating a pairing
        settings["rounds"] = min(settings["rounds"], len(bots) - 1 + len(bots) % 2)
    if settings.get("groups") is not None:
        settings["groups"] = min(settings["groups"], comb(len(bots), players))
    if settings.get("challengers"):
        last = {bot.name: bot for bot in bots}  # those of the house come last
        names = Counter(bot.name for bot in bots)
        settings["challengers"] = [
            name if names[name] == 1 or name not in last else last[name].label for name in settings["challengers"]
        ]
    return settings


def ladder_until(definition: Definition, hours: float | None) -> Definition:
    """Return a ladder that also stops after a number of hours; None if it does not."""
    settings = {name: value for name, value in definition.settings.items() if name != "hours"}
    return replace(definition, settings=settings if hours is None else {**settings, "hours": hours})


def first_of(store: Store, tournament: str, places: int, among: Collection[str]) -> list[str]:
    """Return the bots that a qualification sends to the final, the best first.

    Args:
        store: where it was played.
        tournament: its name.
        places: how many.
        among: who may go on: not the bots of the house, nor versions that their authors have replaced.
    """
    stored = store.tournament(tournament)
    entrants = stored.definition.entrants
    away = out_of_table(stored.corrections) | gone(absences(stored.corrections))
    out = {entrants[k].label for k in away}
    return [label for label in _ranked(store, stored) if label in among and label not in out][:places]


def _ranked(store: Store, stored: StoredTournament) -> list[str]:
    ranking = ranking_of(store, stored)
    if ranking is not None:
        return [stored.definition.entrants[placing.entrant].label for _, placing in ranking]
    return [line.label for line in standings_of(store, stored.name).lines]
