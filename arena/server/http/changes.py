"""The changes that the watcher of the store reports, and the readers of a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.base.enums import EventKind
from arena.server.http.page_value import NAMES_END
from arena.server.http.topics import ARENA, CONTESTS, Cursor, Entered, Topic, live_log, tournament_log
from arena.store.results.events import StoredEvent
from arena.store.results.live_state import StoredLiveSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """The state of the logs in the store; mappings have the numbers of tournaments, or of tournaments and matches.

    Attributes:
        store: which store it is; another text when its file was replaced.
        total: how many changes there have been.
        outside: how many of them were neither of a tournament that is there nor of submitted bots.
        tournaments: the number of each tournament that is not deleted, by name.
        last_states: of each match that is watched while it is played.
        progress_times: when the progress of each run was written.
        corrected: how often each tournament was corrected, deleted or renamed while this is watched.
        contests: changes with the public state of contests.
        owners: changes when bots are shown with other names, such as none after their owner has left.
    """

    store: str
    total: int = 0
    outside: int = 0
    tournaments: Mapping[str, int] = field(default_factory=dict)
    last_events: Mapping[int, int] = field(default_factory=dict)
    last_states: Mapping[tuple[int, int], int] = field(default_factory=dict)
    progress_times: Mapping[int, str] = field(default_factory=dict)
    entered: Entered = field(default_factory=Entered)
    corrected: Mapping[int, int] = field(default_factory=dict)
    contests: int = 0
    owners: int = 0

    def total_of(self, topic: Topic) -> int:
        """Return a number that changes with all there is, with bots or with a game.

        A bot that is submitted is no change of others, else every page of a bot would be built again for each.
        """
        if topic == ARENA:
            return self.total
        if topic == CONTESTS:
            return self.contests + len(self.tournaments)  # a tournament of one may have begun
        played = sum(self.last_events.get(number, 0) for number in self.entered.numbers(topic))
        return self.outside + played + self.entered.submitted(topic)

    def progress(self, topics: Iterable[Topic]) -> str:
        """Return a text that changes with the progress of runs of the topics; pages of bots and games show none."""
        times = self.progress_times
        numbers = set[int]()
        for topic in topics:
            if topic.tournament is not None:
                numbers.add(self.tournaments.get(topic.tournament, 0))
            elif topic == ARENA:
                numbers.update(times)
        return " ".join(times[number] for number in sorted(numbers) if number in times)

    def corrections(self, topics: Iterable[Topic]) -> str:
        """Return a text that changes when a tournament of one of the topics is corrected, deleted or renamed.

        What is before ``NAMES_END`` in it changes after a person has left: then nothing earlier may be shown.
        """
        texts = []
        for topic in topics:
            if topic.tournament is not None:
                number = self.tournaments.get(topic.tournament)
                texts.append("gone" if number is None else f"{number}.{self.corrected.get(number, 0)}")
            else:
                numbers = self.corrected if topic == ARENA else self.entered.numbers(topic)
                texts.append(f"{sum(self.corrected.get(number, 0) for number in numbers)}")
        return " ".join([f"{self.owners}{NAMES_END}{self.store}", *texts])

    def cursor(self, topics: Iterable[Topic]) -> Cursor:
        """Return the place of a reader that has read everything; topics that are not there are left out."""
        places: dict[str, int] = {}
        for topic in topics:
            if topic.tournament is None:
                places[topic.counter] = self.total_of(topic)
            elif (number := self.tournaments.get(topic.tournament)) is not None:
                places[tournament_log(number)] = self.last_events.get(number, 0)
                if topic.match is not None:
                    places[live_log(number, topic.match)] = self.last_states.get((number, topic.match), 0)
        return Cursor(self.store, places)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of a tournament, by the tournament's number."""

    tournament: int
    stored: StoredEvent

    def concerns(self, match: int) -> bool:
        """Return whether it may have changed what there is to see of a match."""
        details = self.stored.details
        if self.stored.kind not in (EventKind.RESULTS, EventKind.ANNOTATED):
            return self.stored.kind is not EventKind.SCHEDULE
        return match in details.matches or details.match_count > len(details.matches)


@dataclass(frozen=True, slots=True)
class LoggedLiveMatch:
    """A match that is watched while it is played, as it stands."""

    tournament: int
    stored: StoredLiveSummary

    @property
    def place(self) -> tuple[int, int]:
        """The numbers of tournament and match."""
        return self.tournament, self.stored.summary.match


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What has changed in the store since the last time.

    Attributes:
        missed: tournaments with events that could not be read: more than a log keeps.
        gone: matches that were watched, and are not being played any more.
        is_replaced: whether this is another store.
    """

    state: StoreState
    events: tuple[LoggedEvent, ...] = ()
    missed: frozenset[int] = frozenset()
    live: tuple[LoggedLiveMatch, ...] = ()
    gone: frozenset[tuple[int, int]] = frozenset()
    progressed: frozenset[int] = frozenset()
    is_replaced: bool = False


# A reader of a stream of events.
#
# All readers of the same topics share a chain of chunks; a reader only knows its position in it. So a slow reader costs
# no more than others, and a reader that falls too far behind is dropped.

MAX_BEHIND_BYTES = 256 * 1024
"""A reader is dropped if more bytes than this wait for it."""


class Chunk:
    """A few events, as they are sent, and what was sent after them; ``end`` counts the bytes since the chain began."""

    __slots__ = ("data", "end", "following")

    def __init__(self, data: bytes = b"", end: int = 0) -> None:
        self.data = data
        self.end = end
        self.following: Chunk | None = None


class Reader:
    """A reader of a stream; ``at`` is the last chunk it has taken."""

    __slots__ = ("_first", "_is_dropped", "_is_ended", "_last", "_waiter", "at")

    def __init__(self, at: Chunk) -> None:
        """Prepare a reader of the chunks after this one."""
        self.at = at
        self._is_dropped = False
        self._first = b""
        self._last = b""
        self._is_ended = False
        self._waiter: asyncio.Future[None] | None = None

    def put_first(self, data: bytes) -> None:
        """Set the bytes that are sent first."""
        self._first = data

    async def take(self) -> bytes:
        """Wait for the next bytes to send, and return them; none at the end of the stream."""
        while not (self._is_ended or self._first or self.at.following):
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._is_dropped:
            return b""
        parts, self._first = [self._first], b""
        while self.at.following:
            self.at = self.at.following
            parts.append(self.at.data)
        if self._is_ended:
            parts, self._last = [*parts, self._last], b""
        return b"".join(parts)

    def wake(self) -> None:
        """Wake it if it waits for bytes."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def end(self, last: bytes = b"") -> None:
        """End its stream after the bytes that wait for it, and these last ones."""
        self._is_ended = True
        self._last = last
        self.wake()

    def drop_if_too_slow(self, end: int) -> None:
        """End its stream if too many bytes wait for it; ``end`` is that of the last chunk."""
        if end - self.at.end > MAX_BEHIND_BYTES:
            self._is_dropped = True
            self.end()
