"""The readers of the same topics: each event becomes text once for all of them."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from arena.server.http.topics import (
    ARENA,
    ARENA_LOG,
    Cursor,
    LoggedEvent,
    LoggedLiveMatch,
    StoreState,
    Topic,
    live_log,
    tournament_log,
)
from arena.store.results.events import NO_DETAILS, EventDetails

# Events of a tournament are sent at most once a second, states of a match at most four times a second. So readers that
# fetch the page again at each event do this no more often.

SECONDS_BETWEEN_EVENTS = 1.0
SECONDS_BETWEEN_STATES = 0.25
HEARTBEAT_SECONDS = 15.0

MAX_PENDING = 1000
"""Events that may wait to be sent; beyond that, readers read everything again."""


MAX_BEHIND_BYTES = 256 * 1024
"""A reader is dropped if more bytes than this wait for it."""


class Reader:
    """A reader of a stream, and the bytes that wait for it; a channel hands the same bytes to all of its readers."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._is_ended, self._news = False, asyncio.Event()

    def put(self, data: bytes) -> None:
        """Add bytes to be sent; ``wake`` lets the reader take them."""
        self._waiting.append(data)

    def put_first(self, data: bytes) -> None:
        """Add bytes to be sent before those that wait already."""
        self._waiting.insert(0, data)

    async def take(self) -> bytes:
        """Wait for the next bytes to send, and return them; none at the end of the stream."""
        while not (self._is_ended or self._waiting):
            self._news.clear()
            await self._news.wait()
        waiting, self._waiting = self._waiting, []
        return b"".join(waiting)

    def wake(self) -> None:
        """Wake it if it waits for bytes."""
        self._news.set()

    def end(self, last: bytes = b"") -> None:
        """End its stream after the bytes that wait for it, and these last ones."""
        self._is_ended = True
        self.put(last)
        self.wake()

    def drop_if_too_slow(self) -> None:
        """End its stream at once if too many bytes wait for it."""
        if sum(map(len, self._waiting)) > MAX_BEHIND_BYTES:
            self._waiting.clear()
            self.end()


class Subscription(NamedTuple):
    """A topic as the reader named it, and the number of its tournament; 0 for several."""

    topic: Topic
    tournament: int = 0


