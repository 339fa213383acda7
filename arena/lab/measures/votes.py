"""Votes of people who have played two variations of a game: which one they enjoyed more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any

from arena.base.errors import ArenaError
from arena.games import make_game
from arena.lab.measures.measure import Cluster, Estimate, Unit, estimate_text, share_of
from arena.lab.measures.report import estimate_json
from arena.store.people.answers import Enjoyed, Vote

SHARE, POWER, LEVEL = 0.6, 0.8, 0.05
"""If 60 of 100 prefer one, enough votes say so with this probability; if 50 do, with the last one."""


def needed_votes() -> int:
    """Return how many votes a test of one half needs for the power it should have.

    >>> needed_votes()
    194
    """
    at_chance = NormalDist().inv_cdf(1 - LEVEL / 2) * 0.5
    at_share = NormalDist().inv_cdf(POWER) * sqrt(SHARE * (1 - SHARE))
    return ceil(((at_chance + at_share) / (SHARE - 0.5)) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """How often each of two variations was preferred, and how often neither; ``earlier``: the one played first."""

    preferred: tuple[int, int]
    alike: int
    earlier: int

    @property
    def share(self) -> Estimate | None:
        """The share of the second variation among those with a preference; None without any."""
        one, other = self.preferred
        return share_of([Cluster(1.0)] * other + [Cluster(0.0)] * one)

    def sentence(self, other: str) -> str:
        """Return what is known; ``other`` is the second variation."""
        decided, share = sum(self.preferred), self.share
        if share is None:
            return f"not known: all {self.alike} who played both enjoyed them alike."
        is_clear = share.lies_above(0.5) or share.lies_below(0.5)
        return (
            f"{self.preferred[1]} of {decided} who played both preferred {other}: {estimate_text(share, Unit.SHARE)},"
            f" {'more' if is_clear else 'no more'} than chance. {self.earlier} of the {decided} preferred what they had"
            f" played first; {self.alike} enjoyed both alike."
            f" {needed_votes()} votes would show a preference of 60 to 40."
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for programs."""
        return {
            "preferred": list(self.preferred),
            "alike": self.alike,
            "preferred_the_earlier": self.earlier,
            "share": None if (share := self.share) is None else estimate_json(share),
            "needed": needed_votes(),
        }


def count_votes(votes: Iterable[Vote], game: str, both: tuple[Mapping[str, Any], ...]) -> VoteCount | None:
    """Count the votes between two sets of options of a game; None without any."""
    preferred, alike, earlier = [0, 0], 0, 0
    for vote in votes:
        try:
            played = [make_game(game, **json.loads(text)).options for text in (vote.first_options, vote.second_options)]
        except ArenaError:  # by rules that have changed since
            continue
        if played not in ([*both], [*both[::-1]]):
            continue
        if vote.choice is Enjoyed.ALIKE:
            alike += 1
            continue
        preferred[both.index(played[vote.choice is Enjoyed.SECOND])] += 1
        earlier += vote.choice is Enjoyed.FIRST
    one, other = preferred
    return VoteCount(preferred=(one, other), alike=alike, earlier=earlier) if alike + one + other else None
