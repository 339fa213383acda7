"""Results of tournaments as arrays, piece by piece; those of large finished tournaments stay in memory.

A page about a bot or a game rates the same million results as the page of their tournament, and reading them takes
longer than rating them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain, islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from arena.ratings.result_arrays import combined, counting_numbers, numbered, padded
from arena.store.results.match_records import ResultColumns
from arena.store.results.record_reader import RecordReader
from arena.store.results.values import StoredTournament

HASH_BYTES = 12
NO_HASHES = np.zeros((0, HASH_BYTES // 4), dtype=np.uint32)

PIECES_JOINED = 40

MIN_KEPT_MATCHES = 10_000
MAX_KEPT_MATCHES = 2_500_000
"""Of all tournaments together: a match takes about fifty bytes."""


class Piece(NamedTuple):
    """Results of some matches of a tournament as arrays.

    ``bots`` and ``ranks`` are of shape (matches, seats), -1 and 0 in seats that a game doesn't have; hashes of openings
    and actions are of shape (matches, words).
    """

    games: NDArray[np.int32]
    bots: NDArray[np.int32]
    ranks: NDArray[np.int16]
    encounters: NDArray[np.int64]
    openings: NDArray[np.uint32]
    actions: NDArray[np.uint32]

    @classmethod
    def of(cls, columns: ResultColumns, labels: dict[str, int], games: dict[str, int]) -> Piece:
        """Return results as arrays; adds new bots and games to their numbers."""
        flat = list(chain.from_iterable(columns.bots))
        for label in set(flat) - labels.keys():
            labels[label] = len(labels)
        for game in set(columns.games) - games.keys():
            games[game] = len(games)
        seats = max(map(len, columns.bots))
        bots = np.full((len(columns.bots), seats), -1, dtype=np.int32)
        has_bot = np.arange(seats) < np.fromiter(map(len, columns.bots), np.int64, len(bots))[:, None]
        bots[has_bot] = np.fromiter(map(labels.__getitem__, flat), np.int32, len(flat))
        return cls(
            np.fromiter(map(games.__getitem__, columns.games), np.int32, len(bots)),
            bots,
            padded(columns.ranks, seats, 0).astype(np.int16),
            np.array(columns.encounters, dtype=np.int64),
            _hash_words(columns.opening_hashes),
            _hash_words(columns.actions_hashes),
        )

    @classmethod
    def joined(cls, pieces: Sequence[Piece]) -> Piece:
        """Return the results of pieces whose bots and games have the same numbers."""
        if len(pieces) == 1:
            return pieces[0]
        seats = max(piece.bots.shape[1] for piece in pieces)
        wide = [
            piece._replace(bots=widened(piece.bots, seats, -1), ranks=widened(piece.ranks, seats, 0))
            for piece in pieces
        ]
        return cls._make(map(np.concatenate, zip(*wide, strict=True)))

    def part(self, chosen: slice | NDArray[np.bool_]) -> Piece:
        """Return the results of some of its matches, with all seats."""
        return Piece._make(column[chosen] for column in self)

    def where(self, chosen: NDArray[np.bool_]) -> Piece:
        """Return the results of some of its matches, with as many seats as these have."""
        part = Piece._make(column[chosen] for column in self)
        seats = int((part.bots >= 0).sum(axis=1).max())
        return part._replace(bots=part.bots[:, :seats], ranks=part.ranks[:, :seats])


class TournamentResults(NamedTuple):
    """The results of a tournament in schedule order, with its bots (``name@version``) and games by their numbers.

    ``counts``: whether each match counts for ratings; None if that is not known.
    """

    tournament: int
    labels: tuple[str, ...]
    games: tuple[str, ...]
    pieces: tuple[Piece, ...]
    counts: NDArray[np.bool_] | None = None

    def of_game(self, game: str) -> TournamentResults:
        """Return the results of one game, with the bots that have played it."""
        if self.games == (game,):
            return self
        number = self.games.index(game) if game in self.games else -1
        pieces = [piece.where(piece.games == number) for piece in self.pieces if (piece.games == number).any()]
        played = np.zeros(len(self.labels) + 1, dtype=np.bool_)
        for piece in pieces:
            played[piece.bots] = True
        played[-1] = False
        labels = tuple(label for label, has_played in zip(self.labels, played.tolist(), strict=False) if has_played)
        new_number = np.where(played, np.cumsum(played) - 1, -1).astype(np.int32)
        renumbered = (piece._replace(bots=new_number[piece.bots], games=np.zeros_like(piece.games)) for piece in pieces)
        return TournamentResults(self.tournament, labels, (game,), tuple(renumbered))


NONE_COUNT = np.zeros(0, dtype=np.bool_)


def counting(pieces: Sequence[Piece], known: NDArray[np.bool_] = NONE_COUNT) -> NDArray[np.bool_]:
    """Return whether each match of pieces counts for ratings; bots have the same numbers in all pieces.

    ``known`` is that of the first matches when there were no others. Only those from an opening that was played again
    can have changed. Sixteen bits of its hash find them, and a few more, without sorting a million openings.
    """
    if not len(known):
        return _counting(Piece.joined(pieces))
    bits = [_bits_of(piece.openings) for piece in pieces]
    counts = np.concatenate([known, np.ones(sum(map(len, bits)) - len(known), dtype=np.bool_)])
    is_later = np.zeros(2**16, dtype=np.bool_)
    is_later[np.concatenate(bits)[len(known) :]] = True
    again = [is_later[own] for own in bits]
    counts[np.concatenate(again)] = _counting(
        Piece.joined([piece.part(own) for piece, own in zip(pieces, again, strict=True)])
    )
    return counts


def _counting(piece: Piece) -> NDArray[np.bool_]:
    words = piece.openings.astype(np.int64)
    half = numbered(words[:, 0] << 32 | words[:, 1])[1]
    return counting_numbers(combined([half, *words[:, 2:].T, *(piece.bots + 1).T]), piece.actions)


def _bits_of(hashes: NDArray[np.uint32]) -> NDArray[np.uint16]:
    mixed = hashes[:, 0] ^ hashes[:, 1] ^ hashes[:, 2]  # to reduce short rows takes ten times as long
    return np.asarray(mixed ^ (mixed >> 16)).astype(np.uint16)


class _RecentResults(OrderedDict[tuple[object, ...], TournamentResults]):
    """The results of finished tournaments of a store, the most recently used last."""

    def keep(self, key: tuple[object, ...], results: TournamentResults) -> None:
        self[key] = results
        while sum(sum(len(piece.bots) for piece in recent.pieces) for recent in self.values()) > MAX_KEPT_MATCHES:
            self.popitem(last=False)


_RECENT_RESULTS: WeakKeyDictionary[RecordReader, _RecentResults] = WeakKeyDictionary()


def results_of_tournament(
    store: RecordReader, tournament: StoredTournament, game: str | None = None, last_encounter: int | None = None
) -> TournamentResults:
    """Return the results of a tournament; see ``RecordReader.results``."""
    is_kept = tournament.finished_at is not None and tournament.recorded >= MIN_KEPT_MATCHES
    if not is_kept or last_encounter is not None:
        return _read(store, tournament, game, last_encounter)
    key = (
        *(tournament.number, tournament.created_at, tournament.finished_at, tournament.recorded),
        *(tournament.record_bytes, len(tournament.corrections)),
    )
    recent = _RECENT_RESULTS.setdefault(store, _RecentResults())
    if key not in recent:
        recent.keep(key, _read(store, tournament, None, None))
    results = recent[key]
    recent.move_to_end(key)
    return results if game is None else results.of_game(game)


def _read(
    store: RecordReader, tournament: StoredTournament, game: str | None, last_encounter: int | None
) -> TournamentResults:
    labels: dict[str, int] = {}
    games: dict[str, int] = {}
    batches = store.result_columns(tournament, game, last_encounter)
    pieces = tuple(in_large_pieces(Piece.of(columns, labels, games) for columns in batches))
    return TournamentResults(tournament.number, tuple(labels), tuple(games), pieces)


def in_large_pieces(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces joined to larger ones: what many small arrays took stays with the process (``malloc``)."""
    while some := list(islice(pieces, PIECES_JOINED)):
        yield Piece.joined(some)


def widened(columns: NDArray[Any], seats: int, filling: int) -> NDArray[Any]:
    """Return an array with as many seats, the new ones filled with ``filling``."""
    if columns.shape[1] == seats:
        return columns
    return np.pad(columns, ((0, 0), (0, seats - columns.shape[1])), constant_values=filling)


def _hash_words(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Return hexadecimal hashes as numbers, shape (texts, words); if any text is not such a hash, hash all of them."""
    data = b""
    if set(map(len, texts)) == {2 * HASH_BYTES}:
        with suppress(ValueError):
            data = bytes.fromhex("".join(texts))
    if len(data) != HASH_BYTES * len(texts):
        hashes = (blake2b(text.encode(errors="surrogatepass"), digest_size=HASH_BYTES) for text in texts)
        data = b"".join(digest.digest() for digest in hashes)
    return np.frombuffer(data, dtype="<u4").reshape(len(texts), -1)
