"""Following unrated matches: an event tells a page that its match has changed, and never what the match shows.

One query to the database of people serves all who follow; it also ends the streams of those who may follow no longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable

import anyio
import anyio.to_thread

from arena.base.errors import StoreError
from arena.server.http.addresses import Places
from arena.server.http.events import EventStream
from arena.server.http.problems import ProblemError, unavailable
from arena.store.people.people_store import PeopleStore
from arena.store.people.unrated_match import Shown

LOOK_SECONDS = 0.05
CHECK_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
MAX_FOLLOWERS = 1000
MAX_OF_A_MATCH = 4
RETRY_SECONDS = 30

TOO_MANY = unavailable(
    "Too many followers",
    f"At most {MAX_OF_A_MATCH} windows can follow one match, and {MAX_FOLLOWERS} all matches together; reload the page"
    " to see new actions.",
    RETRY_SECONDS,
)


class Follower(EventStream):
    """Sends one event for all changes not sent yet, so that nothing piles up; the first tells that it is open."""

    def __init__(self, number: int, shown: Shown, may_follow: Callable[[], bool], leave: Callable[[], None]) -> None:
        super().__init__(self._next, self.end, leave)
        self.number, self.may_follow = number, may_follow
        self.shown: Shown | None = shown
        self._is_over, self._news = False, asyncio.Event()
        self._news.set()

    def tell(self) -> None:
        """Report that the match has changed."""
        self._news.set()

    def end(self) -> None:
        """End the stream."""
        self._is_over = True
        self._news.set()

    async def _next(self) -> bytes:
        try:
            await asyncio.wait_for(self._news.wait(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return b": here\n\n"
        self._news.clear()
        return b"" if self._is_over else b"event: changed\ndata: {}\n\n"


class FollowedMatches:
    """Those who follow a match; it looks at the database while there are any."""

    def __init__(self, people: PeopleStore) -> None:
        self._matches = people.unrated_matches
        self._signal, self._signalled = people.commit_signal(), ""
        self._followers: set[Follower] = set()
        self._places = Places[Follower](Follower.end)
        self._looking: asyncio.Task[None] | None = None
        self._checked_at, self._has_news = time.monotonic(), False
        self._closing = asyncio.Event()

    def follow(self, number: int, shown: Shown, may_follow: Callable[[], bool], network: str = "") -> Follower:
        """Return the stream of a match; ``may_follow`` is called in a thread.

        Beyond a bound, the network with most streams loses one; if it is this one, ProblemError is raised.
        """
        of_match = Counter(other.number for other in self._followers)[number]
        if self._closing.is_set() or of_match >= MAX_OF_A_MATCH or not self._places.make_room(network, MAX_FOLLOWERS):
            raise ProblemError(TOO_MANY)
        follower = Follower(number, shown, may_follow, lambda: self._leave(follower))
        self._followers.add(follower)
        self._places.add(network, follower)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_as_long_as_needed())
        return follower

    def _leave(self, follower: Follower) -> None:
        self._followers.discard(follower)
        self._places.remove(follower)

    async def _look_as_long_as_needed(self) -> None:
        while self._followers and not self._closing.is_set():
            with contextlib.suppress(StoreError):  # it is away for a moment
                await self._look()
                await self._check()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), LOOK_SECONDS)

    async def _look(self) -> None:
        signalled = await anyio.to_thread.run_sync(self._signal.read)
        if signalled == self._signalled:
            return
        shown = await anyio.to_thread.run_sync(self._matches.shown, {one.number for one in self._followers})
        self._signalled, self._has_news = signalled, True
        for follower in self._followers:
            now_shown = shown.get(follower.number)
            if now_shown != follower.shown:
                follower.shown = now_shown
                follower.tell()

    async def _check(self) -> None:
        """End the streams of those who may follow no longer, soon after a write that may have changed that."""
        if time.monotonic() - self._checked_at < (CHECK_SECONDS if self._has_news else HEARTBEAT_SECONDS):
            return
        self._checked_at, self._has_news = time.monotonic(), False
        followers = list(self._followers)
        allowed = await anyio.to_thread.run_sync(lambda: [candidate.may_follow() for candidate in followers])
        for follower, may_follow in zip(followers, allowed, strict=True):
            if not may_follow:
                follower.end()

    def end_streams(self) -> None:
        """End all streams; there will be no others."""
        self._closing.set()
        for follower in list(self._followers):
            follower.end()

    async def close(self) -> None:
        """End the streams, and close what was opened."""
        self.end_streams()
        if self._looking is not None:
            await self._looking  # a thread may be looking, and would open again what is closed here
        self._signal.close()
