"""The table of pages of what is stored; ``server/operations`` has those of people who sign in, ask or play."""

from __future__ import annotations

from arena.site.frame.model import Lane, Page, Parameters
from arena.site.matches.games_model import (
    GamePage,
    GameParameters,
    GamesPage,
    PuzzlePage,
    PuzzleParameters,
    PuzzlesPage,
    PuzzlesParameters,
    TodayPage,
    TodayParameters,
)
from arena.site.matches.match_model import MatchPage, MatchParameters
from arena.site.pages.bot_profile_model import BotParameters, BotProfilePage, PersonPage, PersonParameters
from arena.site.pages.comparison_model import (
    ExplanationPage,
    ExplanationParameters,
    HeadToHeadPage,
    HeadToHeadParameters,
)
from arena.site.pages.overview_model import (
    BotsPage,
    BotsParameters,
    HealthPage,
    OverviewPage,
    OverviewParameters,
)
from arena.site.pages.results_model import MatchesPage, MatchesParameters
from arena.site.pages.standings_model import (
    LeaderboardPage,
    LeaderboardParameters,
    LeaderboardsPage,
)
from arena.site.pages.tournament_model import TournamentPage, TournamentParameters

ROWS, RATINGS, BOARDS = Lane.ROWS, Lane.RATINGS, Lane.BOARDS

OF_TOURNAMENT = "tournaments/{tournament}"
"""The topic of what changes with any part of a tournament."""

PAGES: tuple[Page, ...] = (
    Page("overview", "/", OverviewParameters, OverviewPage, ROWS, "pages.overview"),
    Page("bots", "/bots", BotsParameters, BotsPage, RATINGS, "pages.overview", room="bots"),
    Page(
        "leaderboards", "/leaderboards", Parameters, LeaderboardsPage, RATINGS, "pages.leaderboard", room="leaderboards"
    ),
    Page(
        "leaderboard",
        "/leaderboards/{game}",
        LeaderboardParameters,
        LeaderboardPage,
        RATINGS,
        "pages.leaderboard",
        "games/{game}",
        "leaderboards",
    ),
    Page(
        "bot",
        "/bots/{bot}",
        BotParameters,
        BotProfilePage,
        RATINGS,
        "pages.bot_profile",
        "bots/{bot}",
        room="bots",
        freshener="pages.results:with_first_ratings",
        has_feed=True,
    ),
    Page("person", "/people/{person}", PersonParameters, PersonPage, RATINGS, "pages.bot_profile", room="bots"),
    Page(
        "versus",
        "/bots/{bot}/versus/{rival}",
        HeadToHeadParameters,
        HeadToHeadPage,
        RATINGS,
        "pages.comparison:build_head_to_head",
        "bots/{bot}/versus/{rival}",
        "bots",
    ),
    Page(
        "tournament",
        "/tournaments/{tournament}",
        TournamentParameters,
        TournamentPage,
        RATINGS,
        "pages.tournament",
        OF_TOURNAMENT,
        has_feed=True,
    ),
    Page(
        "why",
        "/tournaments/{tournament}/bots/{bot}",
        ExplanationParameters,
        ExplanationPage,
        RATINGS,
        "pages.comparison:build_explanation",
        OF_TOURNAMENT,
    ),
    Page("health", "/health", Parameters, HealthPage, Lane.SERVER, topic="", room=""),
    Page(
        "matches",
        "/tournaments/{tournament}/matches",
        MatchesParameters,
        MatchesPage,
        ROWS,
        "pages.results",
        OF_TOURNAMENT,
    ),
    Page(
        "match",
        "/tournaments/{tournament}/matches/{match}",
        MatchParameters,
        MatchPage,
        BOARDS,
        "matches.match",
        "tournaments/{tournament}/matches/{match}",
    ),
    Page(
        "puzzles",
        "/tournaments/{tournament}/puzzles",
        PuzzlesParameters,
        PuzzlesPage,
        BOARDS,
        "matches.game",
        OF_TOURNAMENT,
    ),
    Page(
        "puzzle",
        "/tournaments/{tournament}/puzzles/{puzzle}",
        PuzzleParameters,
        PuzzlePage,
        BOARDS,
        "matches.game",
        OF_TOURNAMENT,
    ),
    Page("today", "/puzzles/today", TodayParameters, TodayPage, BOARDS, "matches.game", room="games"),
    Page("games", "/games", Parameters, GamesPage, BOARDS, "matches.positions", room="games"),
    Page("game", "/games/{game}", GameParameters, GamePage, BOARDS, "matches.game", topic="", room="games"),
)

PAGE_BY_NAME = {page.name: page for page in PAGES}
