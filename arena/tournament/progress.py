"""How far a run is, how long it will still take, and what visitors see of it while it plays."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import NamedTuple, Self

from arena.base.errors import GameError, StoreError
from arena.base.results import EntrantRating
from arena.base.text import duration_text
from arena.store.results.live_state import PlayedNow, RunProgress
from arena.store.results.rows import RecordRow
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.executors.executor import Executor
from arena.tournament.formats.format import StopLimits


@dataclass(slots=True)
class Progress:
    """How much of a tournament has been played.

    Attributes:
        recorded: matches with a record, earlier runs included.
        expected: matches in the whole tournament; None if their number is not known.
        stop_limits: what ends a tournament without a fixed number of rounds, such as a ladder.
        least_certain: the ratings of those who are rated least certainly, which are the newcomers; from its format.
        is_finished: whether no round follows.
        playing: matches that are being played now, where that is known.
        given_up: matches that were void too often, with the reason of the last try.
        game_errors: matches that have no result because their game is wrong, with its mistake.
        put_off: matches of a ladder that wait for a later run, for one of their bots is away.
        new: the rows recorded since the last call of the listener.
        notice: a sentence about what may have disturbed the matches; empty if nothing is known.
    """

    scheduled: int
    recorded: int
    expected: int | None = None
    status: str = ""
    stop_limits: StopLimits | None = None
    least_certain: tuple[EntrantRating, ...] = ()
    is_finished: bool = False
    is_stopped: bool = False
    played: int = 0
    playing: int = 0
    given_up: dict[int, str] = field(default_factory=dict)
    game_errors: dict[int, GameError] = field(default_factory=dict)
    put_off: set[int] = field(default_factory=set)
    new: list[RecordRow] = field(default_factory=list)
    notice: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every match has a record, and no round follows in this run."""
        return self.recorded == self.scheduled and self.is_finished

    @property
    def is_up_to_date(self) -> bool:
        """Whether nothing can be played before one of those comes who are away, or somebody new."""
        return self.is_finished and self.left == len(self.put_off)

    @property
    def left(self) -> int:
        """Scheduled matches without a record."""
        return self.scheduled - self.recorded


class TimeLeft(NamedTuple):
    """An estimate of the time a run still takes."""

    seconds: float
    is_rough: bool = False

    def __str__(self) -> str:
        """The estimate in words."""
        return f"{'about ' if self.is_rough else ''}{duration_text(self.seconds)} left"


def total_matches(progress: Progress) -> int:
    """Return the number of matches in the whole tournament, as far as it is known."""
    return max(progress.scheduled, progress.expected or 0)


def last_match(progress: Progress) -> int | None:
    """Return after how many matches a run ends; None if other limits alone end it."""
    return total_matches(progress) if progress.stop_limits is None else progress.stop_limits.matches


def time_left(progress: Progress, elapsed_seconds: float) -> TimeLeft | None:
    """Return the time until a run ends, for a ladder at the limit that it reaches first; None if unknown.

    The widest interval narrows about as 1 / √matches. In simulated ladders of 4 to 20 bots the number of matches that
    follows from this was up to twice the true one at the beginning, and within a tenth of it from half-way on.
    """
    rate = progress.played / elapsed_seconds if elapsed_seconds > 0 else 0.0
    limits = progress.stop_limits or StopLimits()
    last = last_match(progress)
    estimates = []
    if last is not None and rate:
        estimates.append(TimeLeft((last - progress.recorded) / rate))
    if limits.hours is not None:
        estimates.append(TimeLeft(3600 * limits.hours - elapsed_seconds))
    if limits.margin_95 is not None and limits.widest_margin is not None and rate:
        growth = (limits.widest_margin / limits.margin_95) ** 2
        estimates.append(TimeLeft(progress.recorded * (growth - 1) / rate, is_rough=True))
    return max(min(estimates), TimeLeft(0.0)) if estimates else None


# What visitors see of a run while it plays: its progress, and the matches that somebody watches.
#
# The run does not need any of it. If the store can't be written, the writer drops the data and tries again later.

PROGRESS_SECONDS = 1.0
"""The shortest interval between two writes of the progress."""

WATCHES_SECONDS = 0.5
"""The shortest interval between two reads of the watched matches."""

CHARACTERS_PER_SECOND = 200_000
"""The rate at which states of watched matches are written, all together: encoding and writing a second's worth takes
20 ms. States of usual matches are written whenever a worker sends them; a state of 10,000 plies delays the next one by
two seconds.
"""

SPARED_SECONDS = 0.25
"""How much of an idle time counts towards that rate."""

