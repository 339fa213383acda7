"""Who plays in a contest: the latest accepted bots of its authors that play its game, and the bots of the house."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from arena.base.errors import BotDefinitionError, UnknownNameError
from arena.base.records import Bot
from arena.match.players.building import build_bots
from arena.match.players.manifest import claims_problem
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.home import ArenaHome
from arena.store.people.contest import Contest, ContestEntry
from arena.tournament.definition import find_entrant

ISOLATION = "auto"

_log = logging.getLogger("arena.contest")


def chosen(contest: Contest, candidates: Iterable[ContestEntry], plays: Callable[[str], bool]) -> list[ContestEntry]:
    """Return which of the candidates enter, in the order in which they were handed in.

    Of each author, these are the latest bots that play the game; of a bot with several versions, the latest.

    Args:
        contest: says how many of each author.
        candidates: the latest first.
        plays: whether a bot plays the game.
    """
    entered: dict[tuple[int, str], ContestEntry] = {}
    counts: Counter[int] = Counter()
    for one in candidates:
        key = (one.person, one.bot.rpartition("@")[0])
        if key not in entered and counts[one.person] < contest.bots_per_author and plays(one.bot):
            entered[key] = one
            counts[one.person] += 1
    return sorted(entered.values(), key=lambda one: one.submission)


class ContestBots:
    """The bots that play in a contest, each loaded and built once."""

    def __init__(self, contest: Contest, home: ArenaHome) -> None:
        """Prepare.

        Args:
            contest: says who is of the house, and the game.
            home: where accepted bots are.
        """
        self._contest, self._home = contest, home
        self._bots: dict[str, Bot | None] = {}
        self._house: tuple[Bot, ...] | None = None

    @property
    def house(self) -> tuple[Bot, ...]:
        """The bots of the house."""
        if self._house is None:
            self._house = tuple(find_entrant(name, (), Path(), None) for name in self._contest.house_bots)
        return self._house

    def plays(self, label: str) -> bool:
        """Return whether a bot can be built and plays the game.

        Raises:
            UsageError: if the machine can't say now.
        """
        if label not in self._bots:
            self._bots[label] = self._loaded(label)
        return self._bots[label] is not None

    def find(self, label: str) -> Bot:
        """Return a bot of the contest.

        Raises:
            UsageError: if it can't be launched now.
        """
        own = next((bot for bot in self.house if bot.label == label), None)
        return own or self._home.bots.find(label)

    def like(self, entrant: Bot) -> Bot:
        """Return the bot that an entrant of a stored tournament is, with where it is on this machine.

        It has the files of the entrant, but another name if it has taken the place of somebody.

        Raises:
            UsageError: if it can't be launched now.
        """
        own = next((bot for bot in self.house if bot.digest == entrant.digest), None)
        same = (bot.label for bot in self._home.store.submitted_bots() if bot.digest == entrant.digest)
        found = own or self._home.bots.find(next(same, entrant.label))
        return replace(found, name=entrant.name, version=entrant.version)

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
