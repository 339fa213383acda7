"""What was read of a contest that was written, right or wrong."""

from __future__ import annotations

from dataclasses import dataclass

from arena.base.errors import ContestError
from arena.base.mistake import Mistake
from arena.store.people.contest import Contest


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestReading:
    """A contest as far as it could be read, so that all that is wrong with it can be said at once.

    Attributes:
        contest: what was written, with other values in place of those that are wrong.
        where: it comes from; begins messages.
        mistakes: all that is wrong with it by itself.
        wrong: the names of attributes of the contest that have other values than were written; nothing is to be said
            about them.
    """

    contest: Contest
    where: str
    mistakes: tuple[Mistake, ...] = ()
    wrong: tuple[str, ...] = ()

    def has_right(self, *attributes: str) -> bool:
        """Return whether these attributes of the contest are what was written."""
        return not any(one in self.wrong for one in attributes)

    def check(self, *others: Mistake) -> Contest:
        """Return the contest, if nothing is wrong with it.

        Args:
            others: what else is wrong with it.

        Raises:
            ContestError: with every mistake.
        """
        if self.mistakes or others:
            raise ContestError(self.where, (*self.mistakes, *others))
        return self.contest


def read_of(written: Contest | ContestReading) -> ContestReading:
    """Return a contest as one that was read."""
    if isinstance(written, ContestReading):
        return written
    return ContestReading(contest=written, where=f"contest {written.name!r}")
