"""The watcher: a thread that reports changes of the store; and the queries of the hub to the store."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import anyio

from arena.base.enums import EventKind
from arena.base.errors import ArenaError, StoreAwayError, StoreError
from arena.server.http.topics import Change, Entered, LoggedEvent, LoggedLiveMatch, StoreState, Topic, parse_topics
from arena.store.home import ArenaHome
from arena.store.results.events import BOTS, OWNERS, live_topic, tournament_topic
from arena.store.results.store import Store
from arena.store.results.tournament_reader import Roster
from arena.store.results.values import StoredBot

FILE_SECONDS = 0.1
SERVER_SECONDS = 0.25
AWAY_SECONDS = 0.5
TIMES_THE_WORK = 20
"""A look at a large store is followed by a pause of at least this many times its length."""

MAX_LOGS = 100
"""Logs whose events are read in one look; with more, readers read everything again."""

KEEP_NAMES = frozenset(
    {EventKind.SCHEDULE, EventKind.RESULTS, EventKind.FINISHED, EventKind.REOPENED, EventKind.ANNOTATED}
)
"""Events of play and of analysis, which do not change the name of a tournament."""

NO_CORRECTIONS = KEEP_NAMES | {EventKind.DEFINITION}
"""A bot that enters a ladder is no correction either: it may happen often, and pages show it when they have rested."""

log = logging.getLogger("arena.server.http")


class Watcher:
    """Watches the store of a home, which may be away (since ``lost_at``, monotonic) or be replaced."""

    def __init__(
        self,
        home: Callable[[], ArenaHome],
        notify: Callable[[Change], None],
        contests: Callable[[], int] = int,
    ) -> None:
        """Read the state of the store; ``notify`` is called with each change, in the watcher's thread."""
        self.state = StoreState(store="")
        self.lost_at: float | None = None
        self._home, self._notify, self._contests = home, notify, contests
        self._opened = home()
        self._signal = self._opened.store.commit_signal()
        self._signalled = self._store_place = ""
        self._seqs: Mapping[str, int] = {}
        self._rosters: dict[int, Roster] = {}
        self._submitted: list[StoredBot] = []
        self._replacements = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._look()

    # for pages, without asking the store

    def version_of(self, topics: Sequence[str]) -> str:
        """Return the version of topics together: a cursor of their events."""
        return str(self.state.cursor(_parsed(tuple(topics))))

    def progress_of(self, topics: Sequence[str]) -> str:
        """Return a text that differs when there is news of how far the runs of topics are."""
        return self.state.progress(_parsed(tuple(topics)))

    def corrections_of(self, topics: Sequence[str]) -> str:
        """Return a text that differs after one of the topics was corrected, deleted or renamed."""
        return self.state.corrections(_parsed(tuple(topics)))

    # the thread

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and close what it has opened."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._signal.close()

    def _run(self) -> None:
        pause = FILE_SECONDS
        while not self._stop.wait(pause):
            pause = self.look()

    def look(self) -> float:
        """Look at the store once, and report a change; return how many seconds to pause."""
        began = time.monotonic()
        try:
            change = self._look()
        except ArenaError as error:
            if self.lost_at is None:
                self.lost_at = began
                log.warning("%s", error)
            return AWAY_SECONDS
        if self.lost_at is not None:
            self.lost_at = None
            log.warning("%s: can be read again", self._opened.directory)
        if change is not None:
            self._notify(change)
        pause = FILE_SECONDS if self._opened.store.server is None else SERVER_SECONDS
        return max(pause, TIMES_THE_WORK * (time.monotonic() - began))

    def _look(self) -> Change | None:
        home = self._home()
        if home is not self._opened:
            self._signal.close()
            self._opened, self._signal = home, home.store.commit_signal()
        signalled, contests = self._signal.read(), self._contests()
        if signalled != self._signalled:
            change = self._read(home.store, home.store.server or signalled.rpartition("/")[0], contests)
        elif contests != self.state.contests:
            change = Change(state=replace(self.state, contests=contests))
        else:
            return None
        self._signalled, self.state = signalled, change.state  # only after reading, so that a failed read is repeated
        return change

    # reading

    def _read(self, store: Store, place: str, contests: int) -> Change:
        seqs, before = store.events.topics(), self.state
        is_replaced = self._is_another_store(seqs, place)
        known = {} if is_replaced else self._seqs
        changed = {n: (after, last) for n, last in _by_number("tournament", seqs).items()
                   if 0 < (after := known.get(tournament_topic(n), 0)) < last}  # fmt: skip
        events, missed = _new_events(store, changed)
        live, last_states = self._live(store, seqs, known)
        may_rename = seqs.keys() != known.keys() or any(map(_may_rename, events))
        names = store.tournament_numbers() if may_rename or missed else self.state.tournaments
        last_events = _by_number("tournament", seqs)
        has_bots = known.get(BOTS, 0) != seqs.get(BOTS, 0) or not known
        entered = self._entered(store, known, last_events, events, missed, has_bots)
        self._replacements += is_replaced
        self._seqs, self._store_place = seqs, place
        total = sum(seqs.values()) - sum(_by_number("live", seqs).values())
        state = StoreState(
            store=hashlib.blake2b(f"{place} {self._replacements}".encode(), digest_size=4).hexdigest(),
            total=total,
            outside=total - sum(last_events.values()) - seqs.get(BOTS, 0),
            tournaments=names,
            last_events=last_events,
            last_states=last_states,
            progress_times=store.progress_times(),
            entered=entered,
            corrected=_counted_up(self.state.corrected, events, missed),
            contests=contests,
            owners=seqs.get(OWNERS, 0),
        )
        return Change(
            state=state,
            events=events,
            missed=missed,
            live=live,
            gone=frozenset(before.last_states.keys() - last_states.keys()),
            progressed=_changed(before.progress_times, state.progress_times),
            is_replaced=is_replaced,
        )

    def _entered(
        self,
        store: Store,
        known: Mapping[str, int],
        last_events: Mapping[int, int],
        events: Iterable[LoggedEvent],
        missed: frozenset[int],
        has_bots: bool,
    ) -> Entered:
        """Return the index of bots and games in tournaments and of submitted bots; it reads only what is new."""
        rosters = {n: roster for n, roster in self._rosters.items() if known and n in last_events}
        changed = {event.tournament for event in events if _may_rename(event)} | missed
        unread = {number for number in last_events if number not in rosters or number in changed}
        if not unread and rosters.keys() == self._rosters.keys() and not has_bots:
            return self.state.entered
        self._rosters = rosters | (store.rosters(unread if len(unread) <= MAX_LOGS else None) if unread else {})
        self._submitted = store.submitted_bots() if has_bots else self._submitted
        return Entered(self._rosters, self._submitted)

    def _is_another_store(self, seqs: Mapping[str, int], place: str) -> bool:
        """Return whether the store is not the one that was read before, or an earlier copy of it."""
        if not self._store_place:
            return False
        is_back = sum(seqs.values()) < sum(self._seqs.values())
        return (
            place != self._store_place
            or is_back
            or any(seqs.get(topic, seq) < seq for topic, seq in self._seqs.items())
        )

    def _live(
        self, store: Store, seqs: Mapping[str, int], known: Mapping[str, int]
    ) -> tuple[tuple[LoggedLiveMatch, ...], dict[tuple[int, int], int]]:
        before = self.state.last_states if known else {}
        live, last_states = list[LoggedLiveMatch](), dict[tuple[int, int], int]()
        for number, last in _by_number("live", seqs).items():
            seqs_of_matches = {match: seq for (tournament, match), seq in before.items() if tournament == number}
            if last != known.get(live_topic(number), 0):
                now = store.live_state(number).seqs()
                new = _new_live_matches(
                    store, number, [match for match, seq in now.items() if seq > seqs_of_matches.get(match, 0)]
                )
                live += new
                seqs_of_matches = {match: seqs_of_matches[match] for match in now if match in seqs_of_matches}
                seqs_of_matches |= {live_match.stored.summary.match: live_match.stored.seq for live_match in new}
            last_states |= {(number, match): seq for match, seq in seqs_of_matches.items()}
        return tuple(live), last_states


