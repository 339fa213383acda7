"""Builds lists of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena.base.records import MatchRecord
from arena.site.pages.results_model import ListedFault, ListedResult
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

LATEST = 8
"""How many results of a tournament a page has."""


def latest_results(store: Store, tournament: StoredTournament) -> tuple[ListedResult, ...]:
    """Return the latest matches of a tournament, the last first."""
    last = store.records(tournament).last(LATEST) if tournament.recorded else []
    return listed_results((tournament, record) for record in reversed(last))


def listed_results(found: Iterable[tuple[StoredTournament, MatchRecord]]) -> tuple[ListedResult, ...]:
    """Return matches as lists show them."""
    return tuple(listed_result(one.name, record, one.definition.shown_names) for one, record in found)


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
