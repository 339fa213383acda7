"""Which matches of a tournament its report can replay: those that a reader looks for first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.base.records import MatchRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    match: int
    pairing: frozenset[str]
    has_fault: bool


class MatchChoice:
    """Collects the matches of a tournament, and orders them by how much a reader wants to see them."""

    def __init__(self) -> None:
        """Begin with no match."""
        self._seen: list[_Candidate] = []

    def add(self, record: MatchRecord) -> None:
        """Add a match, in the order of the schedule."""
        self._seen.append(_Candidate(match=record.match, pairing=frozenset(record.bots), has_fault=bool(record.faults)))

    def ordered(self) -> list[int]:
        """Return the numbers of all matches: the last of each pairing, those with faults, then the latest."""
        last = {candidate.pairing: candidate.match for candidate in self._seen}

        def key(candidate: _Candidate) -> tuple[bool, bool, int]:
            is_last = last[candidate.pairing] == candidate.match
            return not is_last, not candidate.has_fault, -candidate.match

        return [candidate.match for candidate in sorted(self._seen, key=key)]

    def first_to_open(self, best: Iterable[str]) -> int | None:
        """Return the last match of the two best bots, or the last of all; None without a match.

        Args:
            best: ``name@version``, the best first.
        """
        top = set(list(best)[:2])
        return next(
            (candidate.match for candidate in reversed(self._seen) if top <= candidate.pairing),
            self._seen[-1].match if self._seen else None,
        )
