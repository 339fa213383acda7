"""The interface of an executor: the job it is opened for, and the results it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, NamedTuple, Self

from arena.base.errors import GameError, LateError
from arena.base.live_match import LiveMatch
from arena.base.records import DEFAULT_LIMITS, Bot, Limits, MatchSpec
from arena.store.results.rows import RecordRow
from arena.tournament.executors.work_queue import WorkQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What an executor is opened for: which bots play, and under which conditions.

    Attributes:
        bots: every bot that may play; where matches are played on other machines, they are sent there.
        isolation: the level asked for, or "auto".
        limits: what a bot may use.
        fresh_bots: launch every bot again for every match.
        workers: matches at a time on this machine; None for one for each core.
        log_path: the log file of the processes on this machine; None for no log.
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
        spec: the match, for its next try.
        reason: what happened.
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
    """A match that is being played now.

    Attributes:
        match: its number.
        since: when it began, in seconds of ``time.time``, as far as the director can tell.
    """

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
