"""Results of matches, and ranks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantRating:
    """The rating of an entrant (``name@version``) by a format so far; ``margin_95`` is half its 95 % interval."""

    bot: str
    mu: float
    margin_95: float


class StoredResult(NamedTuple):
    """The result of a recorded match.

    Attributes:
        tournament: the tournament's number in the store.
        encounter: from 1.
        bots: ``name@version`` per seat.
        ranks: per seat, 1 is best.
        opening_hash: of the game, its options and the opening.
        actions_hash: of the game, its options, all actions and the ranks.
    """

    tournament: int
    encounter: int
    game: str
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    opening_hash: str
    actions_hash: str


def points_of(ranks: Sequence[int], seat: int) -> float:
    """Return the points of a seat: the share of rivals that it beat, a tie counting half."""
    mine = ranks[seat]
    beaten = sum((rank > mine) + (rank == mine) / 2 for rank in ranks) - 0.5
    return beaten / (len(ranks) - 1)


# Ranks with ties, as competitions count them: equals share the better rank, and the next rank is skipped.


def competition_ranks(keys: Sequence[Any]) -> list[int]:
    """Return the rank of each key; the least key is the best and has rank 1.

    >>> competition_ranks([30, 10, 20, 10])
    [4, 1, 3, 1]
    """
    ordered = sorted(keys)
    return [1 + bisect_left(ordered, key) for key in keys]


def double_points_of(ranks: Sequence[int]) -> tuple[int, ...]:
    """Return each seat's points: two for each rival that it beats, and one for each that it ties with.

    >>> double_points_of((1, 1, 3))
    (3, 3, 0)
    """
    return tuple(sum(2 * (other > mine) + (other == mine) for other in ranks) - 1 for mine in ranks)
