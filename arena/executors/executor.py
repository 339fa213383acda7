"""What an executor is to the director, and what it gives back for a match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import NamedTuple, Protocol

from arena.errors import LateError
from arena.records import MatchSpec
from arena.store.rows import RecordRow


class Played(NamedTuple):
    """The match has been played."""

    row: RecordRow


class Void(NamedTuple):
    """The match has no result through our own failure; it may be played again.

    Attributes:
        spec: the match, as it is to be played the next time.
        reason: what happened.
    """

    spec: MatchSpec
    reason: str


def void_after(spec: MatchSpec, error: Exception, reason: str) -> Void:
    """Return that a match is void because of an error; the spec for its next try knows of it."""
    return Void(spec.after_void(error.seat) if isinstance(error, LateError) else spec, reason)


class Executor(Protocol):
    """Plays match specs somewhere. A context manager: leaving it leaves nothing running."""

    def __enter__(self) -> Executor: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def run(self, specs: Iterable[MatchSpec]) -> Iterator[list[Played | Void]]:
        """Play matches, yielding outcomes as they come in, and an empty list now and then."""

    def play_again(self, spec: MatchSpec) -> None:
        """Play a match once more; called while ``run`` is on its way."""
