"""The lines of a table, of a tournament or of a game: pure functions of results, whose order makes no difference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from arena.analysis.measures.result_table import ResultTable
from arena.base.display import Tabular
from arena.base.enums import ClaimKind
from arena.base.records import DEFAULT_LIMITS, TimeControl
from arena.base.results import competition_ranks
from arena.base.until import Claim, Decided
from arena.ratings import MU, SIGMA, Rating
from arena.ratings.consistency import Consistency, consistency
from arena.ratings.field_fit import FittedEncounters, fit_encounters
from arena.ratings.settled_fit import Start
from arena.store.results.values import Correction

SURE = 0.975
"""Two bots can be told apart when the probability that one is better than the other is at least this."""

EXPOSURE_DECIMALS = 9
"""Bots with equal results differ by rounding errors beyond these decimals."""

UNRATED = Rating(MU, SIGMA)
"""The prior: the rating of a bot before its first match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One bot's line in a table.

    Attributes:
        label: ``name@version``.
        bot: the name that tables show.
        rank: by exposure; bots with equal exposure share it.
        margin: half the width of the 95 % interval of mu relative to the field, by a bootstrap over encounters; None
            before the first rated match.
        rank_interval: the 95 % interval of its rank by mu; None before the first rated match.
        los: the likelihood of superiority over the next bot, from 0 to 1; None for the last.
        group: bots with the same letter are tied with the first of them; with ``[until]``, none has been found better
            than one below, and all are within the indifference of the first.
        finish_counts: how many matches it finished 1st, 2nd, …; ties count at their shared rank.
        wins: matches in which it alone was first.
        draws: matches in which it shared the first rank.
        points: over its matches, the sum of the share of rivals it beat, a tie counting half.
        seat_matches: its matches by seat.
        seat_points: its points by seat.
        faults: the number of its forfeits by kind.
        author: the bot's owner; without one, the author that its bot.toml names; empty when unknown.
        is_author_claimed: whether only the bot itself names the author.
        is_function: whether it is a Python function, which plays without isolation.
    """

    label: str
    bot: str
    rating: Rating = UNRATED
    rank: int = 1
    margin: float | None = None
    rank_interval: tuple[int, int] | None = None
    los: float | None = None
    group: str = ""
    matches: int = 0
    finish_counts: tuple[int, ...] = ()
    wins: int = 0
    draws: int = 0
    points: float = 0.0
    seat_matches: tuple[int, ...] = ()
    seat_points: tuple[float, ...] = ()
    faults: Mapping[str, int] = field(default_factory=dict)
    author: str = ""
    is_author_claimed: bool = False
    is_function: bool = False

    @property
    def losses(self) -> int:
        """Matches in which another bot was first."""
        return self.matches - self.wins - self.draws

    @property
    def score_share(self) -> float | None:
        """Points per match, from 0 to 1; None before the first match."""
        return self.points / self.matches if self.matches else None

    @property
    def first_seat_share(self) -> float | None:
        """Points per match in seat 0; None without any."""
        return self.seat_share(0)

    def seat_share(self, seat: int) -> float | None:
        """Return points per match in a seat; None without any."""
        if seat >= len(self.seat_matches) or not self.seat_matches[seat]:
            return None
        return self.seat_points[seat] / self.seat_matches[seat]

    @property
    def same_as_next(self) -> bool:
        """Whether it and the next bot can't be told apart at 95 %."""
        return self.los is not None and 1 - SURE < self.los < SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings(Tabular):
    """A whole table, the best bot first.

    Attributes:
        players: the most players in a match; 2 before the first match.
        matches: the number of recorded matches.
        rated: how many of these count for the ratings.
        fitted: the ratings with their errors.
        consistency: whether a single rating for each bot fits the results.
        first_seat_share: points per match of seat 0, over all bots; None before the first match.
        scheduled: the number of matches in the schedule so far; None for a leaderboard.
        is_finished: whether no round follows.
        corrections: the tournament's log of corrections; empty for a leaderboard.
        adjudicated: how many of the matches ended at the limit of plies; 0 for a leaderboard.
        decided: what is decided, if the tournament plays until it is.
        odds: the time of each bot that has one of its own, by ``name@version``; empty for a leaderboard.
        cores: the cores of each match; 1 for a leaderboard.
    """

    lines: tuple[Standing, ...]
    players: int
    matches: int
    rated: int
    fitted: FittedEncounters = field(repr=False)
    consistency: Consistency
    first_seat_share: float | None
    scheduled: int | None = None
    is_finished: bool = True
    corrections: tuple[Correction, ...] = ()
    adjudicated: int = 0
    decided: Decided | None = None
    odds: Mapping[str, TimeControl] = field(default_factory=dict)
    cores: int = DEFAULT_LIMITS.cores

    @property
    def shown_names(self) -> dict[str, str]:
        """The name that tables show of each bot, by ``name@version``, the best bot first."""
        return {line.label: line.bot for line in self.lines}

    @property
    def draw_probability(self) -> float | None:
        """The probability that two equal bots draw, as estimated for the ratings; None before the first match."""
        return self.fitted.draw_probability if self.fitted.names else None