SECONDS_FOR_ANOTHER_MATCH = 0.5
MAX_TURN_SECONDS = 1.0
"""With several watched matches, each is shown less often, down to once a second: readers fetch a page for each state.
"""

PAUSE_SECONDS = 5.0
"""The pause after a failed write."""

RATE_SECONDS = 10.0
RATE_MATCHES = 10
"""The displayed rate covers the last ``RATE_SECONDS``, and at least the last ``RATE_MATCHES`` matches."""

MOMENT_SECONDS = 0.3
"""How long a match has lasted before it is shown as being played."""

log = logging.getLogger("arena.director")


class LiveWriter:
    """Writes what visitors see of one run. A context manager: leaving it removes everything it wrote from the store."""

    def __init__(
        self,
        store: Store,
        tournament: StoredTournament,
        executor: Executor,
        now: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        self._store = store
        self._state = store.live_state(tournament)
        self._executor = executor
        self._now = now
        self._started = self._read_watches_at = self._write_progress_at = self._resume_at = now()
        self._show_at = self._started - SPARED_SECONDS
        self._rate = _Rate(self._started)
        self._watched: frozenset[int] = frozenset()
        self._shown: set[int] = set()
        self._ended: set[int] = set()

    def __enter__(self) -> Self:
        """Remove what an earlier run has left if it was killed."""
        self._try(self._state.clear)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._try(self._state.clear)

    def update(self, progress: Progress, ended: Collection[int] = ()) -> None:
        """Write what has changed, as often as is allowed; ``ended``: matches recorded or void since the last call."""
        now = self._now()
        self._rate.add(now, progress.played)
        self._ended |= self._shown.intersection(ended)
        if now >= self._resume_at:
            self._try(lambda: self._write(progress, now))

    def _write(self, progress: Progress, now: float) -> None:
        if now >= self._read_watches_at:
            self._read_watches_at = now + WATCHES_SECONDS
            self._watch(self._state.watched())
        states = self._executor.live_matches() if now >= self._show_at else []
        if self._ended:
            self._state.remove(self._ended)
            self._shown -= self._ended
            self._ended.clear()
        if states:
            self._shown.update(state.match for state in states)
            spent = self._state.show(states) / CHARACTERS_PER_SECOND
            paid_at = max(self._show_at, now - SPARED_SECONDS) + spent
            turn_at = now + min(SECONDS_FOR_ANOTHER_MATCH * max(0, len(self._watched) - 1), MAX_TURN_SECONDS)
            self._show_at = max(paid_at, turn_at)
        if now >= self._write_progress_at:
            self._write_progress_at = now + PROGRESS_SECONDS
            self._state.write_progress(self._run_progress(progress, now))

    def _watch(self, matches: frozenset[int]) -> None:
        if matches != self._watched:
            self._executor.watch(matches)
            self._watched = matches

    def _run_progress(self, progress: Progress, now: float) -> RunProgress:
        left = time_left(progress, now - self._started)
        return RunProgress(
            recorded=progress.recorded,
            scheduled=progress.scheduled,
            expected=progress.expected,
            matches_per_second=self._rate.per_second(now, progress.played),
            seconds_left=None if left is None else round(left.seconds, 1),
            playing=tuple(
                PlayedNow(match=match, since=datetime.fromtimestamp(since, UTC).isoformat(timespec="milliseconds"))
                for match, since in sorted(self._executor.playing())
                if time.time() - since >= MOMENT_SECONDS
            ),
            status=progress.status,
            least_certain=progress.least_certain,
            shows_matches=self._executor.shows_matches,
        )

    def _try(self, work: Callable[[], None]) -> None:
        """Write something that the run does not need: if the store fails, the run continues."""
        try:
            with self._store.without_patience():
                work()
        except StoreError as error:
            log.warning("what visitors see of the run is not written: %s", error)
            self._resume_at = self._now() + PAUSE_SECONDS
        except Exception:
            log.exception("what visitors see of the run is not written any more")
            self._resume_at = math.inf


class _Rate:
    def __init__(self, now: float) -> None:
        self._counts = deque([(now, 0)])

    def add(self, now: float, played: int) -> None:
        counts = self._counts
        if played == counts[-1][1] or now - counts[-1][0] < RATE_SECONDS / RATE_MATCHES:
            return
        counts.append((now, played))
        while now - counts[1][0] >= RATE_SECONDS and played - counts[1][1] >= RATE_MATCHES:
            counts.popleft()

    def per_second(self, now: float, played: int) -> float | None:
        since, before = self._counts[0]
        return round((played - before) / (now - since), 3) if played and now > since else None
