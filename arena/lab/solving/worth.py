"""What a state or a game is worth with best play, how that is known, and how to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from arena.base.errors import UsageError
from arena.games.game import Game
from arena.games.pie import Pie
from arena.games.plaid import Plaid

# Solvers compare *values*: for seat 0, in one integer, first the outcome and then the margin, so that one comparison
# decides. Values of two seats sum to nothing: seat 0 wants the largest and seat 1 the smallest.

OUTCOME_UNIT = 2**100
"""A better outcome is worth more than any margin."""

LOWEST, HIGHEST = -2 * OUTCOME_UNIT, 2 * OUTCOME_UNIT
"""Bounds of every value: nothing is known."""

PARTS = 10**9
"""Parts of a point in a value. Margins of scores that are floats are compared to nine decimals, outcomes exactly."""

MAX_MARGIN = 2**64


class Known(StrEnum):
    """How a worth is known."""

    PROVED = "proved"
    TABLE = "table"
    SEARCH = "search"


class Outcome(StrEnum):
    """How a match ends for seat 0."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


SIGNS = {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}
OUTCOMES = {sign: outcome for outcome, sign in SIGNS.items()}


@dataclass(frozen=True, slots=True)
class Worth:
    """What a state of a game for two is worth to seat 0 with best play.

    ``margin`` and ``outcome`` are None if only bounds are known: ``low`` and ``high`` of the margin (None without one),
    ``least`` and ``most`` of the outcome.
    """

    margin: int | float | None
    outcome: Outcome | None
    known: Known
    low: int | float | None
    high: int | float | None
    least: Outcome = Outcome.LOSS
    most: Outcome = Outcome.WIN

    @property
    def is_exact(self) -> bool:
        """Whether it is more than bounds."""
        return self.margin is not None

    def has_value_of(self, other: Worth) -> bool:
        """Return whether outcome and margin are those of another, however each is known."""
        return (self.outcome, self.margin) == (other.outcome, other.margin)

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {name: getattr(self, name) for name in ("margin", "outcome", "known", "low", "high")}

    def order_for(self, seat: int) -> tuple[int, int | float]:
        """Return what orders exact worths by how good they are for a seat: the outcome, then the margin."""
        own_worth = self.to(seat)
        return SIGNS[own_worth.least], own_worth.margin or 0

    def to(self, seat: int) -> Worth:
        """Return it as worth to a seat: for seat 1 all that is good for seat 0 is bad."""
        if seat == 0:
            return self
        margin, low, high = (None if bound is None else -bound for bound in (self.margin, self.high, self.low))
        least, most = (OUTCOMES[-SIGNS[bound]] for bound in (self.most, self.least))
        outcome = None if self.outcome is None else OUTCOMES[-SIGNS[self.outcome]]
        return Worth(margin, outcome, self.known, low, high, least, most)


def value_of(scores: Sequence[int | float], ranks: Sequence[int]) -> int:
    """Return the value of a match that has ended; UsageError if the scores are too far apart."""
    margin = scores[0] - scores[1]
    if abs(margin) > MAX_MARGIN:
        raise UsageError(f"scores {scores[0]!r} and {scores[1]!r}: expected a margin of at most 2**64")
    parts = margin * PARTS if isinstance(margin, int) else round(margin * PARTS)
    return ((ranks[0] < ranks[1]) - (ranks[1] < ranks[0])) * OUTCOME_UNIT + parts


def value_of_margin(margin: int) -> int:
    """Return the value of a margin in a game whose ranks follow from the scores."""
    return ((margin > 0) - (margin < 0)) * OUTCOME_UNIT + margin * PARTS


def worth_between(low: int, high: int, known: Known, ranks_follow_scores: bool = True) -> Worth:
    """Return the worth of a state whose value lies between two bounds.

    Unless ``ranks_follow_scores``, bounds of values are no bounds of margins.
    """
    least, most = OUTCOMES[_outcome_of(low)], OUTCOMES[_outcome_of(high)]
    outcome = least if least == most else None
    if low == high:
        margin = _margin_of(low)
        return Worth(margin, outcome, known, margin, margin, least, most)
    if not ranks_follow_scores:
        return Worth(None, outcome, known, None, None, least, most)
    return Worth(None, outcome, known, _bound(low), _bound(high), least, most)


def ranks_follow_scores(game: Game[Any]) -> bool:
    """Return whether a better rank of a game always comes with a larger margin."""
    ranks = getattr(type(game.rules if isinstance(game, Pie) else game), "ranks", None)
    return ranks is Game.ranks or ranks is Plaid.ranks  # plaid's are those of the true scores