def standings(
    results: ResultTable,
    faults: Mapping[str, Mapping[str, int]],
    shown_names: Mapping[str, str] | None = None,
    everybody: Sequence[str] = (),
    start: Start | None = None,
) -> Standings:
    """Return the table of results; bots (``name@version``) in ``everybody`` have a line even without a match.

    Every match counts in the columns of the table; ``results.rated`` says which count for the ratings. ``start`` is an
    earlier fit to begin with, which makes no difference to nine digits.
    """
    counted = {label: Standing(label=label, bot=label) for label in everybody} | _counted(results)
    encounters = results.rated_encounters()
    fitted = fit_encounters(encounters, start=start)
    lines = _lines(counted, fitted, faults, shown_names or {})
    occurrences = results.match_occurrences
    return Standings(
        lines=lines,
        players=results.bots.shape[1],
        matches=int(occurrences.sum()),
        rated=int(occurrences[results.rated].sum()),
        fitted=fitted,
        consistency=consistency(encounters, fitted),
        first_seat_share=_first_seat_share(lines),
    )


def without(table: Standings, left_out: Collection[str]) -> Standings:
    """Return a table without the lines of some bots (``name@version``); the ranks of the others close up.

    All ratings stay as they are: the results against these bots count.
    """
    lines = [line for line in table.lines if line.label not in left_out]
    if len(lines) == len(table.lines):
        return table
    labels = [line.label for line in lines]
    los = _los_function(table.fitted)
    of_next = [*(los(label, after) for label, after in pairwise(labels)), None][: len(lines)]
    ranks, groups = competition_ranks([line.rank for line in lines]), _groups(labels, los)
    columns = zip(lines, ranks, of_next, groups, strict=True)
    return replace(table, lines=tuple(replace(line, rank=r, los=p, group=g) for line, r, p, g in columns))


def _first_seat_share(lines: Sequence[Standing]) -> float | None:
    matches = sum(line.seat_matches[0] for line in lines if line.seat_matches)
    points = sum(line.seat_points[0] for line in lines if line.seat_points)
    return points / matches if matches else None


def _counted(results: ResultTable) -> dict[str, Standing]:
    """Return a line for each bot, with what is counted and without what is rated."""
    bots, seats = len(results.labels), results.bots.shape[1]
    occurrences = results.match_occurrences.astype(np.float64)  # bincount takes no other weights
    players, firsts = np.zeros((2, len(results.bots)), dtype=np.int16)
    for seat in range(seats):  # column by column: sums over short rows take long
        players += results.bots[:, seat] >= 0
        firsts += results.ranks[:, seat] == 1
    top_is_shared = firsts > 1
    finishes, by_seat, draws = (np.zeros(shape) for shape in ((bots, seats), (bots, seats), bots))
    points, seats_of = np.zeros((bots, seats)), np.zeros(bots, dtype=np.int64)
    for seat in range(seats):
        is_seated = results.bots[:, seat] >= 0
        seated = slice(None) if is_seated.all() else np.flatnonzero(is_seated)
        bot, rank = results.bots[seated, seat].astype(np.int64), results.ranks[seated, seat]
        count = occurrences[seated]
        twice_beaten = np.full(len(bot), -1, dtype=np.int16)
        for other_ranks in results.ranks[seated].T:
            twice_beaten += other_ranks > rank
            twice_beaten += other_ranks >= rank
        sizes = np.flatnonzero(np.bincount(players[seated]))
        for size in sizes.tolist():  # sums of whole numbers don't depend on the order
            of_size = slice(None) if len(sizes) == 1 else players[seated] == size
            beaten = np.bincount(bot[of_size], count[of_size] * twice_beaten[of_size], bots)
            points[:, seat] += beaten / (2 * max(size - 1, 1))
            seats_of = np.maximum(seats_of, size * (np.bincount(bot[of_size], minlength=bots) > 0))
        finished = np.bincount(bot * seats + rank - 1, count, bots * seats).reshape(bots, seats)
        finishes += finished
        by_seat[:, seat] = finished.sum(axis=1)
        drawn = np.flatnonzero((rank == 1) & top_is_shared[seated])
        draws += np.bincount(bot[drawn], count[drawn], bots)
    wins = finishes[:, 0] - draws
    columns = (finishes.astype(int), wins.astype(int), draws.astype(int), by_seat.astype(int), points, seats_of)
    return {
        label: Standing(
            label=label,
            bot=label,
            matches=sum(matches),
            finish_counts=tuple(finished[:size]),
            wins=won,
            draws=drawn,
            points=sum(scored),
            seat_matches=tuple(matches[:size]),
            seat_points=tuple(scored[:size]),
        )
        for label, finished, won, drawn, matches, scored, size in zip(
            results.labels, *(column.tolist() for column in columns), strict=True
        )
    }


