"""The bracket of a knockout and the round cards of a Swiss, with the names of their entrants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from arena.tournament.formats.knockout import DecidedBy, Duel, Knockout
from arena.tournament.formats.swiss import Swiss
from arena.tournament.formats.tie_breaks import CardLine


@dataclass(frozen=True, slots=True, kw_only=True)
class BracketDuel:
    """A duel of a bracket.

    Attributes:
        bots: the upper and the lower entrant; None for the empty place beside a bye, or while the duel before is open.
        seeds: of both, from 1; None where there is no entrant.
        score: the encounters that each has won, a drawn one counting half.
        points: of each, in the matches of all encounters.
        winner: who advances; None while that is open.
        decided_by: what decided it; None while it is open.
    """

    bots: tuple[str | None, str | None]
    seeds: tuple[int | None, int | None]
    score: tuple[float, float]
    points: tuple[float, float]
    winner: str | None
    decided_by: DecidedBy | None

    @property
    def has_begun(self) -> bool:
        """Whether an encounter has been played."""
        return sum(self.score) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """All stages of a knockout; the winners of neighbouring duels meet in the next one."""

    stages: tuple[tuple[BracketDuel, ...], ...]

    @property
    def winner(self) -> str | None:
        """The winner of the final; None while that is open."""
        return self.stages[-1][0].winner


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRound:
    """A round of one entrant of a Swiss.

    Attributes:
        rival: whom it met; None without a rival, as in a bye.
        rival_number: the rival's line in the table, from 1.
        score: what the round counts.
        points: of the entrant and the rival in the matches of their meeting; None without a rival.
        total: the score after this round.
    """

    rival: str | None
    rival_number: int | None
    score: float
    points: tuple[float, float] | None
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCard:
    """An entrant of a Swiss with all its rounds.

    Attributes:
        number: its line in the table, from 1, by which other cards name it.
        rank: in the table.
        bot: its name.
        rounds: in order.
        total: its score.
    """

    number: int
    rank: int
    bot: str
    rounds: tuple[CardRound, ...]
    total: float


def bracket_of(knockout: Knockout) -> Bracket:
    """Return the bracket of a knockout with the names of its entrants."""
    seeds = {placing.entrant: placing.values["seed"] for placing in knockout.ranking()}
    names = knockout.field.names

    def named(duel: Duel) -> BracketDuel:
        upper, lower = duel.entrants
        return BracketDuel(
            bots=(None if upper is None else names[upper], None if lower is None else names[lower]),
            seeds=(None if upper is None else seeds[upper], None if lower is None else seeds[lower]),
            score=duel.score,
            points=(sum(mine for mine, _ in duel.points), sum(yours for _, yours in duel.points)),
            winner=None if duel.winner is None else names[duel.winner],
            decided_by=duel.decided_by,
        )

    return Bracket(stages=tuple(tuple(map(named, stage)) for stage in knockout.stages()))


def round_cards_of(swiss: Swiss) -> tuple[RoundCard, ...]:
    """Return the cards of a Swiss with the names of its entrants, in the order of the table."""
    ranking = swiss.ranking()
    names = swiss.field.names
    number_of = {placing.entrant: number for number, placing in enumerate(ranking, 1)}
    cards = swiss.cards()

    def card_rounds(card: Sequence[CardLine]) -> Iterator[CardRound]:
        for line, total in zip(card, accumulate(line.score for line in card), strict=True):
            yield CardRound(
                rival=None if line.rival is None else names[line.rival],
                rival_number=None if line.rival is None else number_of[line.rival],
                score=line.score,
                points=line.points,
                total=total,
            )

    return tuple(
        RoundCard(
            number=number_of[placing.entrant],
            rank=placing.rank,
            bot=names[placing.entrant],
            rounds=tuple(card_rounds(cards[placing.entrant])),
            total=sum(line.score for line in cards[placing.entrant]),
        )
        for placing in ranking
    )
