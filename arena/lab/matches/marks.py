"""Marks of actions: which ones lost something for certain. Where bounds leave a doubt there is no mark."""

from __future__ import annotations

from enum import StrEnum

from arena.lab.solving.worth import Outcome, Worth

POINTS_OF_OUTCOME = {Outcome.LOSS: 0.0, Outcome.DRAW: 0.5, Outcome.WIN: 1.0}
"""For seat 0, as results count them; seat 1 has the rest."""


class Mark(StrEnum):
    """What an action lost."""

    NONE = ""
    MISTAKE = "?"
    BLUNDER = "??"


def points_for(seat: int, outcome: Outcome) -> float:
    """Return the points of a seat in a match that ends so for seat 0."""
    points = POINTS_OF_OUTCOME[outcome]
    return points if seat == 0 else 1.0 - points


def mark_of(seat: int, before: Worth, after: Worth) -> Mark:
    """Return the mark of an action.

    Args:
        seat: that acted.
        before: what the state before the action is worth to seat 0.
        after: what the state after it is worth to seat 0.
    """
    held, left = _least_points(seat, before), _most_points(seat, after)
    if left < held:
        return Mark.BLUNDER
    least, most = _least_margin(seat, before), _most_margin(seat, after)
    return Mark.MISTAKE if least is not None and most is not None and most < least else Mark.NONE


def _least_points(seat: int, worth: Worth) -> float:
    """Return the points that a seat has for certain with best play."""
    return points_for(seat, worth.least if seat == 0 else worth.most)


def _most_points(seat: int, worth: Worth) -> float:
    return points_for(seat, worth.most if seat == 0 else worth.least)


def _least_margin(seat: int, worth: Worth) -> float | None:
    if seat == 0:
        return worth.low
    return None if worth.high is None else -worth.high


def _most_margin(seat: int, worth: Worth) -> float | None:
    if seat == 0:
        return worth.high
    return None if worth.low is None else -worth.low
