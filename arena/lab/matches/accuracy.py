"""How well bots play by known values: the share of value that they keep, their marks, luck-adjusted points.

A *decision* is an action of a bot in a position where the values of all legal actions are known exactly and differ. It
keeps the share that its value is between that of the worst action and that of the best, so perfect play keeps 100 %.

The *earned* points of a seat are the fewest that any position from the end of the opening on was worth to it with best
play of both. Its other points depend on luck: it has them only through an action of the other seat that is marked
``??``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import TYPE_CHECKING

from arena.analysis.measures.values import BotAccuracy, Share
from arena.base.enums import Termination
from arena.base.errors import StoreError
from arena.base.results import points_of
from arena.base.stored import from_json_text, from_stored, is_whole, list_of
from arena.lab.matches.annotation import POINTS_OF_OUTCOME, Annotated, AnnotatedAction, Mark, points_for
from arena.lab.solving.worth import Worth

if TYPE_CHECKING:
    from arena.store.results.annotations import StoredAccuracy
    from arena.store.results.store import Store
    from arena.store.results.values import StoredTournament

MIN_ENCOUNTERS = 2
"""A single encounter can't tell how much encounters vary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAccuracy:
    """How well a seat played in a match, after the opening.

    ``kept`` is a sum over decisions; ``earned`` and ``lucky`` are None where an outcome is unknown or the rules did not
    end the match.
    """

    actions: int = 0
    decisions: int = 0
    kept: float = 0.0
    mistakes: int = 0
    blunders: int = 0
    earned: float | None = None
    lucky: float | None = None


def accuracy_of(annotated: Annotated) -> tuple[SeatAccuracy, SeatAccuracy]:
    """Return how well each seat played in a match."""
    return _seat_accuracy(annotated, 0), _seat_accuracy(annotated, 1)


def _seat_accuracy(annotated: Annotated, seat: int) -> SeatAccuracy:
    annotation = annotated.annotation
    indices = [
        index
        for index, action in enumerate(annotation.actions)
        if action.seat == seat and index >= annotation.opening_plies
    ]
    marks = [annotation.mark(index) for index in indices]
    shares = [kept_share(annotation.actions[index], annotated.ranks_follow_scores) for index in indices]
    decided = [share for share in shares if share is not None]
    earned = _earned(annotated, seat)
    points = points_of(annotated.record.ranks, seat)
    return SeatAccuracy(
        actions=len(indices),
        decisions=len(decided),
        kept=sum(decided),
        mistakes=marks.count(Mark.MISTAKE),
        blunders=marks.count(Mark.BLUNDER),
        earned=earned,
        lucky=None if earned is None else points - earned,
    )


def kept_share(action: AnnotatedAction, ranks_follow_scores: bool = True) -> float | None:
    """Return the share of value that an action keeps, 0 to 1; None if it is no decision.

    Unless ``ranks_follow_scores``, margins don't order outcomes, and outcomes alone are compared.
    """
    values = [_value(action.seat, worth, ranks_follow_scores) for worth in action.choices]
    if not values or min(values) == max(values):
        return None
    return (values[action.chosen] - min(values)) / (max(values) - min(values))


def _value(seat: int, worth: Worth, ranks_follow_scores: bool) -> float:
    own_worth = worth.to(seat)
    if ranks_follow_scores or own_worth.outcome is None:
        return own_worth.margin or 0
    return POINTS_OF_OUTCOME[own_worth.outcome]


def _earned(annotated: Annotated, seat: int) -> float | None:
    annotation = annotated.annotation
    outcomes = [worth.outcome for worth in annotation.worths[annotation.opening_plies :]]
    known = [outcome for outcome in outcomes if outcome is not None]
    if len(known) < len(outcomes) or annotated.record.termination is not Termination.NORMAL:
        return None
    return min(points_for(seat, outcome) for outcome in known)


def seats_from_text(text: str) -> tuple[SeatAccuracy, ...]:
    """Read the stored accuracy of a match; StoreError if it is malformed."""
    where = "the accuracy of a match"
    seats = tuple(from_stored(SeatAccuracy, value, where) for value in list_of(from_json_text(text, where), where)[:3])
    if len(seats) != 2 or not all(map(_is_possible, seats)):
        raise StoreError(f"{where} is malformed: its numbers do not fit together")
    return seats


def seats_to_json(seats: Sequence[SeatAccuracy]) -> list[dict[str, object]]:
    """Return how well the seats of a match played, as JSON types."""
    return [asdict(seat) for seat in seats]


