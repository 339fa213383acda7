"""Tie-breaks of the Swiss system under their FIDE codes (FIDE Handbook C.07, "Play-Off and Tie-Break Regulations").

- BH, Buchholz: the sum of the rivals' scores. A round without a rival counts as met by a dummy that ends with one's own
  score.
- BH-C1, Buchholz cut 1: without the lowest of them.
- SB, Sonneborn-Berger: the scores of the rivals one has beaten, and half of those one has drawn with.
- DE, direct encounter: the score among those who have the same score, if all of them have met; otherwise nothing.
- WON: how many rounds were won against a rival.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class CardLine(NamedTuple):
    """One round of one entrant.

    Attributes:
        rival: whom it met; None for a bye or another round without a rival.
        score: what the round counts: 1, 0.5 or 0.
        points: of the entrant and of the rival in the matches of their meeting; None without a rival.
    """

    rival: int | None
    score: float
    points: tuple[float, float] | None = None


Card = list[CardLine]
"""An entrant's rounds, in order."""

_TieBreak = Callable[[int, Sequence[Card], Sequence[float]], float]


def tie_breaks(cards: Sequence[Card], codes: Sequence[str]) -> list[dict[str, float]]:
    """Return for each entrant its ``score`` and the value of each tie-break."""
    scores = [sum(entry.score for entry in card) for card in cards]
    return [{"score": scores[k], **{code: CODES[code](k, cards, scores) for code in codes}} for k in range(len(cards))]


def _contributions(k: int, cards: Sequence[Card], scores: Sequence[float]) -> list[float]:
    return [scores[k] if entry.rival is None else scores[entry.rival] for entry in cards[k]]


def _buchholz(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    return sum(_contributions(k, cards, scores))


def _buchholz_cut_1(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    values = _contributions(k, cards, scores)
    return sum(values) - min(values, default=0.0)


def _sonneborn_berger(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    values = _contributions(k, cards, scores)
    return sum(entry.score * value for entry, value in zip(cards[k], values, strict=True))


def _direct_encounter(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    equals = [other for other in range(len(cards)) if scores[other] == scores[k]]
    if not 2 <= len(equals) <= 1 + len(cards[k]):  # too many to have met them all
        return 0.0
    met = {other: {entry.rival for entry in cards[other]} for other in equals}
    if not all(b in met[a] for a in equals for b in equals if a != b):
        return 0.0
    return sum(entry.score for entry in cards[k] if entry.rival in equals)


def _won(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    return float(sum(entry.score == 1 and entry.rival is not None for entry in cards[k]))


CODES: Mapping[str, _TieBreak] = {
    "BH": _buchholz,
    "BH-C1": _buchholz_cut_1,
    "SB": _sonneborn_berger,
    "DE": _direct_encounter,
    "WON": _won,
}
