"""An arena for bots: bot programs in, a rated table out.

What the commands do can also be called:

    from arena import ArenaHome, load_definition, run_tournament, standings_of

    if __name__ == "__main__":                      # workers are new Python processes that import this file
        definition = load_definition("arena:quickstart")
        with ArenaHome("my-arena") as home:         # the directory with the database
            run_tournament(definition, home.store)
            for line in standings_of(home.store, definition.name).lines:
                print(line.rank, line.bot, line.rating.exposure)

``make_game`` gives the rules of a game, ``load_bot`` a bot from disk, ``play_match`` plays a single match, ``submit``
takes a bot into the arena, ``standings_of(home.store, game=NAME)`` is a leaderboard, ``home.store.records(…)`` yields
what ``arena export`` prints, ``verify`` checks it, and ``rate_results`` rates results from anywhere.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.version import __version__

if TYPE_CHECKING:
    from arena.analysis.standings import Standing, Standings
    from arena.analysis.standings_cache import standings_of
    from arena.analysis.verification import verify
    from arena.conformance.submission import Submission, submit
    from arena.definition import Definition
    from arena.errors import ArenaError, UsageError
    from arena.games import make_game
    from arena.home import ArenaHome
    from arena.match.single_match import play_match
    from arena.players.manifest import load_bot
    from arena.ratings import Rating, rate_results
    from arena.records import Bot, MatchRecord, TimeControl
    from arena.tournament.definition import load_definition
    from arena.tournament.director import Progress, run_tournament

_HOMES = {
    "ArenaError": "arena.errors",
    "ArenaHome": "arena.home",
    "Bot": "arena.records",
    "Definition": "arena.definition",
    "MatchRecord": "arena.records",
    "Progress": "arena.tournament.director",
    "Rating": "arena.ratings",
    "Standing": "arena.analysis.standings",
    "Standings": "arena.analysis.standings",
    "Submission": "arena.conformance.submission",
    "TimeControl": "arena.records",
    "UsageError": "arena.errors",
    "load_bot": "arena.players.manifest",
    "load_definition": "arena.tournament.definition",
    "make_game": "arena.games",
    "play_match": "arena.match.single_match",
    "rate_results": "arena.ratings",
    "standings_of": "arena.analysis.standings_cache",
    "run_tournament": "arena.tournament.director",
    "submit": "arena.conformance.submission",
    "verify": "arena.analysis.verification",
}

__all__ = [
    "ArenaError",
    "ArenaHome",
    "Bot",
    "Definition",
    "MatchRecord",
    "Progress",
    "Rating",
    "Standing",
    "Standings",
    "Submission",
    "TimeControl",
    "UsageError",
    "__version__",
    "load_bot",
    "load_definition",
    "make_game",
    "play_match",
    "rate_results",
    "run_tournament",
    "standings_of",
    "submit",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: bots import this package too, and should start quickly."""
    if name not in _HOMES:
        raise AttributeError(f"module 'arena' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