class Channel:
    """The readers of a set of topics, and the events for them.

    Attributes:
        places: up to where everything has been sent, by log.
        counted: the topics of which only the number of changes is sent, by what counts them.
        sent_at: when its readers were last sent something (monotonic seconds).
        matches: by the numbers of tournament and match.
        known_matches: those of which the store was asked whether they are still to be played.
        watched: those of them that are followed ply by ply.
    """

    def __init__(self, key: frozenset[Subscription], state: StoreState, now: float) -> None:
        self.key = key
        self.readers: set[Reader] = set()
        self.sent_at = now
        self.places = dict(state.cursor(sorted((topic for topic, _ in key), key=lambda topic: topic.path)).places)
        self.counted = {topic.counter: topic for topic, _ in key if topic.tournament is None}
        self.matches = {(tournament, topic.match) for topic, tournament in key if topic.match is not None}
        self.known_matches: set[tuple[int, int]] = set()
        self.watched: set[tuple[int, int]] = set()
        self._store = state.store
        self._whole_tournaments = {number for topic, number in key if topic.tournament and topic.match is None}
        self._paths = {number: Topic(topic.tournament).path for topic, number in key}
        self._events: dict[int, list[LoggedEvent]] = {}
        self._live: dict[tuple[int, int], LoggedLiveMatch | None] = {}
        self._progressed: set[str] = set()
        self._missed: dict[int, int] = {}
        self._totals = {counter: self.places[counter] for counter in self.counted}
        self._not_before: dict[str, float] = {}

    @property
    def tournaments(self) -> set[int]:
        """The numbers of the tournaments in its topics."""
        return {number for topic, number in self.key if topic.tournament is not None}

    @property
    def cursor(self) -> Cursor:
        """The place of a reader that has read everything."""
        return Cursor(self._store, self.places)

    # adding events

    def add_event(self, event: LoggedEvent) -> None:
        """Add an event of one of its tournaments, to be sent."""
        if event.tournament not in self._events and event.tournament not in self._missed and not self._concerns(event):
            self.places[tournament_log(event.tournament)] = event.stored.seq
            return
        events_waiting = self._events.setdefault(event.tournament, [])
        events_waiting.append(event)
        if len(events_waiting) > MAX_PENDING:
            self.add_missed(event.tournament, event.stored.seq)

    def add_missed(self, tournament: int, number: int) -> None:
        """Note that events up to this one can't be sent."""
        self._events.pop(tournament, None)
        self._missed[tournament] = number

    def add_live(self, place: tuple[int, int], live: LoggedLiveMatch | None) -> None:
        """Add the state of one of its matches, to be sent unless a later one comes before that.

        None if it is not being played any more, and has no result either.
        """
        self._live[place] = live

    def add_progress(self, tournament: int) -> None:
        """Note that the progress of a tournament's run has changed."""
        if tournament in self._whole_tournaments:
            self._progressed.add(self.path_of(tournament))
        if ARENA_LOG in self.counted:
            self._progressed.add(ARENA.path)

    def set_totals(self, state: StoreState) -> bool:
        """Note how many changes its topics have had in a state of the store; return whether there are new ones."""
        self._totals = {counter: state.total_of(topic) for counter, topic in self.counted.items()}
        return any(total != self.places[counter] for counter, total in self._totals.items())

    # sending events

    def due_at(self) -> float | None:
        """Return from when on something can be sent (monotonic seconds); None if there is nothing."""
        logs = list(self._logs_waiting())
        return min(self._not_before.get(log, 0.0) for log in logs) if logs else None

    def _logs_waiting(self) -> Iterator[str]:
        for counter, total in self._totals.items():
            if total != self.places[counter]:
                yield counter
        yield from map(tournament_log, {*self._events, *self._missed})
        for tournament, match in self._live:
            yield live_log(tournament, match)
        yield from map(_progress_of, self._progressed)

    def flush(self, now: float) -> bool:
        """Hand to all readers what can be sent now; return whether there was anything."""
        ready = {log for log in self._logs_waiting() if self._not_before.get(log, 0.0) <= now}
        states = {live_log(*place) for place in self._live}
        for log in ready:
            self._not_before[log] = now + (SECONDS_BETWEEN_STATES if log in states else SECONDS_BETWEEN_EVENTS)
        data = b"".join(self._frames(ready))
        self._put(data, now)
        return bool(data)

    def beat(self, now: float) -> None:
        """Hand to all readers a comment that keeps the stream alive, and its cursor."""
        self._put(b": alive\n" + id_line(self.cursor) + b"\n", now)

    def _put(self, data: bytes, now: float) -> None:
        if data:
            self.sent_at = now
            for reader in self.readers:
                reader.put(data)

    def _frames(self, ready: set[str]) -> Iterator[bytes]:
        for place in [place for place in self._live if live_log(*place) in ready]:
            live = self._live.pop(place)
            if live is None:
                yield reload_frame(f"{self.path_of(place[0])}/matches/{place[1]}", self.cursor)
                continue
            self.places[live_log(*place)] = live.stored.seq
            yield self.live_frame(live, self.cursor)
        for tournament in [tournament for tournament in self._missed if tournament_log(tournament) in ready]:
            self.places[tournament_log(tournament)] = self._missed.pop(tournament)
            yield reload_frame(self.path_of(tournament), self.cursor)
        for tournament in [tournament for tournament in self._events if tournament_log(tournament) in ready]:
            yield from self.event_frames(self._events.pop(tournament), self.places)
        for counter in sorted(ready & self.counted.keys()):
            self.places[counter] = self._totals[counter]
            yield changed_frame(self.counted[counter], self._totals[counter], self.cursor)
        for path in sorted(path for path in self._progressed if _progress_of(path) in ready):
            self._progressed.remove(path)
            yield _frame("progress", self.cursor, _as_json({"topic": path}))

    def event_frames(self, events: Iterable[LoggedEvent], places: dict[str, int]) -> Iterator[bytes]:
        """Yield what is sent for events of one tournament, and move a reader's places over them."""
        for event in events:
            places[tournament_log(event.tournament)] = event.stored.seq
            if self._concerns(event):
                data = _event_data(event, self.path_of(event.tournament))
                yield _frame(event.stored.kind, Cursor(self._store, places), data)

    def _concerns(self, event: LoggedEvent) -> bool:
        if event.tournament in self._whole_tournaments:
            return True
        return any(event.concerns(match) for tournament, match in self.matches if tournament == event.tournament)

    def live_frame(self, live: LoggedLiveMatch, cursor: Cursor) -> bytes:
        """Return what is sent for the state of a match."""
        state = live.stored.summary.to_json()
        topic = f"{self.path_of(live.tournament)}/matches/{state.pop('match')}"
        values = {"topic": topic, "seq": live.stored.seq, "at": live.stored.at} | state
        return _frame("live", cursor, _as_json(values))

    def path_of(self, tournament: int) -> str:
        """Return the topic of a tournament, as readers named it."""
        return self._paths[tournament]


def _progress_of(path: str) -> str:
    return f"progress of {path}"


def id_line(cursor: Cursor) -> bytes:
    """Return the line that says how far a stream is."""
    return f"id: {cursor}\n".encode()


def changed_frame(topic: Topic, total: int, cursor: Cursor) -> bytes:
    """Return what is sent when anything has changed in one of the tournaments of a topic."""
    return _frame("changed", cursor, _as_json({"topic": topic.path, "seq": total}))


def reload_frame(path: str, cursor: Cursor | None = None) -> bytes:
    """Return what is sent instead of events that can't be: all of a topic is to be read again."""
    return _frame("reload", cursor, _as_json({"topic": path}))


def _frame(kind: str, cursor: Cursor | None, data: bytes) -> bytes:
    return b"event: %b\n%bdata: %b\n\n" % (kind.encode(), id_line(cursor) if cursor else b"", data)


@lru_cache(maxsize=1000)
def _event_data(event: LoggedEvent, path: str) -> bytes:
    values = {"topic": path, "seq": event.stored.seq, "at": event.stored.at}
    details = {field.name: getattr(event.stored.details, field.name) for field in fields(EventDetails)}
    return _as_json(values | {name: value for name, value in details.items() if value != getattr(NO_DETAILS, name)})


def _as_json(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":"), allow_nan=False).encode()


class Channels:
    """A channel for each set of topics that is read; ``counting`` are those about several tournaments together."""

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
