"""Builds standings, crosstables and what they say."""

from __future__ import annotations

from arena.analysis.standings import Standing
from arena.enums import FaultKind
from arena.site.models.standings import StandingLine


def standing_line(line: Standing) -> StandingLine:
    """Return one bot's line."""
    share = line.score_share
    seats = [line.seat_share(seat) for seat in range(len(line.seat_matches))]
    return StandingLine(
        rank=line.rank,
        bot=line.bot,
        label=line.label,
        exposure=line.rating.exposure,
        mu=line.rating.mu,
        sigma=line.rating.sigma,
        margin_95=line.margin,
        rank_95=line.rank_interval,
        better_than_next=line.los,
        same_as_next=line.same_as_next,
        group=line.group,
        matches=line.matches,
        finish_counts=line.finish_counts,
        wins=line.wins,
        draws=line.draws,
        losses=line.losses,
        points=line.points,
        score_percent=None if share is None else 100 * share,
        seat_matches=line.seat_matches,
        seat_percent=tuple(None if share is None else 100 * share for share in seats),
        faults={FaultKind(kind): count for kind, count in sorted(line.faults.items())},
        author=line.author,
    )
