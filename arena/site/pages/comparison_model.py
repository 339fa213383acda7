"""Bots compared: two of them head to head, and why one has its rank."""

from __future__ import annotations

from collections.abc import Mapping

from arena.site.frame.model import Model, ModelOfBots, ModelOfTournament, Name, Parameters, Sentence, Table
from arena.site.pages.results_model import ListedResult
from arena.site.pages.standings_model import StandingLine


class HeadToHeadParameters(Parameters):
    """The address of a page about two bots, each NAME (all its versions) or NAME@VERSION."""

    bot: Name
    rival: Name


class HeadToHead(Model):
    """How a bot did against a rival, in all matches or in some.

    Attributes:
        wins: matches in which it came out ahead of the rival.
        duplicates: how many of these matches do not count for the score: the same match from the same opening again.
        encounters: how many count for the score.
        score_percent: the mean over encounters of its share of points; None without one.
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


class HeadToHeadPage(ModelOfBots):
    """Two bots, or two versions of a bot, against each other.

    Attributes:
        method: how the score and its interval were computed.
        better: the one of the two that is better at 95 %; None while that is open.
        encounters_to_go: about how many more encounters would decide at this score; None if it is decided, or
            nobody knows.
        seats: by the bot's seat.
        versions: by the versions that met, if there are several.
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
    keys = (part, *HeadToHead.model_fields)
    rows = [{**one.model_dump(exclude={"part"}), part: one.part} for one in parts]
    return Table.of(keys, rows, {"score_percent": 1, "margin_percent": 1})


class ExplanationParameters(Parameters):
    """The address of the page; the bot is ``name@version``, or the name if no other version takes part."""

    tournament: Name
    bot: Name


class RivalLine(Model):
    """A bot's matches with a rival, those that count for ratings.

    Attributes:
        points: scored in them against this rival.
        expected_points: what the ratings expect.
        influence: how much higher the bot's rating is because of them; None in very large fields.
    """

    rival: str
    name: str
    mu: float
    matches: int
    points: float
    expected_points: float
    influence: float | None


class SurprisingEncounter(Model):
    """An encounter whose result was surprising.

    Attributes:
        encounter: its number; the first of several with the same rivals and points.
        occurrences: how many encounters had these rivals and points.
        matches: the numbers of its matches that count for ratings.
        points: of the bot in them.
        expected_points: what the ratings expect.
        probability: of points at least as far from that, on the same side.
    """

    encounter: int
    occurrences: int
    rivals: tuple[str, ...]
    names: tuple[str, ...]
    matches: tuple[int, ...]
    points: float
    expected_points: float
    probability: float


class ExplanationPage(ModelOfTournament):
    """Why a bot has its rank: what each rival did to its rating, and its most surprising encounters.

    Attributes:
        rivals: those with the largest influence first.
        surprises: the most surprising encounters first.
        encounters: how many it had that count for ratings.
    """

    tournament: str
    bot: str
    name: str
    verdict: Sentence
    standing: StandingLine | None
    bots: int
    players: int
    rivals: tuple[RivalLine, ...]
    surprises: tuple[SurprisingEncounter, ...]
    encounters: int

    @property
    def largest_influence(self) -> float:
        """The largest influence of a rival, up or down."""
        return max((abs(line.influence or 0.0) for line in self.rivals), default=0.0)

    def tables(self) -> Mapping[str, Table]:
        """Return the tables of the page."""
        rivals = ("rival", "mu", "matches", "points", "expected_points", "influence")
        surprises = [
            one.model_dump(exclude={"names"})
            | {"rivals": " ".join(one.rivals), "matches": " ".join(map(str, one.matches))}
            for one in self.surprises
        ]
        keys = (key for key in SurprisingEncounter.model_fields if key != "names")
        return {
            "rivals": Table.of(rivals, self.rivals, {"mu": 2, "points": 1, "expected_points": 1, "influence": 2}),
            "surprises": Table.of(keys, surprises, {"points": 1, "expected_points": 1, "probability": 4}),
        }
