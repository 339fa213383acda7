"""What is known of a game with its options: the answer of ``arena lab solve``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from arena.lab.solving.retrograde import TIE_RULE, Shares
from arena.lab.solving.worth import Known, Worth


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
        game: the game's name or dotted path.
        options: the values of all options.
        worth: of a game for two.
        shares: of a game for more: each seat's share of rivals beaten, when every seat plays for its own.
        paranoid: of a game for more: the share that each seat can hold against all others together.
        shares_known: how the shares are known.
        best: the first actions that keep what is known, up to symmetry; all of them if ``has_all_best``.
        has_all_best: whether no other first action keeps it.
        states: how many states were looked at.
        edges: how many actions were looked at; 0 where they were not counted.
        seconds: how long it took.
        memory_bytes: about how much memory it took.
        depth: of a search, how many actions were looked ahead completely.
        proofs: the strategies that prove it, or its bounds.
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

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        about: dict[str, Any] = {"game": self.game, "options": dict(self.options)}
        if self.worth is not None:
            about |= {
                "margin": self.worth.margin,
                "outcome": self.worth.outcome,
                "known": self.worth.known,
                "low": self.worth.low,
                "high": self.worth.high,
            }
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
