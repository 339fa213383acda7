"""The matches of a run that have no result yet, between the director, which fills the queue, and an executor."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from arena.base.records import MatchSpec


class WorkQueue:
    """Match specs for an executor: first those to be played again, then the rest of the schedule.

    The schedule is read as matches are taken, so it may have any length; the queue itself holds only the numbers of the
    matches that are taken, and the specs that were requeued.

    It is not thread-safe, and need not be: the director acts while the executor's ``run`` waits at a ``yield``.
    """

    def __init__(self, specs: Iterable[MatchSpec]) -> None:
        """Make a queue.

        Args:
            specs: the matches, each with a number of its own; an iterator is read only as far as it is needed.
        """
        self._unread: Iterator[MatchSpec] = iter(specs)
        self._waiting: deque[MatchSpec] = deque()
        self._taken: set[int] = set()
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether no match is to begin any more."""
        return self._is_closed

    def close(self) -> None:
        """Let no match begin any more; those that have begun end as usual, and the others stay unplayed."""
        self._is_closed = True

    def take(self) -> MatchSpec | None:
        """Return the next match to play; None if none is waiting, or none is to begin any more.

        After None there may be another one later: a match that is taken may be requeued.
        """
        if self._is_closed:
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
        if self._is_closed:
            return not self._taken
        if not self._taken and not self._waiting:
            self._waiting.extend(spec for spec in [next(self._unread, None)] if spec is not None)
        return not self._taken and not self._waiting
