"""The strength of a bot: the share of decisions that keep the exact value, with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.lab.quality.estimate import Cluster, Estimate, share_of
from arena.lab.strength.decisions import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How often something was kept.

    Attributes:
        decisions: positions in which it could be lost.
        share: of them, in which it was kept, with its 95 % interval; None without any.
    """

    decisions: int
    share: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How well a bot did in a set of positions.

    Attributes:
        positions: in which it acted.
        without_choice: of them, in which every legal action keeps the value; they are left out.
        not_known: of them, whose exact values are not known; they are left out.
        value: how often it kept outcome and margin.
        outcome: how often it kept the outcome.
    """

    positions: int
    without_choice: int
    not_known: int
    value: Kept
    outcome: Kept


def strength_of(matches: Sequence[Sequence[Decision]]) -> Strength:
    """Return how well a bot did.

    Args:
        matches: its decisions; those of one match depend on each other, so matches are the unit of the intervals.
    """
    decisions = [one for match in matches for one in match]
    return Strength(
        positions=len(decisions),
        without_choice=sum(one.is_known and one.value is None for one in decisions),
        not_known=sum(not one.is_known for one in decisions),
        value=_kept(matches, lambda one: one.value),
        outcome=_kept(matches, lambda one: one.outcome),
    )


def _kept(matches: Sequence[Sequence[Decision]], what: Callable[[Decision], bool | None]) -> Kept:
    found = [[kept for one in match if (kept := what(one)) is not None] for match in matches]
    return Kept(
        decisions=sum(map(len, found)),
        share=share_of([Cluster(sum(match), len(match)) for match in found]),
    )
