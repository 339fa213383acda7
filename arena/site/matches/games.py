"""The list of games: those of the arena, and those from elsewhere that tournaments here play."""

from __future__ import annotations

from arena.base.errors import ArenaError, UnknownNameError
from arena.games import GAMES, find_game
from arena.site.matches.games_model import GamesPage, GamesParameters, ListedGame
from arena.store.home import ArenaHome

MAX_EXTERNAL_GAMES = 100
MAX_TEXT_CHARACTERS = 1000


def build_games(home: ArenaHome, parameters: GamesParameters) -> GamesPage:
    """Build the list of games."""
    names = [*GAMES, *external_games(home)[:MAX_EXTERNAL_GAMES]]
    return GamesPage(games=tuple(map(_listed, names)))


def external_games(home: ArenaHome) -> list[str]:
    """Return the dotted paths of the games from elsewhere that tournaments here play, in order."""
    found = {choice.game for tournament in home.store.tournaments() for choice in tournament.definition.games}
    return sorted(found - set(GAMES))


def require_game(home: ArenaHome, name: str) -> None:
    """Raise UnknownNameError unless it is a game of the arena or of a tournament here: no other module is imported."""
    if name not in GAMES and name not in external_games(home):
        raise UnknownNameError("game", name, [*GAMES, *external_games(home)])


def problem_text(error: ArenaError) -> str:
    """Return why a game can't be loaded."""
    return str(error)[:MAX_TEXT_CHARACTERS]


def _listed(name: str) -> ListedGame:
    try:
        game = find_game(name)
    except ArenaError as error:
        return ListedGame(name=name, problem=problem_text(error))
    options = tuple(option.name for option in game.OPTIONS)
    return ListedGame(
        name=name,
        summary=game.summary[:MAX_TEXT_CHARACTERS],
        players="2 or more" if "players" in options else "2",
        options=options,
    )
