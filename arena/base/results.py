"""The results of recorded matches, as formats and tables count them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


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
