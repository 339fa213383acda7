"""The interface of an executor: its job, its queue of matches, and the results it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, NamedTuple, Self

from arena.base.errors import GameError, LateError
from arena.base.live_match import LiveMatch
from arena.base.records import DEFAULT_LIMITS, Bot, Limits, MatchSpec
from arena.store.results.rows import RecordRow

# The matches of a run that have no result yet, between the director, which fills the queue, and an executor.


class WorkQueue:
    """Match specs for an executor: first those to be played again, then the rest of the schedule.

    The schedule is read as matches are taken, so it may have any length; the queue itself holds only the numbers of the
    matches that are taken, and the specs that were requeued.

    It is not thread-safe, and need not be: the director acts while the executor's ``run`` waits at a ``yield``.

    Attributes:
        is_closed: whether no match is to begin any more.
    """

    def __init__(self, specs: Iterable[MatchSpec]) -> None:
        self._unread: Iterator[MatchSpec] = iter(specs)
        self._waiting: deque[MatchSpec] = deque()
        self._taken: set[int] = set()
        self.is_closed = False

    def close(self) -> None:
        """Let no match begin any more; those that have begun end as usual, and the others stay unplayed."""
        self.is_closed = True

    def take(self) -> MatchSpec | None:
        """Return the next match to play; None if none is waiting, or none is to begin any more.

        After None there may be another one later: a match that is taken may be requeued.
        """
        if self.is_closed:
            return None
        spec = self._waiting.popleft() if self._waiting else next(self._unread, None)
        if spec is not None:
            self._taken.add(spec.match)
        return spec

    def requeue(self, spec: MatchSpec) -> None:
        """Put back a match that was taken: it is to be played again, or was never begun."""
        self._taken.remove(spec.match)
        self._waiting.append(spec)

    def done(self, match: int) -> None:
        """Remove a match that was taken, by its number: it has been recorded or given up."""
        self._taken.remove(match)

    def is_finished(self) -> bool:
        """Return whether every match has been recorded or given up; of a closed queue, every one that was taken."""
        if self.is_closed:
            return not self._taken
        if not self._taken and not self._waiting:
            self._waiting.extend(spec for spec in [next(self._unread, None)] if spec is not None)
        return not self._taken and not self._waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What an executor is opened for: which bots play, and under which conditions.

    Attributes:
        bots: every bot that may play; where matches are played on other machines, they are sent there.
        isolation: the level asked for, or "auto".
        workers: matches at a time on this machine; None for one for each core.
    """

    bots: tuple[Bot, ...] = ()
    isolation: str = "auto"
    limits: Limits = DEFAULT_LIMITS
    fresh_bots: bool = False
    workers: int | None = None
    log_path: Path | None = None


class Played(NamedTuple):
    """The match has been played."""

    row: RecordRow

    @property
    def match(self) -> int:
        """The number of the match."""
        return self.row.match


class Void(NamedTuple):
    """The match has no result because the arena failed, and may be played again, or because its game is wrong.

    Attributes:
        game_error: the mistake of the game; None if the arena failed. The same match would meet it again.
    """

    spec: MatchSpec
    reason: str
    game_error: GameError | None = None

    @property
    def match(self) -> int:
        """The number of the match."""
        return self.spec.match


JobResult = Played | Void


class Playing(NamedTuple):
    """A match that is being played, since when (in seconds of ``time.time``, by the director's clock)."""

    match: int
    since: float


def void_after(spec: MatchSpec, error: Exception, reason: str) -> Void:
    """Return the void result of a match that an error ended; its spec counts the tries of late bots."""
    return Void(spec.after_void(error.seat) if isinstance(error, LateError) else spec, reason)


class Executor(ABC):
    """Plays the matches of a queue somewhere. A context manager: leaving it leaves nothing running.

    Attributes:
        takes_new_bots: whether bots that were not in the job can play, such as those that enter a ladder later.
        plays_functions: whether it plays in the process that calls it, where Python functions can be bots.
        shows_matches: whether ``playing`` and ``live_matches`` know of the matches that are being played.
        meanwhile: called every now and then in the middle of a match, when no clock runs, by an executor that plays in
            the process that calls it and so can't yield; set by the caller.
        notice: a sentence about what may disturb its matches, for those who read their results; empty without one.
    """

    takes_new_bots: ClassVar[bool] = True
    plays_functions: ClassVar[bool] = False
    shows_matches: ClassVar[bool] = False
    meanwhile: Callable[[], None] | None = None
    notice: str = ""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End everything that was started, also in the middle of ``run``."""

    @abstractmethod
    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches until the queue is finished. May be called again with another queue.

        The caller calls ``done`` or ``requeue`` for each match that comes back, before it asks for the next list.

        Args:
            queue: take as many matches as can be played soon, not more: the rest is not even read.

        Yields:
            The results that have come in since the last time, in any order, one for each match taken; an empty list
            after a while without one, so that the caller is not blocked while matches are played elsewhere. A match
            without a result, because the arena failed or the game is wrong, is ``Void``, never an exception.

        Raises:
            UsageError: if no match can be played here any more.
        """

    def playing(self) -> list[Playing]:
        """Return the matches that are being played now; none where that is not known."""
        return []

    def watch(self, matches: frozenset[int]) -> None:  # noqa: B027 - not every executor can
        """Have ``live_matches`` return the states of these matches while they are played, and of no others.

        Numbers of matches that are not being played are allowed: they may be played later, or never.
        """

    def live_matches(self) -> list[LiveMatch]:
        """Return the latest state of each watched match that has changed since the last call.

        It changes at most four times a second for each match. A match whose result ``run`` has yielded is not
        among them.
        """
        return []
