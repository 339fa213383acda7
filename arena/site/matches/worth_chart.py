"""What the positions of a match are worth, as SVG: every action is a segment, so that a loss is a slope."""

from __future__ import annotations

from markupsafe import Markup

from arena.analysis.text.match_view import SEAT_STYLES
from arena.site.matches.boards import CHART_HEIGHT, CHART_WIDTH, across, down
from arena.site.matches.match_model import ViewedMatch

STYLES = {"?": " mistake", "??": " blunder"}
"""Of segments, by mark."""


def worths_svg(match: ViewedMatch, ply: int) -> Markup:
    """Return the margins with best play over the plies; empty unless two positions in a row are known exactly."""
    known = [one.annotation for one in match.positions]
    margins = [None if one is None else one.margin for one in known]
    there = [margin for margin in margins if margin is not None]
    low, high = min(there, default=0.0), max(there, default=0.0)
    low, high, count = min(low, 0.0), max(high, 0.0), len(margins)
    segments = ""
    for index in range(1, count):
        before, after, annotation = margins[index - 1], margins[index], known[index]
        seat = match.positions[index].seat
        if before is None or after is None or annotation is None or seat is None:
            continue
        ends = f'x1="{across(index - 1, count)}" x2="{across(index, count)}"'
        heights = f'y1="{down(before, low, high)}" y2="{down(after, low, high)}"'
        segments += f'<line class="seat{seat % SEAT_STYLES}{STYLES.get(annotation.mark, "")}" {ends} {heights}/>'
    if not segments:
        return Markup()
    zero, cursor = down(0.0, low, high), across(ply - match.first_ply, count)
    return Markup(
        f'<svg id="worths" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<line class="zero" x1="0" x2="{CHART_WIDTH}" y1="{zero}" y2="{zero}"/>'
        f'<line class="cursor" x1="{cursor}" x2="{cursor}" y1="0" y2="{CHART_HEIGHT}"/>{segments}</svg>'
    )
