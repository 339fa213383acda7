"""What the page of a person shows."""

from __future__ import annotations

from collections.abc import Mapping

from arena.site.frame.model import ModelOfBots, Name, Parameters, Sentence, Table
from arena.site.pages.bot_profile_model import BotRating, EnteredTournament
from arena.site.pages.overview_model import ListedBot
from arena.site.pages.results_model import ListedResult
from arena.site.pages.standings_model import RatingPoint


class PersonParameters(Parameters):
    """The address of the page of a person."""

    person: Name


class PersonPage(ModelOfBots):
    """A person who has submitted bots that were accepted.

    Attributes:
        ratings: on the leaderboards of games, of all versions.
        tournaments: the latest that their bots entered, with a line for each bot.
        entered: how many tournaments their bots entered in all.
        results: the latest.
        history: of the versions in ladders, after some of their rounds.
    """

    person: str
    verdict: Sentence
    bots: tuple[ListedBot, ...]
    ratings: tuple[BotRating, ...]
    tournaments: tuple[EnteredTournament, ...]
    entered: int
    results: tuple[ListedResult, ...]
    history: tuple[RatingPoint, ...]
    left_out: tuple[str, ...]

    def tables(self) -> Mapping[str, Table]:
        """Return the table of ratings."""
        keys = ("game", "bot", "rank", "bots", "mu", "margin_95", "matches")
        rows = [
            {key: getattr(one.line, key, None) for key in keys}
            | {"game": one.game, "bot": one.line.label, "bots": one.bots}
            for one in self.ratings
        ]
        return {"ratings": Table.of(keys, rows)}
