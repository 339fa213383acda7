"""The results of matches as a table of arrays: a million of them take a few bytes each, and no objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.measures.result_pieces import NO_HASHES, Piece, TournamentResults, counting, results_of_tournament
from arena.analysis.measures.results_so_far import results_so_far
from arena.ratings.result_arrays import (
    Encounter,
    EncounterArrays,
    Integers,
    padded,
)
from arena.store.results.record_reader import RecordReader, Within
from arena.store.results.scope import Scope
from arena.store.results.values import StoredTournament


class CountedEncounter(NamedTuple):
    """Encounters with equal results, all of which count for ratings, and their number."""

    game: str
    results: Encounter
    occurrences: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResultTable:
    """The results of matches, in the order of the schedule, tournament by tournament.

    Attributes:
        labels: the bots (``name@version``), in alphabetical order.
        games: the names of the games, in alphabetical order.
        game: the number of the game of each match.
        bots: the number of the bot in each seat, -1 in seats that a game doesn't have, shape (matches, seats).
        ranks: the rank of the same bots, 0 in seats that a game doesn't have.
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
        matches = [result for encounter in listed for result in encounter.results]
        labels = sorted({label for bots, _ in matches for label in bots})
        index = {label: number for number, label in enumerate(labels)}
        games = sorted({encounter.game for encounter in listed})
        game_of_match = [games.index(encounter.game) for encounter in listed for _ in encounter.results]
        seats = max((len(bots) for bots, _ in matches), default=2)
        return cls(
            labels=tuple(labels),
            games=tuple(games),
            game=np.array(game_of_match, dtype=np.int32),
            bots=padded([[index[label] for label in bots] for bots, _ in matches], seats, -1),
            ranks=padded([ranks for _, ranks in matches], seats, 0),
            rated=np.ones(len(matches), dtype=np.bool_),
            starts=np.cumsum([0, *(len(encounter.results) for encounter in listed)])[:-1],
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
            games=(game,),
            game=np.zeros(len(encounter), dtype=np.int32),
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
        chosen = self.rated & ~_has_repeated_bot(self.bots)
        if chosen.all():  # as nearly always: nothing is copied
            return EncounterArrays.of_matches(self.labels, self.bots, self.ranks, self.starts, self.occurrences)
        encounter = self._encounter_of_matches()[chosen]
        starts = np.flatnonzero(np.diff(encounter, prepend=-1))
        occurrences = self.occurrences[encounter[starts]]
        return EncounterArrays.of_matches(self.labels, self.bots[chosen], self.ranks[chosen], starts, occurrences)


def read_results(
    store: RecordReader,
    within: Within,
    game: str | None = None,
    last_encounter: int | None = None,
    cache_directory: Path | None = None,
) -> ResultTable:
    """Return the results of a tournament or of those in a scope; see ``RecordReader.results``.

    ``cache_directory``: where to keep results of tournaments that are being played; None for nowhere.
    """
    if isinstance(within, Scope):
        tournaments: Sequence[StoredTournament] = store.tournaments(within)
    else:
        tournaments = [store.tournament(within) if isinstance(within, str) else within]
    read = (_results(store, tournament, game, last_encounter, cache_directory) for tournament in tournaments)
    parts = [results for results in read if results.pieces]
    if not parts:
        return ResultTable.of(())
    labels = tuple(sorted({label for results in parts for label in results.labels}))
    games = tuple(sorted({name for results in parts for name in results.games}))
    pieces = [(results.tournament, piece) for results in parts for piece in _numbered(results, labels, games)]
    return _table(pieces, labels, games, parts[0].counts if len(parts) == 1 else None)


def _results(
    store: RecordReader,
    tournament: StoredTournament,
    game: str | None,
    last_encounter: int | None,
    cache_directory: Path | None,
) -> TournamentResults:
    if tournament.finished_at is not None or last_encounter is not None:
        return results_of_tournament(store, tournament, game, last_encounter)
    results = results_so_far(store, tournament, cache_directory)
    return results if game is None else results.of_game(game)


def _numbered(results: TournamentResults, names: Sequence[str], games: Sequence[str]) -> Iterator[Piece]:
    number_of_bot, number_of_game = ({name: number for number, name in enumerate(listed)} for listed in (names, games))
    number = np.array([*(number_of_bot[label] for label in results.labels), -1], dtype=np.int32)
    game_number = np.array([number_of_game[name] for name in results.games], dtype=np.int32)
    for piece in results.pieces:
        yield piece._replace(bots=number.take(piece.bots), games=game_number[piece.games])


def _table(
    pieces: list[tuple[int, Piece]], names: tuple[str, ...], games: tuple[str, ...], counts: NDArray[np.bool_] | None
) -> ResultTable:
    """Return the table of pieces, each with the number of its tournament; empties the list to save memory."""
    ends = np.cumsum([len(piece.bots) for _, piece in pieces]).tolist()
    begins = [end for end, ((one, _), (other, _)) in zip(ends, pairwise(pieces), strict=False) if one != other]
    if counts is not None:  # nobody else asks for hashes
        pieces = [(one, piece._replace(openings=NO_HASHES, actions=NO_HASHES)) for one, piece in pieces]
    joined = Piece.joined([piece for _, piece in pieces])
    pieces.clear()  # a million matches take fifty megabytes
    is_start = np.diff(joined.encounters, prepend=-1) != 0
    is_start[begins] = True
    starts = np.flatnonzero(is_start)
    return ResultTable(
        labels=names,
        games=games,
        game=joined.games,
        bots=joined.bots,
        ranks=joined.ranks,
        rated=counting([joined]) if counts is None else counts,
        starts=starts,
        occurrences=np.ones(len(starts), dtype=np.int64),
    )


def _has_repeated_bot(bots: NDArray[np.integer]) -> NDArray[np.bool_]:
    is_repeated = np.zeros(len(bots), dtype=np.bool_)
    for one, other in combinations(bots.T, 2):
        is_repeated |= (one == other) & (one >= 0)
    return is_repeated
