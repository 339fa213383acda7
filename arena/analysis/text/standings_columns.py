"""The columns of standings, in every format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from arena.analysis.text.tables import Column, Row
from arena.base.enums import FaultKind

if TYPE_CHECKING:
    from arena.analysis.measures.standings import Standing

Line = TypeVar("Line")

MAX_FINISH_COLUMNS = 8
"""Columns 1st, 2nd, … in games of more than two players; matches that a bot finished below have no column."""

_ORDINALS = ("1st", "2nd", "3rd")


@dataclass(frozen=True, slots=True)
class StatColumn:
    """A column of the standings, in every format.

    Attributes:
        key: its name in JSON and CSV, in snake_case.
        meaning: what ``docs/reference/columns.md`` and the site say about it.
        value: what it shows of a bot, as JSON has it.
        formatted: the value as people read it; by default the value.
        kind: the type of the value, for data frames.
        decimals: digits after the point; None for a text or a whole number.
        drop_order: in a narrow terminal, columns with the largest number are left out first; 0 for those that stay.
        is_shown: whether tables for people have it.
        is_detail: whether notebooks leave it out, which have less room and a chart of the ratings.
        flat: the columns that CSV has instead, by key, each with its cell made from the value.
    """

    key: str
    title: str
    meaning: str
    value: Callable[[Standing], Any]
    formatted: Callable[[Any], Any] = lambda value: value
    kind: Any = int
    decimals: int | None = None
    drop_order: int = 0
    is_shown: bool = True
    is_detail: bool = False
    flat: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @property
    def is_number(self) -> bool:
        """Whether it is right-aligned."""
        return self.kind not in (str, bool, dict)

    @property
    def column(self) -> Column:
        """The column of a table in general."""
        return Column(self.key, self.title, self.decimals, self.is_number, self.drop_order)


def interval_text(interval: Sequence[int] | None) -> str | None:
    """Return ``1–3``, or ``2`` where there is no doubt."""
    if interval is None:
        return None
    low, high = interval
    return str(low) if low == high else f"{low}–{high}"


def percent_text(chance: float | None) -> str | None:
    """Return a probability as text that never says more than is known: ``> 99.9 %``, not ``100 %``."""
    if chance is None:
        return None
    if chance > 0.999:
        return "> 99.9 %"
    if chance < 0.001:
        return "< 0.1 %"
    return f"{100 * chance:.1f} %"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


_BEFORE_FINISH_COUNTS = (
    StatColumn("rank", "rank", "by exposure; equal bots share it", attrgetter("rank")),
    StatColumn("bot", "bot", "the entrant's name; in leaderboards name@version", attrgetter("bot"), kind=str),
    StatColumn(
        "exposure",
        "exposure",
        "mu − 3 sigma: a strength the bot has almost certainly",
        attrgetter("rating.exposure"),
        kind=float,
        decimals=2,
        drop_order=1,
        is_detail=True,
    ),
    StatColumn(
        "mu",
        "mu",
        "the TrueSkill rating: the mean of what is believed about the bot's strength",
        attrgetter("rating.mu"),
        kind=float,
        decimals=2,
        drop_order=4,
    ),
    StatColumn(
        "sigma",
        "sigma",
        "the standard deviation of that belief",
        attrgetter("rating.sigma"),
        kind=float,
        decimals=2,
        drop_order=11,
        is_detail=True,
    ),
    StatColumn(
        "margin_95",
        "± 95 %",
        "half the width of the 95 % interval of mu relative to the field, by a bootstrap over encounters",
        attrgetter("margin"),
        kind=float | None,
        decimals=2,
        drop_order=4,
        is_detail=True,
    ),
    StatColumn(
        "rank_95",
        "95 % rank",
        "the 95 % interval of the bot's rank by mu",
        lambda line: list(line.rank_interval) if line.rank_interval else None,
        kind=int | None,
        formatted=interval_text,
        flat={
            "rank_low": lambda interval: interval and interval[0],
            "rank_high": lambda interval: interval and interval[1],
        },
        drop_order=8,
    ),
    StatColumn(
        "better_than_next",
        "LOS",
        "the likelihood of superiority: the probability that the bot is better than the next one",
        attrgetter("los"),
        kind=float | None,
        formatted=percent_text,
        drop_order=7,
        is_detail=True,
    ),
    StatColumn(
        "same_as_next",
        "= next",
        '"=": the bot and the next one can\'t be told apart at 95 %',
        attrgetter("same_as_next"),
        kind=bool,
        formatted=lambda is_same: "=" if is_same else "",
        drop_order=3,
    ),
    StatColumn("matches", "matches", "matches played", attrgetter("matches"), drop_order=9),
)

_AFTER_FINISH_COUNTS = (
    StatColumn(
        "points",
        "points",
        "in each match the share of rivals beaten, a tie counting half",
        attrgetter("points"),
        kind=float,
        decimals=1,
        drop_order=10,
        is_detail=True,
    ),
    StatColumn(
        "score_percent",
        "score %",
        "points per match",
        lambda line: _percent(line.score_share),
        kind=float | None,
        decimals=1,
        drop_order=2,
    ),
    StatColumn(
        "first_seat_percent",
        "seat 0 %",
        "points per match in seat 0",
        lambda line: _percent(line.first_seat_share),
        kind=float | None,
        decimals=1,
        drop_order=12,
        is_detail=True,
    ),
    StatColumn(
        "faults",
        "faults",
        "forfeits by kind of fault",
        lambda line: dict(sorted(line.faults.items())),
        kind=dict,
        formatted=lambda faults: ", ".join(f"{count} {kind}" for kind, count in faults.items()),
        drop_order=5,
        flat={f"faults_{kind}": partial(lambda kind, faults: faults.get(kind, 0), kind) for kind in FaultKind},
    ),
    StatColumn(
        "author",
        "author",
        "whose the bot is; without an owner, who wrote it by its bot.toml; only in JSON and CSV",
        attrgetter("author"),
        kind=str,
        is_shown=False,
    ),
    StatColumn(
        "is_author_claimed",
        "claimed",
        "whether the author is known by its bot.toml alone; only in JSON and CSV",
        attrgetter("is_author_claimed"),
        kind=bool,
        is_shown=False,
    ),
)


def standings_columns(players: int) -> list[StatColumn]:
    """Return the columns of standings: W D L where a match has two players at most, else 1st 2nd …."""
    return [*_BEFORE_FINISH_COUNTS, *_finish_columns(players), *_AFTER_FINISH_COUNTS]


def flat_table(
    players: int, lines: Sequence[Line], value_of: Callable[[StatColumn, Line], Any]
) -> tuple[list[Column], list[Row]]:
    """Return standings for CSV: every cell is a number, a text, true or false; ``value_of`` returns values for JSON."""
    columns: list[Column] = []
    rows: list[Row] = [{} for _ in lines]
    for column in standings_columns(players):
        columns += [Column(key, key) for key in column.flat] or [column.column]
        for row, line in zip(rows, lines, strict=True):
            value = value_of(column, line)
            row |= {key: cell(value) for key, cell in column.flat.items()} or {column.key: value}
    return columns, rows


def _finish_columns(players: int) -> list[StatColumn]:
    if players == 2:
        return [
            StatColumn("wins", "W", "matches won", attrgetter("wins"), drop_order=6),
            StatColumn("draws", "D", "matches drawn", attrgetter("draws"), drop_order=6),
            StatColumn("losses", "L", "matches lost", attrgetter("losses"), drop_order=6),
        ]
    return [
        StatColumn(
            key=f"place_{rank}",
            title=_ordinal(rank),
            meaning=f"matches finished {_ordinal(rank)}",
            value=partial(lambda place, line: finish_count(line.finish_counts, place), rank),
            drop_order=6,
        )
        for rank in range(1, min(players, MAX_FINISH_COLUMNS) + 1)
    ]


def finish_count(counts: Sequence[int], place: int) -> int:
    """Return how many matches a bot finished in a place, from 1."""
    return counts[place - 1] if place <= len(counts) else 0


def _ordinal(rank: int) -> str:
    return _ORDINALS[rank - 1] if rank <= len(_ORDINALS) else f"{rank}th"


# What each column of the report means, in half a sentence.

_OF_OTHER_TABLES: Mapping[str, str] = {
    "place": "final rank by the rules of the format",
    "chart": "mu as a stroke, its 95 % interval as a bar, on one scale for all bots",
    "record": "matches won alone, with a shared first rank, and lost",
    "score": "points of the rounds",
    "bh": "Buchholz: the sum of the rivals' scores",
    "bh_c1": "Buchholz without the lowest of the rivals' scores",
    "sb": "Sonneborn-Berger: the scores of beaten rivals, and half of those drawn with",
    "de": "direct encounter: the score among those with equal points",
    "won": "rounds won against a rival",
    "seed": "place in the seeding",
    "won_stages": "stages that the entrant has won",
    "game": "the game",
    "encounters": "matches from one opening with the seats rotated, counted as one",
    "repeats": "duplicate matches, which their bots play the same from that opening; they are rated once",
    "decisive_percent": "matches with a single winner",
    "annotated": "matches of the bot that are annotated",
    "decisions": "actions of the bot where the values of all legal actions are known exactly and differ",
    "kept": "the share of value kept in a decision, with the 95 % interval: 100 % with perfect play",
    "mistakes": "actions that lose margin for certain",
    "blunders": "actions that change the outcome for certain",
    "earned": "points that the bot held all the way by its own play",
    "lucky": "points that the other bot had let slip",
    "draws": "matches whose first rank is shared, with the 95 % interval",
    "seat_n": "points per match in this seat, over all bots, with the 95 % interval",
    "seat_n_percent": "points per match of the bot in this seat",
    "group": "bots share a letter unless 95 % certainty, or a claim of `[until]`, separates them from the first",
    "bots": "the bots of the group",
    "than_n": "the probability that the bot of the row is better than the bot with this number",
    "against_n": "points per match against the bot with this number",
    "weight_percent": "how often the bot is played in the equilibrium",
    "payoff_percent": "points per match against the equilibrium",
    "rival": "the other bot",
    "margin_percent": "half the width of the 95 % interval of the score",
    "expected_points": "what both ratings expect",
    "influence": "how much lower the rating would be without these matches",
    "occurrences": "encounters with the same rivals and points",
    "probability": "of points at least as far from what was expected, on the same side",
    "actions": "the bot's own actions, without those of openings",
    "mean_ms": "mean time for an action",
    "p99_ms": "99 of 100 actions are faster",
    "longest_ms": "the longest action",
    "cpu_seconds": "CPU time on turn, with all that the bot has started",
    "off_turn_cpu_seconds": "CPU time while others were to act",
    "match": "the number of the match; it opens the match in the viewer",
    "result": "bot and score of each seat, in the order of seats; the winner is strong",
    "plies": "actions, those of the opening included",
    "ended": "how the match ended; a fault with its bot and kind",
    "least": "the smallest count",
    "most": "the largest count",
    "imbalance": "how far the worst count is from a fair one, in matches",
    "worst": "whose count is the worst",
    "correction": "what was corrected",
    "reason": "as the director gave it",
    "set_aside": "matches whose records do not count any more",
    "undone_by": "the number of the correction that undoes this one",
}


def meaning_of(key: str) -> str:
    """Return what a column means, by its key; empty if the heading explains it."""
    return _MEANINGS.get(key) or _MEANINGS.get(re.sub(r"_\d+(?=_|$)", "_n", key), "")


_MEANINGS: Mapping[str, str] = {
    **_OF_OTHER_TABLES,
    **{kind: f"forfeits because the bot {kind.meaning}" for kind in FaultKind},
    **{column.key: column.meaning for players in (2, 8) for column in standings_columns(players)},
}
