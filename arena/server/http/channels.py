"""The channels that have readers, found by what they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from arena.server.http.changes import StoreState
from arena.server.http.channel import Channel, Subscription


class Channels:
    """A channel for each set of topics that is read.

    Attributes:
        counting: those that are about several tournaments together.
    """

    def __init__(self) -> None:
        self.counting: set[Channel] = set()
        self._by_key: dict[frozenset[Subscription], Channel] = {}
        self._of_tournament: defaultdict[int, set[Channel]] = defaultdict(set)

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._by_key.values())

    def __contains__(self, channel: Channel) -> bool:
        return self._by_key.get(channel.key) is channel

    def of(self, key: frozenset[Subscription], state: StoreState, now: float) -> Channel:
        """Return the channel of some topics; a new one begins with what happens after a state of the store."""
        if key not in self._by_key:
            self._add(Channel(key, state, now))
        return self._by_key[key]

    def of_tournament(self, tournament: int) -> Collection[Channel]:
        """Return those that are about a tournament or one of its matches."""
        return self._of_tournament.get(tournament, ())

    def remove(self, channel: Channel) -> None:
        """Remove a channel."""
        del self._by_key[channel.key]
        self.counting.discard(channel)
        for tournament in channel.tournaments:
            self._of_tournament[tournament].discard(channel)
            if not self._of_tournament[tournament]:
                del self._of_tournament[tournament]

    def _add(self, channel: Channel) -> None:
        self._by_key[channel.key] = channel
        for tournament in channel.tournaments:
            self._of_tournament[tournament].add(channel)
        if channel.counted:
            self.counting.add(channel)
