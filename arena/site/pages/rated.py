"""Standings and results of a tournament for pages: the last few are kept, as several pages need them."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property

from arena.analysis.measures.game_statistics import GameStatistics, statistics_of_results
from arena.analysis.measures.result_table import ResultTable, read_results
from arena.analysis.measures.standings import Standings
from arena.analysis.measures.standings_cache import tournament_standings
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament

MAX_KEPT = 4
"""A tournament of a million matches takes some fifty megabytes."""


_KEPT: OrderedDict[tuple[object, ...], RatedTournament] = OrderedDict()
"""What pages have asked for, the latest last."""


class RatedTournament:
    """The standings and the results of a tournament, as its records stood when it was first asked for.

    Attributes:
        tournament: as it is stored.
    """

    def __init__(self, home: ArenaHome, tournament: StoredTournament) -> None:
        """Prepare to read the results, when they are needed."""
        self._home = home
        self.tournament = tournament

    @cached_property
    def table(self) -> Standings:
        """The standings."""
        store, cache = self._home.store, self._home.cache_directory
        return tournament_standings(store, self.tournament, lambda: self.results, cache_directory=cache)

    @cached_property
    def results(self) -> ResultTable:
        """The results as arrays."""
        return read_results(self._home.store, self.tournament)

    @cached_property
    def statistics(self) -> tuple[GameStatistics, ...]:
        """The statistics of each game that has been played, in alphabetical order."""
        results = self.results
        return tuple(statistics_of_results(game, results.of_game(game)) for game in results.games)


def rated_tournament(home: ArenaHome, tournament: StoredTournament) -> RatedTournament:
    """Return standings and results of a tournament, computed once for each state of its records and owners of bots."""
    last = tournament.corrections[-1].number if tournament.corrections else 0
    key = (
        *(str(home.directory), home.store.server, tournament.number, tournament.name, tournament.created_at),
        *(tournament.recorded, tournament.scheduled, tournament.finished_at, last),
        tuple(map(tournament.owners.authorship, tournament.definition.entrants)),
    )
    if key not in _KEPT:
        _KEPT[key] = RatedTournament(home, tournament)
    _KEPT.move_to_end(key)
    while len(_KEPT) > MAX_KEPT:
        _KEPT.popitem(last=False)
    return _KEPT[key]
