"""The tournaments of a contest: who plays in them, their definitions, and who reaches the final."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import comb
from pathlib import Path
from typing import Any

from arena.analysis.measures.standings_cache import standings_of
from arena.base.definition import Definition, GameChoice, GameOpenings, gone
from arena.base.errors import BotDefinitionError, UnknownNameError, UsageError
from arena.base.records import Bot
from arena.base.text import counted
from arena.base.until import Until, first_pairings
from arena.match.players.building import build_bots
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.people.contest import Contest, ContestEntry, StageRules, StoredContest
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, absences, out_of_table
from arena.tournament.definition import find_entrant
from arena.tournament.formats.format import FORMATS, format_of
from arena.tournament.rounds import ranking_of

ISOLATION = "auto"

_log = logging.getLogger("arena.contest")


def chosen(contest: Contest, candidates: Iterable[ContestEntry], plays: Callable[[str], bool]) -> list[ContestEntry]:
    """Return which of the candidates (the latest first) enter, in the order of their submissions.

    Of each author, these are the latest bots that play the game; of a bot with several versions, the latest.
    """
    entered: dict[tuple[int, str], ContestEntry] = {}
    counts: Counter[int] = Counter()
    for entry in candidates:
        key = (entry.person, entry.bot.rpartition("@")[0])
        if key not in entered and counts[entry.person] < contest.bots_per_author and plays(entry.bot):
            entered[key] = entry
            counts[entry.person] += 1
    return sorted(entered.values(), key=lambda entry: entry.submission)


class ContestBots:
    """The bots that play in a contest, each loaded and built once."""

    def __init__(self, contest: Contest, home: ArenaHome) -> None:
        self._contest, self._home = contest, home
        self._bots: dict[str, Bot | None] = {}

    @cached_property
    def house(self) -> tuple[Bot, ...]:
        """The bots of the house."""
        return tuple(find_entrant(name, (), Path(), None) for name in self._contest.house_bots)

    def house_in(self, rules: StageRules) -> tuple[Bot, ...]:
        """Return the house bots that play in a stage: none in a knockout, where they would eliminate authors' bots."""
        return self.house if rules.has_house_bots else ()

    def plays(self, label: str) -> bool:
        """Return whether a bot can be built and plays the game; raise UsageError if this can't be tested now."""
        if label not in self._bots:
            self._bots[label] = self._loaded(label)
        return self._bots[label] is not None

    def find(self, label: str) -> Bot:
        """Return a bot of the contest; raise UsageError if it can't be launched now."""
        house_bot = next((bot for bot in self.house if bot.label == label), None)
        return house_bot or self._home.bots.find(label)

    def like(self, entrant: Bot) -> Bot:
        """Return the bot on this machine that is an entrant of a stored tournament.

        It has the name of the entrant, even if a bot with the same files has another name here.
        """
        house_bot = next((bot for bot in self.house if bot.digest == entrant.digest), None)
        equal = (bot.label for bot in self._home.store.submitted_bots() if bot.digest == entrant.digest)
        bot_here = house_bot or self._home.bots.find(next(equal, entrant.label))
        return replace(bot_here, name=entrant.name, version=entrant.version)

    def _loaded(self, label: str) -> Bot | None:
        try:
            bot = self._home.bots.find(label)
            if claims_problem(bot, self._contest.game) is not None:
                return None
            build_bots([bot], choose_isolation(ISOLATION))
        except (BotDefinitionError, UnknownNameError) as error:
            _log.warning("contest %s: %s does not enter: %s", self._contest.name, label, error)
            return None
        return bot


def is_ladder(rules: StageRules) -> bool:
    """Return whether a stage is played from the opening on, by everybody who has entered so far."""
    return FORMATS[rules.format].open_entry


def definition_of(stored: StoredContest, rules: StageRules, name: str, bots: Sequence[Bot]) -> Definition:
    """Return the tournament of a stage; raise UsageError if the format can't be played by this number of bots."""
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
        until=_fitted_until(rules, len(bots)),
    )
    format_of(definition)
    return definition


def _fitted_until(rules: StageRules, bots: int) -> Until | None:
    """Return when a stage ends, adapted to the number of bots: all groups are to be decided if no more bots play than
    count as the best, and the budget lets every pair meet that is to meet at first.
    """
    until = rules.until
    if until is None:
        return None
    if until.top is not None and until.top >= bots:
        until = replace(until, decided="groups")
    if until.max_matches is not None:
        fewest = 2 * first_pairings(bots, comb(bots, 2)) * max(1, until.min_encounters)
        until = replace(until, max_matches=max(until.max_matches, fewest))
    return until


def _fitted_settings(rules: StageRules, bots: Sequence[Bot], players: int) -> Mapping[str, Any]:
    """Return the settings of a format, adapted to the number of bots, which was unknown when they were written."""
    settings = dict(rules.settings)
    if settings.get("rounds") is not None:  # without repeating a pairing
        settings["rounds"] = min(settings["rounds"], len(bots) - 1 + len(bots) % 2)
    if settings.get("groups") is not None:
        settings["groups"] = min(settings["groups"], comb(len(bots), players))
    if settings.get("challengers"):
        last = {bot.name: bot for bot in bots}  # house bots come last
        names = Counter(bot.name for bot in bots)
        settings["challengers"] = [
            name if names[name] == 1 or name not in last else last[name].label for name in settings["challengers"]
        ]
    return settings


def ladder_until(definition: Definition, hours: float | None) -> Definition:
    """Return a ladder that also stops after a number of hours; None for no such limit."""
    settings = {name: value for name, value in definition.settings.items() if name != "hours"}
    return replace(definition, settings=settings if hours is None else {**settings, "hours": hours})


def first_of(store: Store, tournament: str, places: int, among: Collection[str]) -> list[str]:
    """Return the bots that a qualification sends to the final, the best first.

    ``among`` leaves out the bots of the house, and versions that their authors have replaced.
    """
    stored = store.tournament(tournament)
    entrants = stored.definition.entrants
    absent = out_of_table(stored.corrections) | gone(absences(stored.corrections))
    out = {entrants[k].label for k in absent}
    return [label for label in _ranked(store, stored) if label in among and label not in out][:places]


def _ranked(store: Store, stored: StoredTournament) -> list[str]:
    ranking = ranking_of(store, stored)
    if ranking is not None:
        return [stored.definition.entrants[placing.entrant].label for _, placing in ranking]
    return [line.label for line in standings_of(store, stored.name).lines]
