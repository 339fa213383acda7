"""How far a tournament has got, and its rounds: the bracket of a knockout, the cards of a Swiss."""

from __future__ import annotations

from arena.analysis.measures.values import CardRound
from arena.site.frame.model import Model, Table


class PlayingMatch(Model):
    """A match that is being played.

    Attributes:
        ply: actions so far; None if nobody watches it: then nobody knows.
    """

    match: int
    names: tuple[str, ...]
    ply: int | None = None


class Progress(Model):
    """The progress of a tournament.

    Attributes:
        expected: how many there will be; None if that is open.
        matches_per_second: in the last while; None at the beginning.
        seconds_left: about; None if that is not known.
        estimated_at: when (UTC, ISO 8601) it was that long; None if that is not known.
        status: the state of the format in a few words; may be empty.
    """

    recorded: int
    expected: int | None
    matches_per_second: float | None = None
    seconds_left: float | None = None
    estimated_at: str | None = None
    status: str = ""
    playing: tuple[PlayingMatch, ...] = ()

    @property
    def share(self) -> float | None:
        """How much of it has been played, from 0 to 1; None if the end is open."""
        return self.recorded / self.expected if self.expected else None


class ShownSide(Model):
    """An entrant in a duel of a bracket.

    Attributes:
        bot: its name; None while the duel before is open.
        seed: its place in the seeding, from 1; None without an entrant.
        score: the encounters it has won, a drawn one counting half; None before the first.
        departed: how it has left, "withdrawn" or "disqualified"; empty if it has not.
    """

    bot: str | None
    label: str | None
    seed: int | None
    score: float | None
    won: bool
    departed: str = ""


class ShownDuel(Model):
    """A duel of a bracket, its upper and its lower entrant.

    Attributes:
        is_bye: whether there is only one.
        is_fed: whether a duel before it was played, or will be.
        decided: what decided it if the encounters did not; may be empty.
    """

    sides: tuple[ShownSide, ShownSide]
    is_bye: bool
    is_fed: bool
    decided: str


class ShownStage(Model):
    """A stage of a bracket, such as "final".

    Attributes:
        duels: from the top; the winners of two neighbours meet in the next stage.
    """

    name: str
    duels: tuple[ShownDuel, ...]


class ShownCard(Model):
    """An entrant of a Swiss with all its rounds.

    Attributes:
        number: its line, from 1, by which other cards name it.
        departed: how it has left, "withdrawn" or "disqualified"; empty if it has not.
    """

    number: int
    rank: int
    bot: str
    label: str
    rounds: tuple[CardRound, ...]
    total: float
    departed: str = ""


class ShownRounds(Model):
    """The rounds that a tournament has played.

    Attributes:
        last: the number of the last round in the schedule.
        current: the number of the first round that is not complete; the last one if all are.
        status: the state of the tournament in a few words.
    """

    last: int
    current: int
    status: str
    bracket: tuple[ShownStage, ...] = ()
    cards: tuple[ShownCard, ...] = ()

    def table(self) -> Table:
        """Return the bracket or the cards as CSV has them: a line for each duel, or each round of each entrant."""
        if self.bracket:
            return Table.of(
                ("stage", "bot", "rival", "score", "rival_score", "winner"),
                [
                    {
                        "stage": stage.name,
                        "bot": duel.sides[0].bot,
                        "rival": duel.sides[1].bot,
                        "score": duel.sides[0].score,
                        "rival_score": duel.sides[1].score,
                        "winner": next((side.bot for side in duel.sides if side.won), None),
                    }
                    for stage in self.bracket
                    for duel in stage.duels
                ],
            )
        return Table.of(
            ("bot", "round", "rival", "score", "total"),
            [
                {"bot": card.bot, "round": number, "rival": cell.rival, "score": cell.score, "total": cell.total}
                for card in self.cards
                for number, cell in enumerate(card.rounds, 1)
            ],
        )