def _by_number(kind: str, seqs: Mapping[str, int]) -> dict[int, int]:
    parts = ((topic.partition("/"), seq) for topic, seq in seqs.items())
    return {int(number): seq for (name, _, number), seq in parts if name == kind and number.isdecimal()}


def _new_events(store: Store, changed: Mapping[int, tuple[int, int]]) -> tuple[tuple[LoggedEvent, ...], frozenset[int]]:
    """Return the events between two numbers of each tournament, and which tournaments lack some of them."""
    if len(changed) > MAX_LOGS:
        return (), frozenset(changed)
    events, missed = list[LoggedEvent](), set[int]()
    for number, (after, last) in changed.items():
        new_events = events_between(store, number, after, last)
        if new_events is None:
            missed.add(number)
        else:
            events += new_events
    return tuple(events), frozenset(missed)


def events_between(store: Store, tournament: int, after: int, last: int) -> list[LoggedEvent] | None:
    """Return the events of a tournament after one number, up to another; None if they are not all kept or readable."""
    try:
        events = store.events.after(tournament_topic(tournament), after, limit=last - after)
    except StoreAwayError:
        raise
    except StoreError as error:  # a newer arena has written it
        log.warning("%s", error)
        return None
    if [event.seq for event in events] != list(range(after + 1, last + 1)):
        return None
    return [LoggedEvent(tournament, event) for event in events]


