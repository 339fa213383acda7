"""The table of pages."""

from __future__ import annotations

from arena.site.models.bot_profile import BotParameters, BotProfilePage
from arena.site.models.bots import BotsPage, BotsParameters
from arena.site.models.games import GamePage, GameParameters, GamesPage, GamesParameters
from arena.site.models.health import HealthPage, HealthParameters
from arena.site.models.leaderboard import (
    LeaderboardPage,
    LeaderboardParameters,
    LeaderboardsPage,
    LeaderboardsParameters,
)
from arena.site.models.match import MatchPage, MatchParameters
from arena.site.models.matches import MatchesPage, MatchesParameters
from arena.site.models.overview import OverviewPage, OverviewParameters
from arena.site.models.tournament import TournamentPage, TournamentParameters
from arena.site.models.versus import VersusPage, VersusParameters
from arena.site.models.why import WhyPage, WhyParameters
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
        name="bots",
        summary="All bots that were submitted or entered: their games, and their best ranks.",
        path="/bots",
        parameters=BotsParameters,
        model=BotsPage,
        builder="arena.site.build.bots:build_bots",
        lane=Lane.RATINGS,
        template="bots.html.jinja",
        room="bots",
        topics=("arena",),
    ),
    Page(
        name="leaderboards",
        summary="The best bots of each game, and the seasons.",
        path="/leaderboards",
        parameters=LeaderboardsParameters,
        model=LeaderboardsPage,
        builder="arena.site.build.leaderboard:build_leaderboards",
        lane=Lane.RATINGS,
        template="leaderboards.html.jinja",
        room="leaderboards",
        topics=("arena",),
    ),
    Page(
        name="leaderboard",
        summary="Every bot that has played a game, rated over all tournaments, those of a season, or one.",
        path="/leaderboards/{game}",
        parameters=LeaderboardParameters,
        model=LeaderboardPage,
        builder="arena.site.build.leaderboard:build_leaderboard",
        lane=Lane.RATINGS,
        template="leaderboard.html.jinja",
        room="leaderboards",
        topics=("arena",),
    ),
    Page(
        name="bot",
        summary="A bot, in all its versions or in one: ratings over time, rivals, faults, latest matches.",
        path="/bots/{bot}",
        parameters=BotParameters,
        model=BotProfilePage,
        builder="arena.site.build.bot_profile:build_bot_profile",
        lane=Lane.RATINGS,
        template="bot_profile.html.jinja",
        room="bots",
        topics=("arena",),
    ),
    Page(
        name="versus",
        summary="Two bots, or two versions of a bot, against each other.",
        path="/bots/{bot}/versus/{rival}",
        parameters=VersusParameters,
        model=VersusPage,
        builder="arena.site.build.versus:build_versus",
        lane=Lane.RATINGS,
        template="versus.html.jinja",
        room="bots",
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
        name="why",
        summary="Why a bot has its rank: what each rival did to its rating, and its most surprising encounters.",
        path="/tournaments/{tournament}/bots/{bot}",
        parameters=WhyParameters,
        model=WhyPage,
        builder="arena.site.build.why:build_why",
        lane=Lane.RATINGS,
        template="why.html.jinja",
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
        name="matches",
        summary="The matches of a tournament, by bot, game, how they ended and fault.",
        path="/tournaments/{tournament}/matches",
        parameters=MatchesParameters,
        model=MatchesPage,
        builder="arena.site.build.matches:build_matches",
        lane=Lane.ROWS,
        template="matches.html.jinja",
        room="overview",
        topics=("tournaments/{tournament}",),
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
