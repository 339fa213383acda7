"""Results of tournaments that are being played: what was read is kept, and the next table reads only later matches.

A record never changes, and one that is set aside has a correction. So what was read up to a match is still right if
there are as many records up to it as then, and no correction was made since.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple
from weakref import WeakKeyDictionary

from arena.analysis.measures.result_pieces import Piece, TournamentResults
from arena.store.results.record_reader import RecordReader
from arena.store.results.values import Correction, StoredTournament

MIN_KEPT_MATCHES = 1_000
MAX_KEPT_MATCHES = 2_500_000
"""Of all tournaments that are kept together: a match takes some fifty bytes."""

LATEST_MATCHES = 200
"""These are not kept: matches do not end in the order of the schedule."""


class _Kept(NamedTuple):
    """What was read of a tournament.

    Attributes:
        corrections: those there were.
        last_match: up to which it was read.
        labels: the numbers of its bots.
        games: the numbers of its games.
        piece: the results.
    """

    corrections: tuple[Correction, ...]
    last_match: int
    labels: dict[str, int]
    games: dict[str, int]
    piece: Piece


_KEPT: WeakKeyDictionary[RecordReader, OrderedDict[tuple[int, str], _Kept]] = WeakKeyDictionary()


def results_so_far(store: RecordReader, tournament: StoredTournament) -> TournamentResults:
    """Return the results of a tournament that is being played.

    Raises:
        StoreError: if a result is malformed.
    """
    kept = _KEPT.setdefault(store, OrderedDict())
    key = (tournament.number, tournament.created_at)
    earlier = kept.pop(key, None)
    if earlier is not None and not _is_right(earlier, store, tournament):
        earlier = None
    labels, games = (dict(earlier.labels), dict(earlier.games)) if earlier else ({}, {})
    pieces = [earlier.piece] if earlier else []
    last_match = earlier.last_match if earlier else 0
    later: list[int] = []
    for columns in store.result_columns(tournament, after_match=last_match):
        pieces.append(Piece.of(columns, labels, games))
        later += columns.matches
    if not pieces:
        return TournamentResults(tournament.number, (), (), ())
    joined = Piece.joined(pieces)
    until_match = max(last_match, later[-1] - LATEST_MATCHES if later else 0)
    steady = len(joined.bots) - len(later) + bisect_right(later, until_match)
    if steady >= MIN_KEPT_MATCHES:
        kept[key] = _Kept(tournament.corrections, until_match, labels, games, joined.first(steady))
        while sum(len(one.piece.bots) for one in kept.values()) > MAX_KEPT_MATCHES:
            kept.popitem(last=False)
    return TournamentResults(tournament.number, tuple(labels), tuple(games), (joined,))


def _is_right(earlier: _Kept, store: RecordReader, tournament: StoredTournament) -> bool:
    is_as_before = earlier.corrections == tournament.corrections
    return is_as_before and store.count_records(tournament, earlier.last_match) == len(earlier.piece.bots)