def _new_live_matches(store: Store, tournament: int, matches: Iterable[int]) -> list[LoggedLiveMatch]:
    live = []
    for match in matches:
        try:
            stored = store.live_state(tournament).live_summary(match)
        except StoreAwayError:
            raise
        except StoreError as error:  # a newer arena has written it
            log.warning("%s", error)
            continue
        live += [LoggedLiveMatch(tournament, stored)] if stored is not None else []
    return live


def _changed(before: Mapping[int, str], now: Mapping[int, str]) -> frozenset[int]:
    return frozenset(number for number in {**before, **now} if before.get(number) != now.get(number))


def _counted_up(before: Mapping[int, int], events: Iterable[LoggedEvent], missed: frozenset[int]) -> Mapping[int, int]:
    """Return how often each tournament was corrected, with new events; those that were missed may be corrections."""
    corrected = Counter({event.tournament: 1 for event in events if event.stored.kind not in NO_CORRECTIONS})
    corrected.update(missed)
    return Counter(before) + corrected if corrected else before


def _may_rename(event: LoggedEvent) -> bool:
    return event.stored.kind not in KEEP_NAMES


@lru_cache(maxsize=10_000)
def _parsed(topics: tuple[str, ...]) -> tuple[Topic, ...]:
    return parse_topics(",".join(topics)) if topics else ()


# The queries of the hub: the events of a log, and whether a match is still to be played.

READS_AT_ONCE = 4

Value = TypeVar("Value")


class StoreLogs:
    """The logs in a home's store, read in threads."""

    def __init__(self, home: Callable[[], ArenaHome]) -> None:
        self._home = home
        self._limiter = anyio.CapacityLimiter(READS_AT_ONCE)

    async def events_between(self, tournament: int, after: int, last: int) -> Sequence[LoggedEvent] | None:
        """Return the events of a tournament after one number, up to another; None if they are not all kept."""
        return await self._read(lambda store: events_between(store, tournament, after, last))

    async def is_to_be_played(self, tournament: int, match: int) -> bool | None:
        """Return whether a match is still to be played; None if there is no such match."""
        return await self._read(lambda store: store.is_to_be_played(tournament, match))

    async def _read(self, work: Callable[[Store], Value]) -> Value:
        return await anyio.to_thread.run_sync(lambda: work(self._home().store), limiter=self._limiter)
