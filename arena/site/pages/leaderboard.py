"""Builds leaderboards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.analysis.measures.leaderboards import Leaderboard, history_over_tournaments, keep_leaderboard, points_of
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.values import RatingPoint
from arena.base.errors import UnknownNameError
from arena.games import GAMES
from arena.site.frame.building import Reading
from arena.site.frame.model import Parameters
from arena.site.pages.standings import MAX_HISTORY_MATCHES, findings, standing_line, standings_sentence
from arena.site.pages.standings_model import (
    MAX_CHARTED,
    GameLeaders,
    LeaderboardPage,
    LeaderboardParameters,
    LeaderboardsPage,
    ListedSeason,
)
from arena.store.home import ArenaHome
from arena.store.results.scope import ALL_BUT_COMPARISONS, Scope
from arena.store.results.values import StoredTournament

MAX_LEADERS = 3
MAX_SNAPSHOTS = 40
"""Tournaments of the history: its chart has no room for more."""


def build_leaderboard(home: ArenaHome, parameters: LeaderboardParameters) -> LeaderboardPage:
    """Return the leaderboard of a game.

    Raises:
        UnknownNameError: if there is no such game, season or tournament.
        StoreError: if the season has no tournament any more, or a record is malformed.
    """
    store, game = home.store, parameters.game
    reading = Reading()
    everything = reading.readable(store.tournaments())
    known = {name for tournament in everything for name in tournament.games}
    if game not in known and game not in GAMES:
        raise UnknownNameError("game", game, sorted(known | set(GAMES)))
    named = () if parameters.tournament is None else (parameters.tournament,)
    scope = reading.scope(store, Scope(tournaments=named, season=parameters.season))
    counting = [tournament for tournament in store.tournaments(scope) if game in tournament.games]
    table = standings_of(store, scope, game)
    keep_leaderboard(store, [one for one in counting if one.recorded], game, home.cache_directory, table)
    by_name = {tournament.name: tournament for tournament in everything}
    return LeaderboardPage(
        game=game,
        season=parameters.season,
        tournaments=tuple(tournament.name for tournament in counting if tournament.recorded),
        verdict=standings_sentence(table),
        players=table.players,
        matches=table.matches,
        standings=tuple(map(standing_line, table.lines)),
        findings=tuple(findings(table)) if table.matches else (),
        history=tuple(_history(home, scope, game, counting, [line.label for line in table.lines[:MAX_CHARTED]])),
        seasons=tuple(
            season.name
            for season in store.seasons.all()
            if any(name in by_name and game in by_name[name].games for name in season.tournaments)
        ),
        left_out=reading.left_out,
    )


def _history(
    home: ArenaHome, scope: Scope, game: str, counting: Sequence[StoredTournament], bots: Sequence[str]
) -> Iterator[RatingPoint]:
    after = [tournament.name for tournament in counting if tournament.recorded][-MAX_SNAPSHOTS:]
    cache, most = home.cache_directory, MAX_HISTORY_MATCHES
    snapshots = history_over_tournaments(home.store, game, scope, after, cache_directory=cache, max_matches=most)
    for bot in bots:
        yield from (point for point in points_of(snapshots, game, bot) if point.margin_95 is not None)


def build_leaderboards(home: ArenaHome, _: Parameters) -> LeaderboardsPage:
    """Return the first bots of each game."""
    reading = Reading()
    everything = reading.readable(home.store.tournaments())
    by_name = {tournament.name: tournament for tournament in everything}
    counting = [one for one in everything if one.recorded and ALL_BUT_COMPARISONS.includes(one.format, one.created_at)]
    games = sorted({game for one in counting for game in one.games})
    return LeaderboardsPage(
        games=tuple(_leaders(reading.leaderboard(home, counting, game), game, counting) for game in games),
        seasons=tuple(
            ListedSeason(
                name=season.name,
                tournaments=season.tournaments,
                games=tuple(
                    sorted({game for name in season.tournaments if name in by_name for game in by_name[name].games})
                ),
            )
            for season in home.store.seasons.all()
        ),
        left_out=reading.left_out,
    )


def _leaders(board: Leaderboard, game: str, counting: Sequence[StoredTournament]) -> GameLeaders:
    return GameLeaders(
        game=game,
        tournaments=sum(game in one.games and bool(one.recorded) for one in counting),
        matches=board.matches,
        bots=len(board.lines),
        leaders=tuple(map(standing_line, board.lines[:MAX_LEADERS])),
    )
