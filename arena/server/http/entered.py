"""What changes for a bot, two bots or a game: tournaments they are in, and versions of the bot that are submitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from hashlib import blake2b

from arena.server.http.topics import Topic
from arena.store.results.tournament_reader import Roster
from arena.store.results.values import StoredBot

_MAX_NUMBER = 2**48 - 1
"""Numbers in cursors have at most 18 digits."""


class Entered:
    """An index of tournaments, by their bots and games, and of submitted bots."""

    def __init__(self, rosters: Mapping[int, Roster] | None = None, submitted: Iterable[StoredBot] = ()) -> None:
        """Make the index.

        Args:
            rosters: of the tournaments, by their numbers.
            submitted: the submitted bots.
        """
        self._submitted: defaultdict[str, int] = defaultdict(int)
        for bot in submitted:
            number = int.from_bytes(blake2b(f"{bot.label} {bot.digest}".encode(), digest_size=6).digest())
            self._submitted[bot.label] += number
            self._submitted[bot.name] += number
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

    def submitted(self, topic: Topic) -> int:
        """Return a number that is another one when versions of the bots of a topic were submitted or removed."""
        return sum(self._submitted.get(bot, 0) for bot in topic.bots) & _MAX_NUMBER
