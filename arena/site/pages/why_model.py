"""Why a bot has its rank: what its matches with each rival did to its rating, and its most surprising encounters."""

from __future__ import annotations

from collections.abc import Mapping

from arena.analysis.text.tables import Column
from arena.site.frame.model import Model, ModelOfTournament, Name, Parameters, Table
from arena.site.frame.sentence import Sentence
from arena.site.pages.standings_model import StandingLine


class WhyParameters(Parameters):
    """The address of the page.

    Attributes:
        tournament: its name.
        bot: ``name@version``, or the name if no other version takes part.
    """

    tournament: Name
    bot: Name


class RivalLine(Model):
    """A bot's matches with a rival, those that count for ratings.

    Attributes:
        rival: ``name@version``.
        name: what tables call it.
        mu: the rival's rating.
        matches: their number.
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
        rivals: ``name@version`` each.
        names: what tables call them.
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


class WhyPage(ModelOfTournament):
    """Why a bot has its rank.

    Attributes:
        tournament: its name.
        bot: ``name@version``.
        name: what tables call it.
        verdict: the reasons in a sentence or two.
        standing: its line in the standings; None if it has none.
        bots: how many lines the standings have.
        players: the most in a match.
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
        rivals = [
            Column("rival", "rival", is_number=False),
            Column("mu", "mu", 2),
            Column("matches", "matches"),
            Column("points", "points", 1),
            Column("expected_points", "expected", 1),
            Column("influence", "influence", 2),
        ]
        surprises = [
            Column("encounter", "encounter"),
            Column("occurrences", "times"),
            Column("rivals", "rivals", is_number=False),
            Column("matches", "matches", is_number=False),
            Column("points", "points", 1),
            Column("expected_points", "expected", 1),
            Column("probability", "probability", 4),
        ]
        return {
            "rivals": Table(
                rivals, [{column.key: getattr(line, column.key) for column in rivals} for line in self.rivals]
            ),
            "surprises": Table(
                surprises,
                [
                    {column.key: getattr(one, column.key) for column in surprises}
                    | {"rivals": " ".join(one.rivals), "matches": " ".join(map(str, one.matches))}
                    for one in self.surprises
                ],
            ),
        }