def _outcome_of(value: int) -> int:
    """Return 1, 0 or -1; bounds of all values are beyond any outcome."""
    return max(-1, min(1, (value + OUTCOME_UNIT // 2) // OUTCOME_UNIT))


def _margin_of(value: int) -> int | float:
    parts = value - _outcome_of(value) * OUTCOME_UNIT
    return parts // PARTS if parts % PARTS == 0 else parts / PARTS


def _bound(value: int) -> int | float | None:
    """Return a bound as a margin; None where it tells nothing, or only who wins."""
    parts = value - _outcome_of(value) * OUTCOME_UNIT
    return None if abs(parts) > MAX_MARGIN * PARTS else _margin_of(value)


# What is known of a game with its options: the answer of ``arena lab solve``.

TIE_RULE = "a seat chooses the action that leaves it the largest share, and of equal ones the one listed first"

Shares = tuple[float, ...]


class By(StrEnum):
    """A way to solve a game."""

    PROOF = "proof"
    KERNEL = "kernel"
    TABLE = "table"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What is known of the first state of a game with its options.

    Attributes:
        worth: of a game for two; others have shares (of rivals beaten, when every seat plays for its own).
        paranoid: the share that each seat can hold against all others together.
        best: the first actions that keep the value, up to symmetry; all of them if ``has_all_best``.
        edges: how many actions were visited; 0 where they were not counted.
        depth: how many actions a search looked ahead completely.
        proofs: the strategies that prove it, or its bounds.
        is_interrupted: whether somebody ended the solver before it knew more.
    """

    game: str
    options: Mapping[str, Any]
    worth: Worth | None = None
    shares: Shares | None = None
    paranoid: Shares | None = None
    shares_known: Known = Known.TABLE
    best: tuple[Any, ...] = ()
    has_all_best: bool = False
    states: int = 0
    edges: int = 0
    seconds: float = 0.0
    memory_bytes: int = 0
    depth: int | None = None
    proofs: tuple[str, ...] = ()
    is_interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        about: dict[str, Any] = {"game": self.game, "options": dict(self.options)}
        if self.worth is not None:
            about |= self.worth.to_json()
        else:
            about |= {
                "shares": self.shares,
                "paranoid": self.paranoid,
                "known": self.shares_known,
                "tie_rule": TIE_RULE,
            }
        return about | {
            "best": list(self.best),
            "has_all_best": self.has_all_best,
            "states": self.states,
            "edges": self.edges,
            "seconds": round(self.seconds, 3),
            "memory_bytes": self.memory_bytes,
            "depth": self.depth,
            "proofs": list(self.proofs),
        }


# Worths in words. A margin is that of seat 0, so its sign says whom it is good for.

KNOWN_TEXT = {
    Known.PROVED: "proved by a strategy",
    Known.TABLE: "by a table of all states",
    Known.SEARCH: "by a search",
}

SEATS = ("seat 0", "seat 1")


def number_text(value: float) -> str:
    """Return a margin with its sign.

    >>> number_text(3), number_text(0), number_text(-1.0890001)
    ('+3', '0', '-1.089')
    """
    text = f"{value:+.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:+d}"
    return "0" if text in ("+0", "-0") else text


def margin_text(worth: Worth) -> str:
    """Return what is known of a margin, in a few characters."""
    if worth.margin is not None:
        return number_text(worth.margin)
    if worth.low is not None and worth.high is not None:
        return f"{number_text(worth.low)} to {number_text(worth.high)}"
    if worth.low is not None:
        return f"{number_text(worth.low)} or more"
    return "not known" if worth.high is None else f"{number_text(worth.high)} or less"


def outcome_text(worth: Worth, names: Sequence[str] = SEATS) -> str:
    """Return what is known of who wins with best play; empty if nothing is."""
    first, second = names
    if worth.outcome is not None:
        return {Outcome.WIN: f"{first} wins", Outcome.DRAW: "a draw", Outcome.LOSS: f"{second} wins"}[worth.outcome]
    if worth.least is Outcome.DRAW:
        return f"{first} does not lose"
    return f"{second} does not lose" if worth.most is Outcome.DRAW else ""


def worth_text(worth: Worth, names: Sequence[str] = SEATS) -> str:
    """Return what a state is worth, in a few words, with these names for the seats."""
    outcome, margin = outcome_text(worth, names), margin_text(worth)
    if worth.outcome is Outcome.DRAW and worth.margin == 0:
        return outcome
    if worth.low is None and worth.high is None:
        return outcome or "not known"
    return f"{outcome}, margin {margin}" if outcome else f"margin {margin}"
