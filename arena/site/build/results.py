"""Builds lists of results."""

from __future__ import annotations

from collections.abc import Mapping

from arena.records import MatchRecord
from arena.site.models.results import ListedFault, ListedResult


def listed_result(tournament: str, record: MatchRecord, names: Mapping[str, str]) -> ListedResult:
    """Return a match as lists show it.

    Args:
        tournament: the name that its tournament has now.
        record: of the match.
        names: what tables call the bots, by ``name@version``.
    """
    return ListedResult(
        tournament=tournament,
        match=record.match,
        game=record.game,
        bots=record.bots,
        names=tuple(names.get(label, label) for label in record.bots),
        scores=record.scores,
        ranks=record.ranks,
        plies=len(record.actions),
        termination=record.termination,
        faults=tuple(ListedFault(seat=fault.seat, kind=fault.kind, ply=fault.ply) for fault in record.faults),
    )
