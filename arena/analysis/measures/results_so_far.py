"""Results of tournaments that are being played: what was read is kept, and the next table reads only later matches.

A record never changes, and one that is set aside has a correction. So what was read up to a match is still right if
there are as many records up to it as then, and no correction was made since. The last of them are still read again:
they differ if the operator has restored an older copy of the database and played on from there. A large tournament
is kept in a file, which is read as quickly as needed, also by the next process; memory has what is in no file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from arena.analysis.measures.kept_files import Columns, bytes_of, read_parts, write_parts
from arena.analysis.measures.result_pieces import (
    HASH_BYTES,
    MAX_KEPT_MATCHES,
    MIN_KEPT_MATCHES,
    NONE_COUNT,
    Piece,
    TournamentResults,
    counting,
    in_large_pieces,
)
from arena.base.shipped import code_digest
from arena.base.stored import is_text, is_whole
from arena.store.home import kept_path
from arena.store.results.record_reader import RecordReader
from arena.store.results.values import StoredTournament

MIN_STEADY_MATCHES = 1_000
"""The results of fewer matches are not kept."""

LATEST_MATCHES = 200
"""The last matches, which are not kept: matches do not end in the order of the schedule."""

MAX_COPIED = 500
"""For each later match, as many earlier ones are copied; reading a few again is quicker than copying a million."""


class _ReadSoFar(NamedTuple):
    """What was read of a tournament, up to ``last_match``; the first ``in_file`` matches of it are in a file.

    ``counts``: whether each match counts for ratings as long as there are no others.
    """

    key: str
    last_match: int
    labels: Mapping[str, int]
    games: Mapping[str, int]
    piece: Piece
    counts: NDArray[np.bool_]
    in_file: int


_READ_SO_FAR: WeakKeyDictionary[RecordReader, OrderedDict[tuple[int, str], _ReadSoFar]] = WeakKeyDictionary()


def results_so_far(
    store: RecordReader, tournament: StoredTournament, cache_directory: Path | None = None
) -> TournamentResults:
    """Return the results of a tournament that is being played; StoreError if one is malformed."""
    kept = _READ_SO_FAR.setdefault(store, OrderedDict())
    identity, key = (tournament.number, tournament.created_at), _key_of(tournament)
    earlier = kept.pop(identity, None)
    path = None
    if cache_directory is not None and tournament.recorded >= MIN_KEPT_MATCHES:
        path = kept_path(cache_directory, tournament.name, "results")
        earlier = earlier or _read(path, key)
    if earlier is not None and not (earlier.key == key and _is_right(earlier, store, tournament)):
        earlier = None
    labels, games = (dict(earlier.labels), dict(earlier.games)) if earlier else ({}, {})
    pieces = [earlier.piece] if earlier else []
    last_match = earlier.last_match if earlier else 0
    later = array("q")  # a list of a million numbers takes 40 MB

    def read_later() -> Iterator[Piece]:
        for columns in store.result_columns(tournament, after_match=last_match):
            later.extend(columns.matches)
            yield Piece.of(columns, labels, games)

    pieces += in_large_pieces(read_later())
    if not pieces:
        return TournamentResults(tournament.number, (), (), ())
    until_match = max(last_match, later[-1] - LATEST_MATCHES if later else 0)
    steady = sum(len(piece.bots) for piece in pieces) - len(later) + bisect_right(later, until_match)
    known = len(earlier.piece.bots) if earlier else 0
    read = earlier
    if steady >= MIN_STEADY_MATCHES and (steady - known) * MAX_COPIED > steady:
        pieces = [Piece.joined(pieces)]
        part = pieces[0].part(slice(steady))
        counts = counting([part], earlier.counts if earlier else NONE_COUNT)
        read = _ReadSoFar(key, until_match, labels, games, part, counts, earlier.in_file if earlier else 0)
        if path is not None and steady - read.in_file >= MIN_KEPT_MATCHES and _write(path, read):
            read = read._replace(in_file=steady)
    if read is not None and read.in_file < len(read.piece.bots):
        kept[identity] = read
        while sum(len(other.piece.bots) for other in kept.values()) > MAX_KEPT_MATCHES:
            kept.popitem(last=False)
    counts = counting(pieces, read.counts if read else NONE_COUNT)
    return TournamentResults(tournament.number, tuple(labels), tuple(games), tuple(pieces), counts)


def _key_of(tournament: StoredTournament) -> str:
    values = repr((tournament.number, tournament.created_at, tournament.corrections))
    return blake2b(values.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _is_right(earlier: _ReadSoFar, store: RecordReader, tournament: StoredTournament) -> bool:
    if store.count_records(tournament, earlier.last_match) != len(earlier.piece.bots):
        return False
    labels, games, after = dict(earlier.labels), dict(earlier.games), earlier.last_match - LATEST_MATCHES
    for columns in store.result_columns(tournament, after_match=max(0, after), last_match=earlier.last_match):
        again = Piece.of(columns, labels, games)
        size = len(again.bots)
        both = Piece.joined([earlier.piece.part(slice(len(earlier.piece.bots) - size, None)), again])
        return all(np.array_equal(column[:size], column[size:]) for column in both)
    return True


# The file: behind its line are the arrays of a piece, one after the other, and whether each match counts.

MAX_FILE_BYTES = 60 * MAX_KEPT_MATCHES

_TYPES = ("<i4", "<i4", "<i2", "<i8", "<u4", "<u4", "|u1")
"""The types of a piece's columns, and of what counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    code: str
    key: str
    last_match: int
    labels: tuple[str, ...]
    games: tuple[str, ...]
    matches: int
    seats: int

    def columns(self) -> Columns:
        single, by_seat, words = (self.matches,), (self.matches, self.seats), (self.matches, HASH_BYTES // 4)
        return list(zip(_TYPES, (single, by_seat, by_seat, single, words, words, single), strict=True))


def _write(path: Path, read: _ReadSoFar) -> bool:
    matches, seats = read.piece.bots.shape
    line = _Line(
        code=code_digest(),
        key=read.key,
        last_match=read.last_match,
        labels=tuple(read.labels),
        games=tuple(read.games),
        matches=matches,
        seats=seats,
    )
    columns = map(np.asarray, (*read.piece, read.counts), _TYPES)
    return bytes_of(line.columns()) <= MAX_FILE_BYTES and write_parts(path, line, *columns)


def _read(path: Path, key: str) -> _ReadSoFar | None:
    """Return what is in a file; None without one, or if it is malformed or has another key."""
    parts = read_parts(path, _Line, lambda line: _columns_of(line, key))
    if parts is None:
        return None
    line, columns = parts
    piece, counts = Piece._make(columns[:-1]), columns[-1]
    labels, games = ({name: number for number, name in enumerate(names)} for names in (line.labels, line.games))
    if not _fits_together(piece, len(labels), len(games)) or counts.max() > 1:
        return None
    return _ReadSoFar(key, line.last_match, labels, games, piece, counts.astype(np.bool_), line.matches)


def _columns_of(line: _Line, key: str) -> Columns | None:
    """Return the columns of the piece behind a line; None if the line is of another key, or impossible."""
    names = (*line.labels, *line.games)
    are_names = all(map(is_text, names)) and len(set(line.labels)) + len(set(line.games)) == len(names)
    are_counts = all(is_whole(count, 1, MAX_FILE_BYTES) for count in (line.last_match, line.matches, line.seats))
    is_right = (line.code, line.key) == (code_digest(), key) and are_names and are_counts
    return line.columns() if is_right and bytes_of(line.columns()) <= MAX_FILE_BYTES else None


def _fits_together(piece: Piece, labels: int, games: int) -> bool:
    """Return whether all numbers are those of bots, games and ranks, and each match has its seats without a gap."""
    sits, seats = piece.bots >= 0, piece.bots.shape[1]
    return bool(
        sits[:, 0].all()
        and (sits[:, :-1] | ~sits[:, 1:]).all()
        and piece.bots.min() >= -1
        and piece.bots.max() < labels
        and (0 <= piece.games.min() <= piece.games.max() < games)
        and ((piece.ranks > 0) == sits).all()
        and (0 <= piece.ranks.min() <= piece.ranks.max() <= seats)
        and piece.encounters.min() >= 0
    )
