"""Which matches are to be watched ply by ply: those that have readers and are still to be played."""

from __future__ import annotations

import asyncio

from arena.base.enums import EventKind
from arena.server.http.changes import LoggedEvent
from arena.server.http.channel import Channel
from arena.server.http.channels import Channels
from arena.server.http.logs import Logs
from arena.server.http.problems import Problem, ProblemError

MAX_WATCHED = 64
"""Matches that are watched at the same time."""


class WatchedMatches:
    """The watched matches of all channels.

    Attributes:
        changed: set when a match is watched that was not before, and when one may have to be played again.
    """

    def __init__(self, channels: Channels, logs: Logs) -> None:
        """Begin with none.

        Args:
            channels: that have readers.
            logs: know which matches are still to be played.
        """
        self.changed = asyncio.Event()
        self._channels = channels
        self._logs = logs

    @property
    def places(self) -> frozenset[tuple[int, int]]:
        """The matches, by the numbers of tournament and match."""
        return frozenset(place for channel in self._channels for place in channel.watched)

    async def add(self, channel: Channel) -> None:
        """Watch the matches of a channel, as far as they are still to be played and as there are not too many.

        Raises:
            ProblemError: if there is no such match.
            StoreError: if the store can't be read.
        """
        for place in channel.matches - channel.known_matches:
            is_to_be_played = await self._ask(channel, place)
            if is_to_be_played is None:
                raise ProblemError(_no_match(f"{channel.path_of(place[0])}/matches/{place[1]}"))
            if not is_to_be_played:
                channel.watched.discard(place)
            elif len(self.places | {place}) <= MAX_WATCHED:
                channel.watched.add(place)
                self.changed.set()
            else:
                channel.known_matches.discard(place)

    async def _ask(self, channel: Channel, place: tuple[int, int]) -> bool | None:
        """Return whether a match is to be played; what happens to it while the store is asked is taken into account."""
        while True:
            channel.known_matches.add(place)
            try:
                is_to_be_played = await self._logs.is_to_be_played(*place)
            except BaseException:
                channel.known_matches.discard(place)
                raise
            if place in channel.known_matches:
                return is_to_be_played

    async def add_again(self) -> None:
        """Watch the matches of which that is not known: they may be played again, or there were too many.

        Raises:
            StoreError: if the store can't be read.
        """
        for channel in list(self._channels):
            if len(self.places) >= MAX_WATCHED:
                return
            try:
                await self.add(channel)
            except ProblemError:  # it has gone from the schedule, and its readers know that something has changed
                continue

    def note(self, event: LoggedEvent) -> None:
        """Watch recorded matches no longer; ask of all that an event concerns again whether they are to be played."""
        is_result = event.stored.kind is EventKind.RESULTS
        for channel in self._channels.of_tournament(event.tournament):
            for place in channel.matches:
                if place[0] != event.tournament or not event.concerns(place[1]):
                    continue
                channel.known_matches.discard(place)
                if is_result and place[1] in event.stored.details.matches:
                    channel.watched.discard(place)
                else:
                    self.changed.set()


def _no_match(path: str) -> Problem:
    return Problem(status=404, title="Not found", error=f"topic {path!r}: the schedule has no such match")
