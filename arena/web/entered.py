"""Which tournaments bots entered, and in which a game is played: their changes are those of the bot and of the game."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import reduce

from arena.store.rosters import Roster
from arena.web.topics import Topic


class Entered:
    """An index of tournaments, by their bots and games."""

    def __init__(self, rosters: Mapping[int, Roster] | None = None) -> None:
        """Make the index.

        Args:
            rosters: of the tournaments, by their numbers.
        """
        self._of_bot: defaultdict[str, set[int]] = defaultdict(set)
        self._of_game: defaultdict[str, set[int]] = defaultdict(set)
        for number, roster in (rosters or {}).items():
            for label in roster.bots:
                self._of_bot[label].add(number)
                self._of_bot[label.rpartition("@")[0]].add(number)
            for game in roster.games:
                self._of_game[game].add(number)

    def numbers(self, topic: Topic) -> set[int]:
        """Return the numbers of the tournaments that all bots of a topic entered, or in which its game is played."""
        if topic.game is not None:
            return self._of_game.get(topic.game, set())
        return reduce(set.__and__, (self._of_bot.get(bot, set()) for bot in topic.bots)) if topic.bots else set()