def _lines(
    counted: Mapping[str, Standing],
    fitted: FittedEncounters,
    faults: Mapping[str, Mapping[str, int]],
    shown_names: Mapping[str, str],
) -> tuple[Standing, ...]:
    ratings = dict(zip(fitted.names, fitted.ratings, strict=True))
    by_bot = _by_bot(fitted)
    margins = dict(zip(fitted.names, by_bot.margins().tolist(), strict=True))
    rank_intervals = dict(zip(fitted.names, fitted.rank_intervals(), strict=True))
    exposures = {label: round(ratings.get(label, UNRATED).exposure, EXPOSURE_DECIMALS) for label in counted}
    labels = sorted(counted, key=lambda label: (-exposures[label], label))
    los = _los_function(by_bot)
    ranks = competition_ranks([-exposures[label] for label in labels])
    groups = _groups(labels, los)
    return tuple(
        replace(
            counted[label],
            bot=shown_names.get(label, label),
            rating=ratings.get(label, UNRATED),
            rank=ranks[position],
            margin=margins.get(label),
            rank_interval=rank_intervals.get(label),
            los=los(label, labels[position + 1]) if position + 1 < len(labels) else None,
            group=groups[position],
            faults=dict(faults.get(label, {})),
        )
        for position, label in enumerate(labels)
    )


def _los_function(fitted: FittedEncounters, by: float = 0.0) -> Callable[[str, str], float]:
    """Return a function from two bots to the likelihood that the first is better; 1/2 where one has no rating."""
    index = {label: number for number, label in enumerate(fitted.names)}
    fitted = _by_bot(fitted)
    return lambda a, b: fitted.los_between(index[a], index[b], by) if a in index and b in index else 0.5


def _by_bot(fitted: FittedEncounters) -> FittedEncounters:
    """Return the same fit with the draws of each bot side by side in memory, for readers of columns."""
    return replace(fitted, draws=np.asfortranarray(fitted.draws))


def with_decided(table: Standings, decided: Decided | None) -> Standings:
    """Return a table with what its tournament has decided, and with groups that no claim of it contradicts.

    Equal neighbours in a row, each within the indifference of the next, can be far apart at their ends; so a group also
    ends where its first bot is better by more than the indifference.
    """
    if decided is None:
        return table
    los = _los_function(table.fitted, decided.until.indifference)
    groups = _groups([line.label for line in table.lines], los, decided.claims)
    lines = tuple(replace(line, group=group) for line, group in zip(table.lines, groups, strict=True))
    return replace(table, lines=lines, decided=decided)


def _groups(labels: Sequence[str], los: Callable[[str, str], float], claims: Sequence[Claim] = ()) -> list[str]:
    """Return the letter of each bot's group: from its first bot down to the last that is tied with it.

    A claim about two bots counts more than the likelihood that one is better.
    """
    equals = {frozenset((claim.bot, claim.rival)) for claim in claims if claim.claim is ClaimKind.EQUAL}
    positions = {label: position for position, label in enumerate(labels)}
    earliest = dict.fromkeys(labels, 0)  # where a group with this bot may begin
    for claim in claims:
        above, below = positions.get(claim.bot, len(labels)), positions.get(claim.rival, -1)
        if claim.claim is ClaimKind.BETTER and above < below:
            earliest[claim.rival] = max(earliest[claim.rival], above + 1)
    first, number, groups = 0, 0, []
    for position, label in enumerate(labels):
        is_equal = not position or frozenset((labels[first], label)) in equals
        if first < earliest[label] or (not is_equal and los(labels[first], label) >= SURE):
            first, number = position, number + 1
        groups.append(_letters(number))
    return groups


def _letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
