"""The tournaments of a contest: who plays in them, who reaches the final, and the homes that they are in."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import comb
from pathlib import Path
from typing import Any

from arena.analysis.measures.standings_cache import standings_of
from arena.base.definition import Definition, GameChoice, GameOpenings, gone
from arena.base.errors import BotDefinitionError, StoreError, UnknownNameError, UsageError, failing_as
from arena.base.folder import check_unlinked
from arena.base.records import Bot
from arena.base.text import counted
from arena.base.until import Until, first_pairings
from arena.community.contests.contest_places import embargoed_home_path, has_embargoed_home
from arena.community.contests.visibility import ContestHome, playing_home
from arena.community.ladders.open_ladder import built_bot
from arena.community.submissions.upload_directory import tell_owners
from arena.sandbox.isolation.removal import remove_tree
from arena.store.home import DATABASE_FILE, ArenaHome, move_log, resolved_home
from arena.store.people.contest import Contest, ContestEntry, StageRules, StoredContest
from arena.store.people.people_store import PeopleStore
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, absences, out_of_table
from arena.tournament.definition import find_entrant
from arena.tournament.formats.format import FORMATS, format_of
from arena.tournament.rounds import ranking_of
from arena.tournament.transfer.new_tournament import NewTournament

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
            return built_bot(self._home, label, [self._contest.game], ISOLATION)
        except (BotDefinitionError, UnknownNameError) as error:
            _log.warning("contest %s: %s does not enter: %s", self._contest.name, label, error)
            return None


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


# The two homes of a contest, public and embargoed, and how matches move between them.


# Everybody can see what is in the home of the arena, in one way or another. So embargoed matches are not stored there:
# to freeze results, the arena copies the tournaments into the embargoed home and plays on there; to reveal them, it
# moves the tournaments back.

MODE = 0o700


def open_embargoed_home(directory: str | os.PathLike[str] | None, name: str) -> ArenaHome:
    """Open the embargoed home of a contest; create it if it does not exist."""
    path = embargoed_home_path(directory, name)
    with failing_as(StoreError, f"{path}: can't be written"):
        check_unlinked(resolved_home(directory), path)
        for folder in (path.parent, path):
            folder.mkdir(MODE, parents=True, exist_ok=True)
            folder.chmod(MODE)
    return ArenaHome(path, store=path / DATABASE_FILE)


def _hide(home: ArenaHome, embargoed: ArenaHome, stored: StoredContest, tournament: str) -> None:
    """Copy a tournament and its matches into the embargoed home, all or nothing, unless it is there already."""
    if _contest_tournament(home, stored, tournament) is None or embargoed.store.find_tournament(tournament) is not None:
        return
    with home.store.lock(tournament), embargoed.store.lock(tournament):
        shown = _contest_tournament(home, stored, tournament)
        if shown is not None:
            NewTournament(home.store.as_source(), shown).copy(embargoed.store)


def _take_back(home: ArenaHome, embargoed: ArenaHome, stored: StoredContest) -> None:
    """Move the tournaments of the embargoed home into the public home, replacing the copies there.

    Each tournament moves in one transaction, and a second call changes nothing.
    """
    for name in stored.contest.tournaments:
        _contest_tournament(home, stored, name)
    for name in stored.contest.tournaments:
        with embargoed.store.lock(name), home.store.lock(name):
            played = _contest_tournament(embargoed, stored, name)
            if played is None:
                continue
            shown = _contest_tournament(home, stored, name)
            NewTournament(embargoed.store.as_source(), played).copy(home.store, in_place_of=shown)


def _contest_tournament(home: ArenaHome, stored: StoredContest, tournament: str) -> StoredTournament | None:
    """Return a tournament of the contest; None if it is not in this home. Raise UsageError if it is another's."""
    found = home.store.find_tournament(tournament)
    if found is not None and found.definition.rng_seed != stored.rng_seed_of(tournament):
        raise UsageError(
            f"contest {stored.name!r}: there is a tournament {tournament!r} already that is not the contest's"
        )
    return found


def remove_embargoed_home(home: ArenaHome, contest: Contest) -> None:
    """Remove what is left of an embargoed home whose tournaments have moved back; its logs go to the public home."""
    if has_embargoed_home(home.directory, contest.name):
        with open_embargoed_home(home.directory, contest.name) as embargoed:
            for name in contest.tournaments:
                move_log(embargoed, name, name, home)
    path = embargoed_home_path(home.directory, contest.name)
    with failing_as(StoreError, f"{path}: can't be removed"):
        check_unlinked(home.directory, path)
    remove_tree(str(path))


class ContestHomes:
    """The home of the arena, and the embargoed one of a contest. Closed with ``close``."""

    def __init__(self, home: ArenaHome, people: PeopleStore) -> None:
        self.public, self._people = home, people
        self._embargoed: ArenaHome | None = None

    def close(self) -> None:
        """Close the embargoed home."""
        if self._embargoed is not None:
            self._embargoed.close()
            self._embargoed = None

    def of(self, stored: StoredContest) -> tuple[ContestHome, ArenaHome]:
        """Return the home that has the matches of a contest now, with all that were played before.

        Embargoed results stay embargoed until the reveal, even if the clock is put back.
        """
        is_embargoed = playing_home(stored, self._people.contests.now()) is ContestHome.EMBARGOED
        if not is_embargoed and (stored.revealed_at is not None or not self._has_embargoed(stored)):
            return ContestHome.PUBLIC, self.public
        embargoed = self._opened(stored)
        for tournament in stored.contest.tournaments:
            _hide(self.public, embargoed, stored, tournament)
        tell_owners(self._people, self.public.store, [embargoed.store])
        return ContestHome.EMBARGOED, embargoed

    def reveal(self, stored: StoredContest) -> None:
        """Make all results public. If the process is killed meanwhile, the next call completes it."""
        if self._has_embargoed(stored):
            _take_back(self.public, self._opened(stored), stored)
        self._people.contests.set_revealed(stored)
        self.close()
        remove_embargoed_home(self.public, stored.contest)

    def _has_embargoed(self, stored: StoredContest) -> bool:
        return has_embargoed_home(self.public.directory, stored.name)

    def _opened(self, stored: StoredContest) -> ArenaHome:
        if self._embargoed is None:
            self._embargoed = open_embargoed_home(self.public.directory, stored.name)
            self._embargoed.bots = self.public.bots  # its bots are in the public home
        return self._embargoed
