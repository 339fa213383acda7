"""All bots that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Len

from arena.analysis.text.tables import Column, Row
from arena.site.frame.model import Model, Name, Parameters, Table


class BotsParameters(Parameters):
    """The address of the list of bots.

    Attributes:
        search: only bots with this in their name or in that of their author; empty for all.
        after: only bots that come after this name; None for the first.
    """

    search: Annotated[str, Len(0, 200)] = ""
    after: Name | None = None


class BestRank(Model):
    """The best rank of a bot on a leaderboard.

    Attributes:
        game: of the leaderboard.
        bot: ``name@version``.
        rank: its rank.
        bots: how many are on the leaderboard.
    """

    game: str
    bot: str
    rank: int
    bots: int


class ListedBot(Model):
    """A bot, with all its versions.

    Attributes:
        name: its name.
        versions: the latest first.
        author: whose the latest is; without an owner, who wrote it by its bot.toml; empty when unknown.
        is_author_claimed: whether the author is known by the words of the bot alone.
        games: what it has played, or is to play.
        tournaments: how many it has entered.
        best: its best rank, by the share of the leaderboard above it; None without a line on one.
    """

    name: str
    versions: tuple[str, ...]
    author: str
    is_author_claimed: bool = False
    games: tuple[str, ...]
    tournaments: int
    best: BestRank | None


class BotsPage(Model):
    """Bots by name, some at a time.

    Attributes:
        search: what was looked for; empty for all.
        bots: the next hundred.
        found: how many there are in all.
        next: the name after which the following page begins; None on the last.
        left_out: why something that is stored is missing here, in sentences.
    """

    search: str
    bots: tuple[ListedBot, ...]
    found: int
    next: str | None
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return its table."""
        texts = ("name", "versions", "author", "games", "best_game")
        columns = [Column(key, key, is_number=False) for key in texts]
        columns += [Column(key, key) for key in ("best_rank", "best_of", "tournaments")]
        rows: list[Row] = [
            {
                "name": bot.name,
                "versions": ", ".join(bot.versions),
                "author": bot.author,
                "games": ", ".join(bot.games),
                "best_game": bot.best.game if bot.best else None,
                "best_rank": bot.best.rank if bot.best else None,
                "best_of": bot.best.bots if bot.best else None,
                "tournaments": bot.tournaments,
            }
            for bot in self.bots
        ]
        return {"bots": Table(columns, rows)}
