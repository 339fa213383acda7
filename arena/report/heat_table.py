"""Tables of every bot against every other, as heat maps: the crosstable, and who is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.analysis.crosstable import Score
from arena.report.markup import text

MAX_BOTS = 60

STEPS = 10
"""Colours from 0 to 100 %."""

Cell = tuple[float, str, str]
"""A share from 0 to 1, its text, and what a pointer shows."""


def heat_table(
    label: str, bots: Sequence[str], linked: Callable[[str], str], cell: Callable[[int, int], Cell | None]
) -> str:
    """Return a heat map of at most ``MAX_BOTS`` bots.

    Args:
        label: what the table is, for screen readers.
        bots: the names that tables show, in the order of the standings.
        linked: a name as a link.
        cell: what the row's bot has against the column's, by their numbers from 0.
    """
    shown = bots[:MAX_BOTS]
    heads = "".join(
        f'<th scope="col"><abbr title="{text(bot)}">{number}</abbr></th>' for number, bot in enumerate(shown, 1)
    )
    rows = "\n".join(
        f'<tr><td class="rank">{row + 1}</td><th scope="row" class="who">{linked(bot)}</th>'
        f"{''.join(_cell(cell(row, column)) for column in range(len(shown)))}</tr>"
        for row, bot in enumerate(shown)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}, table"><table class="heat">'
        f'<thead><tr><th scope="col" class="rank">#</th><th scope="col" class="who">bot</th>{heads}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    share, shown, exact = cell
    return f'<td class="h{round(STEPS * share)}" title="{text(exact)}">{text(shown)}</td>'


def score_cell(score: Score | None) -> Cell | None:
    """Return the cell of a score; None if the bots have not met."""
    if score is None or not score.matches:
        return None
    share = score.points / score.matches
    return share, f"{100 * share:.0f}", f"{score.points:g} of {score.matches}"


def probability_cell(probability: float | None) -> Cell | None:
    """Return the cell of a probability, which never says more than is known: ``>99``, not ``100``."""
    if probability is None:
        return None
    percent = 100 * probability
    shown = ">99" if percent > 99 else "<1" if percent < 1 else f"{percent:.0f}"
    return probability, shown, f"{percent:.1f} %"


def left_out(bots: int, command: str) -> str:
    """Return the sentence about bots that a heat map leaves out; empty if it has all of them."""
    return f" The first {MAX_BOTS} bots; {command} has all {bots:,}." if bots > MAX_BOTS else ""
