"""The table of pages."""

from __future__ import annotations

from arena.site.models.games import GamePage, GameParameters, GamesPage, GamesParameters
from arena.site.models.health import HealthPage, HealthParameters
from arena.site.models.match import MatchPage, MatchParameters
from arena.site.models.overview import OverviewPage, OverviewParameters
from arena.site.models.tournament import TournamentPage, TournamentParameters
from arena.site.page import Lane, Page

PAGES: tuple[Page, ...] = (
    Page(
        name="overview",
        summary="What is here, what is being played, and the latest results.",
        path="/",
        parameters=OverviewParameters,
        model=OverviewPage,
        builder="arena.site.build.overview:build_overview",
        lane=Lane.ROWS,
        template="overview.html.jinja",
        room="overview",
        topics=("arena",),
    ),
    Page(
        name="tournament",
        summary="A tournament: what its standings say, the standings, who beat whom, and the latest results.",
        path="/tournaments/{tournament}",
        parameters=TournamentParameters,
        model=TournamentPage,
        builder="arena.site.build.tournament:build_tournament",
        lane=Lane.RATINGS,
        template="tournament.html.jinja",
        room="overview",
        topics=("tournaments/{tournament}",),
    ),
    Page(
        name="health",
        summary="Whether the server can read its store, and what it runs.",
        path="/health",
        parameters=HealthParameters,
        model=HealthPage,
        builder="",
        lane=Lane.SERVER,
        template="health.html.jinja",
    ),
    Page(
        name="match",
        summary="A match, ply by ply: the board, both clocks, notes and faults.",
        path="/tournaments/{tournament}/matches/{match}",
        parameters=MatchParameters,
        model=MatchPage,
        builder="arena.site.build.match:build_match",
        lane=Lane.BOARDS,
        template="match.html.jinja",
        room="overview",
        topics=("tournaments/{tournament}/matches/{match}",),
    ),
    Page(
        name="games",
        summary="The games, each in a sentence.",
        path="/games",
        parameters=GamesParameters,
        model=GamesPage,
        builder="arena.site.build.games:build_games",
        lane=Lane.BOARDS,
        template="games.html.jinja",
        room="games",
        topics=("arena",),
    ),
    Page(
        name="game",
        summary="A game: its rules and options, and a board to try actions on.",
        path="/games/{game}",
        parameters=GameParameters,
        model=GamePage,
        builder="arena.site.build.game:build_game",
        lane=Lane.BOARDS,
        template="game.html.jinja",
        room="games",
    ),
)

PAGE_BY_NAME = {page.name: page for page in PAGES}
