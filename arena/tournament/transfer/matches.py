"""What new and known tournaments from elsewhere have in common: their matches, in order."""

from __future__ import annotations

from collections.abc import Iterator

from arena.base.definition import Definition
from arena.base.errors import StoreError
from arena.store.results.addition import Source, VoidTry
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, utc_now
from arena.tournament.rounds import needs_results
from arena.tournament.transfer.definition_checks import MAX_NUMBER, check_time


class TextsByMatch:
    """Stored records, taken in the order of a schedule."""

    def __init__(self, texts: Iterator[tuple[int, str]]) -> None:
        self._coming = texts
        self._following = next(texts, None)

    def take(self, match: int) -> str | None:
        """Return the record of a match; None if it has none."""
        if self._following is None or self._following[0] != match:
            return None
        text = self._following[1]
        self._following = next(self._coming, None)
        return text

    def check_end(self) -> None:
        """Raise StoreError if a record is left whose match is not in the schedule."""
        if self._following is not None:
            raise StoreError(f"match {self._following[0]} has a record, but is not in the schedule")


def checked_voids(source: Source, tournament: StoredTournament) -> Iterator[VoidTry]:
    """Yield the void tries of a tournament from elsewhere.

    Raises:
        StoreError: if one is malformed.
    """
    for void in source.voids(tournament):
        if not 1 <= void.match <= MAX_NUMBER:
            raise StoreError(f"match {void.match} has a void try, but is not in the schedule")
        check_time(void.at, f"the time of a void try of match {void.match}")
        yield void._replace(reason=void.reason.replace("\0", "\\0"))  # which PostgreSQL does not take


def finished_at(definition: Definition, left: int, stored: str | None) -> str | None:
    """Return when a tournament was finished; None if it is not.

    Args:
        definition: the tournament's.
        left: matches that are still to be played.
        stored: when it was finished, where its schedule is longest; None if it was not.
    """
    if left > 0:
        return None
    if stored is not None:
        return check_time(stored, "finished_at")
    return None if needs_results(definition) else utc_now()


def absent_bots(store: Store, definition: Definition) -> tuple[str, ...]:
    """Return the entrants that have not been submitted to a store with the same files."""
    submitted = {(bot.label, bot.digest) for bot in store.submitted_bots()}
    return tuple(bot.label for bot in definition.entrants if (bot.label, bot.digest) not in submitted)
