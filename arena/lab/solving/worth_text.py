"""Worths in words. A margin is that of seat 0, so its sign says whom it is good for."""

from __future__ import annotations

from collections.abc import Sequence

from arena.lab.solving.worth import Known, Outcome, Worth

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
    """Return who wins with best play, as far as that is known; empty if nothing is."""
    first, second = names
    if worth.outcome is not None:
        return {Outcome.WIN: f"{first} wins", Outcome.DRAW: "a draw", Outcome.LOSS: f"{second} wins"}[worth.outcome]
    if worth.least is Outcome.DRAW:
        return f"{first} does not lose"
    return f"{second} does not lose" if worth.most is Outcome.DRAW else ""


def worth_text(worth: Worth, names: Sequence[str] = SEATS) -> str:
    """Return what a state is worth, in a few words.

    Args:
        worth: of a state of a game for two.
        names: of the seats.
    """
    outcome, margin = outcome_text(worth, names), margin_text(worth)
    if worth.outcome is Outcome.DRAW and worth.margin == 0:
        return outcome
    if worth.low is None and worth.high is None:
        return outcome or "not known"
    return f"{outcome}, margin {margin}" if outcome else f"margin {margin}"
