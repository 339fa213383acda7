"""Results as arrays, read from the store piece by piece: a million of them take a few bytes each, and no objects.

``standings`` counts them; ``encounters.py`` has the same results as values, for statistics about the games.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.encounters import CountedEncounter
from arena.ratings.repeats import counting_numbers
from arena.ratings.result_arrays import EncounterArrays, Integers, combined, numbered, padded
from arena.store.record_reader import RecordReader, Within
from arena.store.result_columns import ResultColumns

HASH_BYTES = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResultTable:
    """The results of matches, in the order of the schedule, tournament by tournament.

    Attributes:
        labels: the bots (``name@version``), in alphabetical order.
        bots: the number of the bot in each seat, -1 in seats that a game doesn't have, shape (matches, seats).
        ranks: of the same, 0 in seats that a game doesn't have, shape (matches, seats).
        rated: whether each match counts for ratings.
        starts: the first match of each encounter.
        occurrences: how often each encounter occurred.
    """

    labels: tuple[str, ...]
    bots: NDArray[np.integer]
    ranks: NDArray[np.integer]
    rated: NDArray[np.bool_]
    starts: Integers
    occurrences: Integers

    @classmethod
    def of(cls, encounters: Iterable[CountedEncounter]) -> ResultTable:
        """Return counted encounters as a table."""
        listed = list(encounters)
        matches = [match for encounter in listed for match in encounter.matches]
        labels = sorted({label for match in matches for label in match.bots})
        index = {label: number for number, label in enumerate(labels)}
        seats = max((len(match.bots) for match in matches), default=2)
        return cls(
            labels=tuple(labels),
            bots=padded([[index[label] for label in match.bots] for match in matches], seats, -1),
            ranks=padded([match.ranks for match in matches], seats, 0),
            rated=np.array([match.rated for match in matches], dtype=np.bool_),
            starts=np.cumsum([0, *(len(encounter.matches) for encounter in listed)])[:-1],
            occurrences=np.array([encounter.occurrences for encounter in listed], dtype=np.int64),
        )

    @property
    def match_occurrences(self) -> Integers:
        """How often each match occurred."""
        return np.repeat(self.occurrences, np.diff(self.starts, append=len(self.bots)))

    def rated_encounters(self) -> EncounterArrays:
        """Return the results that count for ratings; a bot that plays itself shows nothing about its strength."""
        chosen = self.rated & ~_has_twice(self.bots)
        encounter = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.bots)))[chosen]
        starts = np.flatnonzero(np.diff(encounter, prepend=-1))
        occurrences = self.occurrences[encounter[starts]]
        return EncounterArrays.of_matches(self.labels, self.bots[chosen], self.ranks[chosen], starts, occurrences)


def read_results(
    store: RecordReader, within: Within, game: str | None = None, last_encounter: int | None = None
) -> ResultTable:
    """Return the results of a tournament or of those in a scope; see ``RecordReader.results``."""
    labels: dict[str, int] = {}
    pieces = [_Piece.of(columns, labels) for columns in store.result_columns(within, game, last_encounter)]
    if not pieces:
        return ResultTable.of(())
    names = sorted(labels)
    number = np.full(len(labels) + 1, -1, dtype=np.int32)  # -1, the last, stands for no bot
    number[[labels[name] for name in names]] = np.arange(len(names))
    seats = max(piece.bots.shape[1] for piece in pieces)
    encounter = np.concatenate([piece.encounters for piece in pieces])
    starts = np.flatnonzero((np.diff(encounter, axis=0, prepend=-1) != 0).any(axis=1))
    del encounter
    bots = number[np.concatenate([_widened(piece.bots, seats, -1) for piece in pieces])]
    ranks = np.concatenate([_widened(piece.ranks, seats, 0) for piece in pieces])
    openings = np.concatenate([piece.openings for piece in pieces])
    actions = np.concatenate([piece.actions for piece in pieces])
    pieces.clear()  # a million matches take fifty megabytes
    return ResultTable(
        labels=tuple(names),
        bots=bots,
        ranks=ranks,
        rated=counting_numbers(_opening_numbers(openings, bots), actions),
        starts=starts,
        occurrences=np.ones(len(starts), dtype=np.int64),
    )


class _Piece(NamedTuple):
    """Results of some matches as arrays.

    Attributes:
        bots: the numbers that they have while they are read.
        ranks: see ``ResultTable``.
        encounters: the number of the tournament, and the encounter's, shape (matches, 2).
        openings: the hash of each opening, shape (matches, words).
        actions: the hash of all actions of each match, shape (matches, words).
    """

    bots: NDArray[np.int32]
    ranks: NDArray[np.int16]
    encounters: Integers
    openings: NDArray[np.uint32]
    actions: NDArray[np.uint32]

    @classmethod
    def of(cls, columns: ResultColumns, labels: dict[str, int]) -> _Piece:
        """Return results as arrays.

        Args:
            columns: the results.
            labels: the numbers of the bots; new ones are added.
        """
        flat = list(chain.from_iterable(columns.bots))
        for label in set(flat) - labels.keys():
            labels[label] = len(labels)
        seats = max(map(len, columns.bots))
        bots = np.full((len(columns.bots), seats), -1, dtype=np.int32)
        has_bot = np.arange(seats) < np.fromiter(map(len, columns.bots), np.int64, len(bots))[:, None]
        bots[has_bot] = np.fromiter(map(labels.__getitem__, flat), np.int32, len(flat))
        encounters = np.array(columns.encounters, dtype=np.int64)
        return cls(
            bots,
            padded(columns.ranks, seats, 0).astype(np.int16),
            np.stack([np.full_like(encounters, columns.tournament), encounters], axis=1),
            _hash_words(columns.opening_hashes),
            _hash_words(columns.actions_hashes),
        )


def _widened(columns: NDArray[Any], seats: int, filling: int) -> NDArray[Any]:
    """Return an array of seats with more of them."""
    return np.pad(columns, ((0, 0), (0, seats - columns.shape[1])), constant_values=filling)


def _hash_words(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Return hashes in hexadecimal as numbers, shape (texts, words); other texts are hashed themselves."""
    data = b""
    if set(map(len, texts)) == {2 * HASH_BYTES}:
        with suppress(ValueError):
            data = bytes.fromhex("".join(texts))
    if len(data) != HASH_BYTES * len(texts):
        hashes = (blake2b(text.encode(errors="surrogatepass"), digest_size=HASH_BYTES) for text in texts)
        data = b"".join(one.digest() for one in hashes)
    return np.frombuffer(data, dtype="<u4").reshape(len(texts), -1)


def _opening_numbers(openings: NDArray[np.uint32], bots: NDArray[np.integer]) -> Integers:
    """Return a number for each opening with the bots in their seats."""
    words = openings.astype(np.int64)
    half = numbered(words[:, 0] << 32 | words[:, 1])[1]
    return combined([half, *words[:, 2:].T, *(bots + 1).T])


def _has_twice(bots: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether each match has a bot in more than one seat."""
    ordered = np.sort(bots, axis=1)
    return np.asarray(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
