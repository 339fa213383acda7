"""Two bots, or two versions of a bot, against each other."""

from __future__ import annotations

from collections.abc import Mapping

from arena.analysis.text.tables import Column, Row
from arena.site.frame.model import Model, ModelOfBots, Name, Parameters, Table
from arena.site.frame.sentence import Sentence
from arena.site.pages.results_model import ListedResult


class VersusParameters(Parameters):
    """The address of a page about two bots.

    Attributes:
        bot: NAME (all its versions) or NAME@VERSION.
        rival: the same.
    """

    bot: Name
    rival: Name


class HeadToHead(Model):
    """How a bot did against a rival, in all matches or in some.

    Attributes:
        wins: matches in which it came out ahead.
        draws: matches in which they tied.
        losses: matches in which the rival came out ahead.
        duplicates: how many of these matches do not count for the score: the same match from the same opening again.
        encounters: how many count for the score.
        score_percent: the mean over encounters of its share of points; None without one.
        margin_percent: half the width of the 95 % interval; None without a score.
    """

    wins: int
    draws: int
    losses: int
    duplicates: int
    encounters: int
    score_percent: float | None
    margin_percent: float | None


class HeadToHeadPart(HeadToHead):
    """The same in a part of the matches.

    Attributes:
        part: the name of a game or of a tournament, the number of a seat, or the two versions that met.
    """

    part: str


class VersusPage(ModelOfBots):
    """Two bots against each other.

    Attributes:
        bot: as the address has it.
        rival: the same.
        bots: the versions that are meant, ``name@version`` each.
        rivals: the same.
        verdict: who is better, in sentences.
        method: how the score and its interval were computed.
        better: the one of the two that is better at 95 %; None if that can't be known yet.
        encounters_to_go: about how many more encounters would decide at this score; None if it is decided, or
            nobody can say.
        total: over all matches.
        games: by game.
        tournaments: by tournament, the latest first.
        seats: by the bot's seat.
        versions: by the versions that met, if there are several.
        results: the latest matches, the last first.
        left_out: why something that is stored is missing here, in sentences.
    """

    bot: str
    rival: str
    bots: tuple[str, ...]
    rivals: tuple[str, ...]
    verdict: Sentence
    method: str
    better: str | None
    encounters_to_go: int | None
    total: HeadToHead
    games: tuple[HeadToHeadPart, ...]
    tournaments: tuple[HeadToHeadPart, ...]
    seats: tuple[HeadToHeadPart, ...]
    versions: tuple[HeadToHeadPart, ...]
    results: tuple[ListedResult, ...]
    left_out: tuple[str, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return its tables."""
        return {
            "games": _table("game", self.games),
            "tournaments": _table("tournament", self.tournaments),
            "seats": _table("seat", self.seats),
            "versions": _table("versions", self.versions),
        }


def _table(part: str, parts: tuple[HeadToHeadPart, ...]) -> Table:
    columns = [
        Column(part, part, is_number=False),
        Column("wins", "W"),
        Column("draws", "D"),
        Column("losses", "L"),
        Column("duplicates", "duplicates"),
        Column("encounters", "encounters"),
        Column("score_percent", "score %", 1),
        Column("margin_percent", "± 95 %", 1),
    ]
    rows: list[Row] = [{**one.model_dump(exclude={"part"}), part: one.part} for one in parts]
    return Table(columns, rows)
