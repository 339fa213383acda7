"""What a tournament has to decide before it ends, and the claims that it makes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from numbers import Real
from typing import Any

from arena.base.enums import ClaimKind, StopReason
from arena.base.errors import UsageError
from arena.base.text import shortened_text

NEIGHBOURS = ("groups", "order")
"""The values of ``decided`` that concern all neighbours in rank."""

BUDGETS = ("max_matches", "max_hours")
"""What may differ from run to run."""

RANGES = {
    "error": (1e-6, 0.5),
    "min_encounters": (0, 100_000),
    "indifference": (0.01, 100),
    "max_matches": (1, 1_000_000_000),
    "max_hours": (1e-6, 100_000),
}

LARGE_FIELD = 200
"""In larger fields, not every pair meets at first."""

OPENING_ROUNDS = 12
"""In larger fields: how many rounds of the round robin come first."""

_TOP = re.compile(r"top ([1-9][0-9]{0,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """``[until]``: play until this is decided.

    Attributes:
        decided: "groups", "order", "first" or "top N".
        error: the chance that any claim of the verdict is wrong, over all looks.
        min_encounters: every pairing first plays these.
        indifference: bots closer than this many points of mu are equal.
    """

    decided: str = "groups"
    error: float = 0.05
    min_encounters: int = 2
    indifference: float = 0.5
    max_matches: int | None = None
    max_hours: float | None = None

    @property
    def top(self) -> int | None:
        """How many of the best are to be separated from the rest; None if all neighbours are to be."""
        if self.decided == "first":
            return 1
        top_n = _TOP.fullmatch(self.decided)
        return int(top_n[1]) if top_n else None

    @property
    def shown(self) -> str:
        """What is to be decided, with its verb: ``groups of equals are``."""
        sentences = {"groups": "groups of equals are", "order": "order is", "first": "first rank is"}
        return sentences.get(self.decided, f"{self.decided} are")


def first_pairings(bots: int, pairings: int) -> int:
    """Return how many pairings of a field are played before the first look."""
    return min(pairings, OPENING_ROUNDS * (bots // 2)) if bots > LARGE_FIELD else pairings


def is_number(value: Any, low: float = -sys.float_info.max, high: float = sys.float_info.max) -> bool:
    """Return whether a value is a number within bounds, by default a finite one, and not NaN."""
    is_real = isinstance(value, Real)
    return is_real and bool(low <= value <= high)


def check_until(until: Until, bots: int) -> None:
    """Raise UsageError unless a tournament of this many bots can decide it."""
    for name, (low, high) in RANGES.items():
        value = getattr(until, name)
        if value is not None and not is_number(value, low, high):
            shown = shortened_text(repr(value))
            raise UsageError(f"until.{name} = {shown}: expected a number from {low:g} to {high:g}")
    top = until.top if isinstance(until.decided, str) else None
    if top is None and until.decided not in NEIGHBOURS:
        value = shortened_text(repr(until.decided))
        raise UsageError(f'until.decided = {value}: expected "groups", "order", "first" or "top N" such as "top 3"')
    if top is not None and top >= bots:
        raise UsageError(f"until.decided = {until.decided!r}: expected fewer than the {bots} bots that take part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim about two bots (``name@version`` each), the better one first, and its share of the error."""

    bot: str
    rival: str
    claim: ClaimKind
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClaim:
    """Two bots (``name@version`` each) about which the verdict still needs a claim.

    Attributes:
        bot: the one that looks stronger.
        difference: by how many points of mu it looks stronger.
        matches: about how many more matches of the two would decide.
    """

    bot: str
    rival: str
    difference: float
    matches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a tournament that plays until it is decided has decided so far.

    Attributes:
        stopped_because: why it has ended; None while it continues.
        open: what is not decided yet.
        matches_needed: about how many more matches would decide everything; None before the first look.
    """

    until: Until
    decided: bool
    stopped_because: StopReason | None
    claims: tuple[Claim, ...]
    open: tuple[OpenClaim, ...]
    matches_needed: int | None
