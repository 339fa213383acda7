"""A match in a list of results."""

from __future__ import annotations

from arena.base.enums import FaultKind, Termination
from arena.site.frame.model import Model


class ListedFault(Model):
    """What a bot did wrong.

    Attributes:
        seat: the seat it sat in.
        kind: what it did wrong.
        ply: the number of actions so far.
    """

    seat: int
    kind: FaultKind
    ply: int


class ListedResult(Model):
    """A match in a list of results.

    Attributes:
        tournament: the tournament's name.
        match: the number of the match.
        game: what was played.
        bots: ``name@version`` per seat.
        names: what tables call them, per seat.
        scores: by the rules, per seat.
        ranks: per seat, 1 is best, ties share.
        plies: the number of actions, those of the opening included.
        termination: why it ended.
        faults: what bots did wrong.
    """

    tournament: str
    match: int
    game: str
    bots: tuple[str, ...]
    names: tuple[str, ...]
    scores: tuple[int | float, ...]
    ranks: tuple[int, ...]
    plies: int
    termination: Termination
    faults: tuple[ListedFault, ...] = ()

    @property
    def winner(self) -> int | None:
        """The seat that alone was first; None without one."""
        return self.ranks.index(1) if self.ranks.count(1) == 1 else None

    @property
    def has_comparable_scores(self) -> bool:
        """Whether the scores say who won: not after a forfeit, which ends a match before its end."""
        return not self.faults
