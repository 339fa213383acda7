"""The crosstable of the report, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping

from arena.analysis.standings import Score, Standings
from arena.report.markup import linked, text

MAX_BOTS = 60

STEPS = 10
"""Colours from a score of 0 to one of 100 %."""


def crosstable_section(scores: Mapping[tuple[str, str], Score], table: Standings, anchors: Mapping[str, str]) -> str:
    """Return each bot's score against each rival, in percent.

    Args:
        scores: by (bot, rival).
        table: the standings, which order the bots.
        anchors: the sections of bots, by the name that tables show.
    """
    names = dict(list(table.shown_names.items())[:MAX_BOTS])
    heads = "".join(
        f'<th scope="col"><abbr title="{text(shown)}">{number}</abbr></th>'
        for number, shown in enumerate(names.values(), 1)
    )
    rows = "\n".join(
        f'<tr><td class="rank">{number}</td><th scope="row" class="who">{linked(shown, anchors)}</th>'
        f"{''.join(_cell(scores.get((bot, rival)), bot == rival) for rival in names)}</tr>"
        for number, (bot, shown) in enumerate(names.items(), 1)
    )
    left = len(table.lines) - len(names)
    more = f" The first {MAX_BOTS} bots; arena crosstable has all {len(table.lines)}." if left > 0 else ""
    return (
        '<p class="legend">Points per match in percent, the row against the column: green above half, rust below, white'
        f" for half.{more}</p>"
        '<div class="scroll" role="region" tabindex="0" aria-label="crosstable"><table class="heat"><thead><tr>'
        f'<th scope="col" class="rank">#</th><th scope="col" class="who">bot</th>{heads}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _cell(score: Score | None, is_self: bool) -> str:
    if score is None or not score.matches:
        return '<td class="self"></td>' if is_self else "<td></td>"
    share = score.points / score.matches
    exact = f"{score.points:g} of {score.matches}"
    return f'<td class="h{round(STEPS * share)}" title="{exact}">{100 * share:.0f}</td>'