def _is_possible(seat: SeatAccuracy) -> bool:
    counts = (seat.decisions, seat.mistakes, seat.blunders, seat.mistakes + seat.blunders)
    possible = tuple(POINTS_OF_OUTCOME.values())
    return (
        is_whole(seat.actions, 0)
        and all(0 <= count <= seat.actions for count in counts)
        and 0 <= seat.kept <= seat.decisions
        and (seat.earned is None) == (seat.lucky is None)
        and (seat.earned is None or (seat.earned in possible and seat.lucky in possible))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSeat:
    """How well ``name@version`` played in a match; encounters are (tournament, encounter)."""

    encounter: tuple[int, int]
    bot: str
    accuracy: SeatAccuracy


def accuracy_of_bots(played: Iterable[PlayedSeat]) -> list[BotAccuracy]:
    """Return how well each bot played, those that keep most first."""
    by_bot: dict[str, list[PlayedSeat]] = defaultdict(list)
    for seat in played:
        by_bot[seat.bot].append(seat)
    bots = [_bot_accuracy(bot, seats) for bot, seats in by_bot.items()]
    return sorted(bots, key=lambda bot: (-bot.kept.value if bot.kept else 1.0, bot.bot))


def _bot_accuracy(bot: str, played: Sequence[PlayedSeat]) -> BotAccuracy:
    sums: dict[tuple[int, int], tuple[int, float]] = {}
    for seat in played:
        decisions, kept = sums.get(seat.encounter, (0, 0.0))
        sums[seat.encounter] = decisions + seat.accuracy.decisions, kept + seat.accuracy.kept
    seats = [seat.accuracy for seat in played]
    return BotAccuracy(
        bot=bot,
        matches=len(seats),
        encounters=len(sums),
        actions=sum(seat.actions for seat in seats),
        decisions=sum(seat.decisions for seat in seats),
        kept=kept_interval(list(sums.values())),
        mistakes=sum(seat.mistakes for seat in seats),
        blunders=sum(seat.blunders for seat in seats),
        points_known=sum(seat.earned is not None for seat in seats),
        earned=sum(seat.earned or 0.0 for seat in seats),
        lucky=sum(seat.lucky or 0.0 for seat in seats),
    )


def kept_interval(sums: Sequence[tuple[int, float]]) -> Share | None:
    """Return the mean share kept in a decision, with its 95 % interval; of one encounter the mean alone.

    ``sums`` has decisions and kept shares of each encounter. The interval is that of a ratio of two means over
    encounters (Cochran, Sampling Techniques, section 6.3), with Student's t: actions of one encounter depend on each
    other.
    """
    count, decisions, kept = len(sums), sum(number for number, _ in sums), sum(share for _, share in sums)
    if not decisions:
        return None
    mean = kept / decisions
    if count < MIN_ENCOUNTERS:
        return Share(mean, mean, mean)
    spread = sum((share - mean * number) ** 2 for number, share in sums) * count / (count - 1)
    from arena.ratings.distributions import t_quantile  # loads NumPy, which an idle annotator does without

    half = t_quantile(count - 1, 0.975) * sqrt(spread) / decisions
    return Share(mean, max(0.0, mean - half), min(1.0, mean + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentAccuracy:
    """The bots, best first, and the first malformed match of each bot that is left out because of it."""

    bots: tuple[BotAccuracy, ...]
    left_out: Mapping[str, int]


def accuracy_of_tournament(store: Store, tournament: StoredTournament, game: str | None = None) -> TournamentAccuracy:
    """Return how well each bot played in the annotated matches of a tournament, or of one of its games."""
    played: list[PlayedSeat] = []
    left_out: dict[str, int] = {}
    for stored in store.annotations.accuracy(tournament, game):
        try:
            played += _played_seats(tournament.number, stored)
        except StoreError:
            left_out = dict.fromkeys(stored.bots, stored.match) | left_out
    bots = accuracy_of_bots(seat for seat in played if seat.bot not in left_out)
    return TournamentAccuracy(bots=tuple(bots), left_out=left_out)


def _played_seats(tournament: int, stored: StoredAccuracy) -> list[PlayedSeat]:
    seats = seats_from_text(stored.accuracy)
    if len(stored.bots) != len(seats):
        raise StoreError("the accuracy of a match is malformed: it is of another number of seats")
    encounter = (tournament, stored.encounter)
    return [
        PlayedSeat(encounter=encounter, bot=bot, accuracy=accuracy)
        for bot, accuracy in zip(stored.bots, seats, strict=True)
    ]
