"""What a published folder has, and in which files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.site.pages import PAGE_BY_NAME

MATCHES_IN_A_DIRECTORY = 1000
RECORDS = "records"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a folder has.

    Attributes:
        tournaments: the directory of each tournament.
        bots: the file of each bot, by ``NAME`` and by ``NAME@VERSION``.
        games: the file of each game.
        matches: those with a page, by tournament.
        pairs: the bots and rivals with a page for each pair.
        lists: where the pages of a tournament's list of matches begin, by tournament; filled while they are written.
    """

    tournaments: Mapping[str, str]
    bots: Mapping[str, str]
    games: Mapping[str, str]
    matches: Mapping[str, frozenset[int]]
    pairs: frozenset[tuple[str, str]]
    lists: dict[str, set[str]] = field(default_factory=dict)

    def place(self, name: str, values: Mapping[str, Any]) -> str | None:
        """Return the file of a page, from the folder and without its ending; None if it is not there."""
        page, place = PAGE_BY_NAME.get(name), _PLACES.get(name)
        if page is None or place is None:
            return None
        defaults = {key: one.default for key, one in page.parameters.model_fields.items()}
        query = {
            key: value
            for key, value in values.items()
            if key not in page.path_fields and value != defaults.get(key, value)
        }
        return place(self, values, query)

    def records(self, tournament: str) -> str:
        """Return the file with all that is stored of a tournament."""
        return f"{RECORDS}/{self.tournaments[tournament]}.jsonl"


Values = Mapping[str, Any]
Place = Callable[[Contents, Values, Values], str | None]
"""Returns the file of a page from the fields of its path and those of its query that are not at their default."""


def _fixed(file: str) -> Place:
    return lambda contents, values, query: None if query else file


def _tournament(contents: Contents, values: Values, query: Values) -> str | None:
    directory = contents.tournaments.get(values["tournament"])
    return None if query or directory is None else f"tournaments/{directory}/index"


def _why(contents: Contents, values: Values, query: Values) -> str | None:
    directory, bot = contents.tournaments.get(values["tournament"]), contents.bots.get(values["bot"])
    return None if query or directory is None or bot is None else f"tournaments/{directory}/bots/{bot}"


def _matches(contents: Contents, values: Values, query: Values) -> str | None:
    name = values["tournament"]
    directory = contents.tournaments.get(name)
    if directory is None or set(query) - {"after"}:
        return None
    if not query:
        return f"tournaments/{directory}/matches/index"
    after = str(query["after"])
    return f"tournaments/{directory}/matches/after-{after}" if after in contents.lists.get(name, ()) else None


def _match(contents: Contents, values: Values, query: Values) -> str | None:
    name, number = values["tournament"], int(values["match"])
    directory = contents.tournaments.get(name)
    if query or directory is None or number not in contents.matches[name]:
        return None
    return f"tournaments/{directory}/matches/{number // MATCHES_IN_A_DIRECTORY}/{number}"


def _bot(contents: Contents, values: Values, query: Values) -> str | None:
    bot = contents.bots.get(values["bot"])
    return None if query or bot is None else f"bots/{bot}/index"


def _versus(contents: Contents, values: Values, query: Values) -> str | None:
    bot, rival = contents.bots.get(values["bot"]), contents.bots.get(values["rival"])
    is_there = (values["bot"], values["rival"]) in contents.pairs and not query
    return f"bots/{bot}/versus/{rival}" if is_there else None


def _of_game(directory: str) -> Place:
    def place(contents: Contents, values: Values, query: Values) -> str | None:
        game = contents.games.get(values["game"])
        return None if query or game is None else f"{directory}/{game}"

    return place


_PLACES: Mapping[str, Place] = {
    "overview": _fixed("index"),
    "tournament": _tournament,
    "why": _why,
    "matches": _matches,
    "match": _match,
    "bots": _fixed("bots/index"),
    "bot": _bot,
    "versus": _versus,
    "leaderboards": _fixed("leaderboards/index"),
    "leaderboard": _of_game("leaderboards"),
    "games": _fixed("games/index"),
    "game": _of_game("games"),
}
