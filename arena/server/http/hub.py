"""The hub: which readers get which events, and which matches are watched ply by ply."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from arena.base.enums import EventKind
from arena.base.errors import UnknownNameError
from arena.server.http.addresses import Places
from arena.server.http.channel import (
    HEARTBEAT_SECONDS,
    MAX_BEHIND_BYTES,
    Channel,
    Channels,
    Reader,
    Subscription,
    changed_frame,
    id_line,
    reload_frame,
)
from arena.server.http.problems import ProblemError, bad_address, unavailable
from arena.server.http.topics import (
    ARENA,
    Change,
    Cursor,
    LoggedEvent,
    LoggedLiveMatch,
    StoreState,
    Topic,
    live_log,
    tournament_log,
)
from arena.server.http.watcher import StoreLogs

MAX_WATCHED = 64
"""Matches that are watched at the same time."""


class WatchedMatches:
    """The watched matches of all channels; ``changed`` is set when one is new, or may have to be played again."""

    def __init__(self, channels: Channels, logs: StoreLogs) -> None:
        self.changed = asyncio.Event()
        self._channels = channels
        self._logs = logs

    @property
    def places(self) -> frozenset[tuple[int, int]]:
        """The matches, by the numbers of tournament and match."""
        return frozenset(place for channel in self._channels for place in channel.watched)

    async def add(self, channel: Channel) -> None:
        """Watch the matches of a channel that are still to be played, up to a bound.

        Raises:
            ProblemError: if there is no such match.
            StoreError: if the store can't be read.
        """
        for place in channel.matches - channel.known_matches:
            is_to_be_played = await self._is_to_be_played(channel, place)
            if is_to_be_played is None:
                topic = f"{channel.path_of(place[0])}/matches/{place[1]}"
                raise bad_address(f"topic {topic!r}: the schedule has no such match", 404)
            if not is_to_be_played:
                channel.watched.discard(place)
            elif len(self.places | {place}) <= MAX_WATCHED:
                channel.watched.add(place)
                self.changed.set()
            else:
                channel.known_matches.discard(place)

    async def _is_to_be_played(self, channel: Channel, place: tuple[int, int]) -> bool | None:
        """Return whether a match is to be played, also considering what happens to it during the query."""
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
        """Watch matches that may have to be played again, or for which there was no room before."""
        for channel in list(self._channels):
            if len(self.places) >= MAX_WATCHED:
                return
            try:
                await self.add(channel)
            except ProblemError:  # the match has left the schedule, and its readers were sent that event
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


# The hub runs in the loop of the server; only reads of the store are in threads. A reader joins the channel of all
# readers of the same topics: it first gets the events between its cursor and the channel's from the store, and then the
# events of the channel, so that it misses none and gets none twice.

MAX_READERS = 4000
RETRY_SECONDS = 10
SWEEP_SECONDS = 5.0
READERS_AT_ONCE = 50
"""Readers that are served before other requests have their turn."""


class Hub:
    """Sends events to readers, and ends all streams when it is closed."""

    def __init__(
        self, state: StoreState, logs: StoreLogs, clock: Callable[[], float] = lambda: time.monotonic()
    ) -> None:
        self.clock, self.is_closed = clock, False
        self._state, self._logs = state, logs
        self._channels = Channels()
        self.watched = WatchedMatches(self._channels, logs)
        self._waiting: set[Channel] = set()
        self._live: dict[tuple[int, int], LoggedLiveMatch] = {}
        self._changed = asyncio.Event()
        self._places = Places[Reader](Reader.end)
        self._swept_at = clock()

    @property
    def readers(self) -> int:
        """How many readers there are."""
        return len(self._places)

    # readers

    async def join(
        self, topics: Iterable[Topic], cursor: Cursor | None = None, network: str = ""
    ) -> tuple[Channel, Reader]:
        """Return a new reader, and its channel; a cursor says how far it has come.

        Raises:
            ProblemError: if there are too many readers of this network, the hub is closed, or a match does not exist.
            UnknownNameError: if none of the tournaments exists.
            StoreError: if what it has not read can't be read now.
        """
        topics = tuple(topics)
        if cursor is not None and cursor.store != self._state.store:
            cursor = Cursor(self._state.store, {})  # cursors count differently in another store
        subscriptions = self._subscriptions(topics)
        if self.is_closed or not self._places.make_room(network, MAX_READERS):
            raise ProblemError(_TOO_MANY)
        channel = self._channels.of(subscriptions, self._state, self.clock())
        reader = Reader()
        channel.readers.add(reader)
        self._places.add(network, reader)
        try:
            first = await self._backlog(channel, dict(channel.places), cursor)
            await self.watched.add(channel)
            reader.put_first(b"".join([*self._reload_frames(topics if cursor else ()), first]))
        except BaseException:
            self.leave(channel, reader)
            raise
        return channel, reader

    def leave(self, channel: Channel, reader: Reader) -> None:
        """Forget a reader."""
        self._places.remove(reader)
        if reader not in channel.readers:
            return
        channel.readers.remove(reader)
        if not channel.readers and channel in self._channels:
            self._remove(channel)

    def _subscriptions(self, topics: Sequence[Topic]) -> frozenset[Subscription]:
        known = self._state.tournaments
        subscriptions = {
            Subscription(topic, known[topic.tournament] if topic.tournament is not None else 0)
            for topic in topics
            if topic.tournament is None or topic.tournament in known
        }
        if not subscriptions:
            raise UnknownNameError("tournament", next(topic.tournament or "" for topic in topics), known)
        return frozenset(subscriptions)

    def _reload_frames(self, topics: Iterable[Topic]) -> list[bytes]:
        known = self._state.tournaments
        gone = {topic.path for topic in topics if topic.tournament is not None and topic.tournament not in known}
        return [reload_frame(path) for path in sorted(gone)]

    def _remove(self, channel: Channel) -> None:
        self._channels.remove(channel)
        self._waiting.discard(channel)

    async def _backlog(self, channel: Channel, now: dict[str, int], cursor: Cursor | None) -> bytes:
        numbers_read = {log: cursor.places[log] for log in now if log in cursor.places} if cursor else now
        places = now | numbers_read
        own_cursor = Cursor(self._state.store, places)
        frames = [b"retry: 2000\n\n"]
        for tournament in sorted(channel.tournaments):
            log = tournament_log(tournament)
            events = await self._events_between(tournament, numbers_read.get(log), now[log])
            later = [] if events is None else list(channel.event_frames(events, places))
            places[log] = now[log]
            if events is None or sum(map(len, [*frames, *later])) > MAX_BEHIND_BYTES:
                later = [reload_frame(channel.path_of(tournament), own_cursor)]
            frames += later
        for place in sorted(channel.matches):
            log, live = live_log(*place), self._live.get(place)
            places[log] = now[log]
            if (
                live is not None
                and live.stored.seq == now[log]
                and (cursor is None or numbers_read.get(log) != now[log])
            ):
                frames.append(channel.live_frame(live, own_cursor))
        for counter, topic in sorted(channel.counted.items()):
            if numbers_read.get(counter) != now[counter]:
                places[counter] = now[counter]
                frames.append(changed_frame(topic, now[counter], own_cursor))
        return b"".join([*frames, id_line(own_cursor), b"\n"])

    async def _events_between(self, tournament: int, after: int | None, last: int) -> Sequence[LoggedEvent] | None:
        """Return the events after one number, up to another; None if they are not all there."""
        if after == last:
            return []
        if after is None or after > last:
            return None
        return await self._logs.events_between(tournament, after, last)

    # changes of the store

    def apply(self, change: Change) -> None:
        """Pass a change of the store to the channels that it concerns."""
        self._state = change.state
        if change.is_replaced:
            self._live.clear()
            self._end_all(reload_frame(ARENA.path))
            return
        for event in change.events:
            for channel in self._with_news_of(event.tournament):
                channel.add_event(event)
            self.watched.note(event)
            if event.stored.kind is EventKind.RESULTS:
                for match in event.stored.details.matches:
                    self._live.pop((event.tournament, match), None)
        for tournament in change.missed:
            for channel in self._with_news_of(tournament):
                channel.add_missed(tournament, change.state.last_events.get(tournament, 0))
        for live in change.live:
            self._live[live.place] = live
            for channel in self._with_news_of(live.tournament):
                if live.place in channel.matches:
                    channel.add_live(live.place, live)
        for place in change.gone:
            self._live.pop(place, None)
            for channel in self._with_news_of(place[0]):
                if place in channel.watched:  # else it has been recorded, and readers were sent its result
                    channel.add_live(place, None)
        for tournament in change.progressed:
            for channel in {*self._with_news_of(tournament), *self._channels.counting}:
                channel.add_progress(tournament)
                self._waiting.add(channel)
        self._waiting.update(channel for channel in self._channels.counting if channel.set_totals(change.state))
        if self._waiting:
            self._changed.set()

    def _with_news_of(self, tournament: int) -> Collection[Channel]:
        """Return the channels of a tournament; they are asked for what they have to send."""
        channels = self._channels.of_tournament(tournament)
        self._waiting.update(channels)
        return channels

    # sending

    async def run(self) -> None:
        """Send what has happened, and drop readers that are too slow, until the hub is closed."""
        while not self.is_closed:
            await self._wake(self.flush())
            if self.clock() >= self._swept_at + SWEEP_SECONDS:
                await self._wake(self.sweep())
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), self._seconds_to_wait())

    def _seconds_to_wait(self) -> float:
        due = [at for channel in self._waiting if (at := channel.due_at()) is not None]
        return max(0.0, min([*due, self._swept_at + SWEEP_SECONDS]) - self.clock())

    def flush(self) -> list[Channel]:
        """Prepare what can be sent now; return the channels that have something to send."""
        now, flushed = self.clock(), []
        for channel in list(self._waiting):
            if channel.flush(now):
                flushed.append(channel)
            if channel.due_at() is None:
                self._waiting.remove(channel)
        return flushed

    def sweep(self) -> list[Channel]:
        """Drop readers that are too slow, and send heartbeats to quiet channels; return these."""
        now = self._swept_at = self.clock()
        quiet = [channel for channel in self._channels if now - channel.sent_at >= HEARTBEAT_SECONDS]
        for channel in quiet:
            channel.beat(now)
        for channel in self._channels:
            for reader in channel.readers:
                reader.drop_if_too_slow()
        return quiet

    async def _wake(self, channels: Iterable[Channel]) -> None:
        served = 0
        for channel in channels:
            for reader in list(channel.readers):
                reader.wake()
                served += 1
                if served % READERS_AT_ONCE == 0:
                    await asyncio.sleep(0)

    def close(self) -> None:
        """End all streams; there will be no others."""
        self.is_closed = True
        self._end_all(b"")
        self._changed.set()
        self.watched.changed.set()

    def _end_all(self, last: bytes) -> None:
        for channel in list(self._channels):
            self._remove(channel)
            for reader in channel.readers:
                reader.end(last)


_TOO_MANY = unavailable(
    "Too many readers",
    f"All {MAX_READERS} streams of events are in use, and no network has more than yours; try again later.",
    RETRY_SECONDS,
)
