"""Results as arrays, read from the store piece by piece: a million of them take a few bytes each, and no objects.

``standings`` counts them; ``encounters.py`` has the same results as values, for statistics about the games.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
        games: the names of the games, in alphabetical order.
        game: the number of the game of each match.
        bots: the number of the bot in each seat, -1 in seats that a game doesn't have, shape (matches, seats).
        ranks: of the same, 0 in seats that a game doesn't have, shape (matches, seats).
        rated: whether each match counts for ratings.
        starts: the first match of each encounter.
        occurrences: how often each encounter occurred.
    """

    labels: tuple[str, ...]
    games: tuple[str, ...]
    game: NDArray[np.int32]
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
        games = sorted({encounter.game for encounter in listed})
        of_matches = [games.index(encounter.game) for encounter in listed for _ in encounter.matches]
        seats = max((len(match.bots) for match in matches), default=2)
        return cls(
            labels=tuple(labels),
            games=tuple(games),
            game=np.array(of_matches, dtype=np.int32),
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

    def of_game(self, game: str) -> ResultTable:
        """Return the results of a game, with as many seats as it has."""
        if self.games == (game,):
            return self
        chosen = self.game == (self.games.index(game) if game in self.games else -1)
        encounter = self._encounter_of_matches()[chosen]
        starts = np.flatnonzero(np.diff(encounter, prepend=-1))
        seats = max(2, int((self.bots[chosen] >= 0).sum(axis=1).max(initial=0)))
        return replace(
            self,
            game=self.game[chosen],
            bots=self.bots[chosen, :seats],
            ranks=self.ranks[chosen, :seats],
            rated=self.rated[chosen],
            starts=starts,
            occurrences=self.occurrences[encounter[starts]],
        )

    def _encounter_of_matches(self) -> Integers:
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.bots)))

    def rated_encounters(self) -> EncounterArrays:
        """Return the results that count for ratings; a bot that plays itself shows nothing about its strength."""
        chosen = self.rated & ~_has_twice(self.bots)
        encounter = self._encounter_of_matches()[chosen]
        starts = np.flatnonzero(np.diff(encounter, prepend=-1))
        occurrences = self.occurrences[encounter[starts]]
        return EncounterArrays.of_matches(self.labels, self.bots[chosen], self.ranks[chosen], starts, occurrences)


def read_results(
    store: RecordReader, within: Within, game: str | None = None, last_encounter: int | None = None
) -> ResultTable:
    """Return the results of a tournament or of those in a scope; see ``RecordReader.results``."""
    labels: dict[str, int] = {}
    games: dict[str, int] = {}
    pieces = [_Piece.of(columns, labels, games) for columns in store.result_columns(within, game, last_encounter)]
    if not pieces:
        return ResultTable.of(())
    names, number = _in_order(labels)
    game_names, game_number = _in_order(games)
    seats = max(piece.bots.shape[1] for piece in pieces)
    encounter = np.concatenate([piece.encounters for piece in pieces])
    starts = np.flatnonzero((np.diff(encounter, axis=0, prepend=-1) != 0).any(axis=1))
    del encounter
    bots = number[np.concatenate([_widened(piece.bots, seats, -1) for piece in pieces])]
    ranks = np.concatenate([_widened(piece.ranks, seats, 0) for piece in pieces])
    openings = np.concatenate([piece.openings for piece in pieces])
    actions = np.concatenate([piece.actions for piece in pieces])
    of_matches = np.concatenate([piece.games for piece in pieces])
    pieces.clear()  # a million matches take fifty megabytes
    return ResultTable(
        labels=names,
        games=game_names,
        game=game_number[of_matches],
        bots=bots,
        ranks=ranks,
        rated=counting_numbers(_opening_numbers(openings, bots), actions),
        starts=starts,
        occurrences=np.ones(len(starts), dtype=np.int64),
    )


def _in_order(numbers: Mapping[str, int]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return names in alphabetical order, and the new number of each by its old one; -1 stays."""
    names = tuple(sorted(numbers))
    number = np.full(len(names) + 1, -1, dtype=np.int32)
    number[[numbers[name] for name in names]] = np.arange(len(names))
    return names, number


class _Piece(NamedTuple):
    """Results of some matches as arrays.

    Attributes:
        games: the numbers that they have while they are read.
        bots: the same.
        ranks: see ``ResultTable``.
        encounters: the number of the tournament, and the encounter's, shape (matches, 2).
        openings: the hash of each opening, shape (matches, words).
        actions: the hash of all actions of each match, shape (matches, words).
    """

    games: NDArray[np.int32]
    bots: NDArray[np.int32]
    ranks: NDArray[np.int16]
    encounters: Integers
    openings: NDArray[np.uint32]
    actions: NDArray[np.uint32]

    @classmethod
    def of(cls, columns: ResultColumns, labels: dict[str, int], games: dict[str, int]) -> _Piece:
        """Return results as arrays.

        Args:
            columns: the results.
            labels: the numbers of the bots; new ones are added.
            games: the same of the games.
        """
        flat = list(chain.from_iterable(columns.bots))
        for label in set(flat) - labels.keys():
            labels[label] = len(labels)
        for game in set(columns.games) - games.keys():
            games[game] = len(games)
        seats = max(map(len, columns.bots))
        bots = np.full((len(columns.bots), seats), -1, dtype=np.int32)
        has_bot = np.arange(seats) < np.fromiter(map(len, columns.bots), np.int64, len(bots))[:, None]
        bots[has_bot] = np.fromiter(map(labels.__getitem__, flat), np.int32, len(flat))
        encounters = np.array(columns.encounters, dtype=np.int64)
        return cls(
            np.fromiter(map(games.__getitem__, columns.games), np.int32, len(bots)),
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
