"""Bots that rest while results of a contest are hidden, for whoever asks: an author plays against the own ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from arena.base.shipped import PREFIX
from arena.base.text import all_of
from arena.server.gate.operation import Visit
from arena.site.matches.playing import PlayableBot, PlayMenu
from arena.store.people.resting_bots import Rest, rest_of, rest_sentence


@dataclass(frozen=True, slots=True)
class RestingBots:
    """Who rests now.

    Attributes:
        rests: of all contests.
        own: the names of the bots of whoever asks.
        now: the time, as it is stored.
    """

    rests: tuple[Rest, ...]
    own: frozenset[str]
    now: str

    def is_own(self, bot: str) -> bool:
        """Return whether a bot is one of whoever asks, or an example bot, which is everybody's."""
        return bot.startswith(PREFIX) or bot.rpartition("@")[0] in self.own

    def of(self, bot: str, games: Collection[str]) -> Rest | None:
        """Return the rest of a bot; None if it plays."""
        return None if bot.startswith(PREFIX) else rest_of(self.rests, bot, games, self.now)

    def refusal(self, bot: str, games: Collection[str]) -> str:
        """Return why whoever asks can't play against a bot; "" if they can."""
        found = None if self.is_own(bot) else self.of(bot, games)
        return "" if found is None else f"{bot} {rest_sentence(found, self.now)}"

    def offered(self, menu: PlayMenu) -> PlayMenu:
        """Return what can be chosen by whoever asks."""
        bots = tuple(bot for bot in menu.bots if not self.refusal(bot.name, bot.games))
        return menu.model_copy(update={"bots": bots})

    def remarks(self, bots: Iterable[PlayableBot]) -> Iterator[str]:
        """Yield why bots are not offered, without naming any, and which of whoever asks others can't play against."""
        bots = tuple(bots)
        others = {
            rest.contest.name
            for bot in bots
            if not self.is_own(bot.name) and (rest := self.of(bot.name, bot.games)) is not None
        }
        if others:
            names = all_of(sorted(others))
            yield f"Bots that can enter {names} are not offered here until the results of {names} are revealed."
        for bot in bots:
            if self.is_own(bot.name) and (rest := self.of(bot.name, bot.games)) is not None:
                yield f"Your bot {bot.name} {rest_sentence(rest, self.now)}. Only you can play against it."


def resting_bots(visit: Visit) -> RestingBots:
    """Return who rests now, for whoever asks."""
    person, contests = visit.actor.person, visit.people.contests
    own = visit.people.submissions.names_of(person) if person is not None else ()
    return RestingBots(tuple(contests.rests()), frozenset(own), contests.now())
