"""How far a run is, in words: against its schedule or against each limit of a ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.analysis.text.text_layout import cell_count
from arena.base.text import counted, duration_text
from arena.tournament.progress import total_matches

if TYPE_CHECKING:
    from arena.tournament.progress import Progress

SEPARATOR = " · "


def share_done(progress: Progress, elapsed_seconds: float) -> float | None:
    """Return how much of a run is done, from 0 to 1: of a ladder, how near its nearest limit is; None if unknown."""
    limits = progress.stop_limits
    if limits is None:
        return progress.recorded / max(1, total_matches(progress))
    shares = []
    if limits.matches is not None:
        shares.append(progress.recorded / limits.matches)
    if limits.margin_95 is not None and limits.widest_margin is not None:
        shares.append((limits.margin_95 / limits.widest_margin) ** 2)
    if limits.hours is not None:
        shares.append(elapsed_seconds / (3600 * limits.hours))
    return min(1.0, max(shares)) if shares else None


def run_parts(progress: Progress, elapsed_seconds: float) -> Iterator[str]:
    """Yield what is to be said of a run: its matches, its limits, its rate, and the state of its format."""
    limits = progress.stop_limits
    if limits is None:
        yield f"{progress.recorded:,} of {counted(total_matches(progress), 'match')}"
    elif limits.matches is not None:
        yield f"{progress.recorded:,} of {counted(limits.matches, 'match')}"
    else:
        yield counted(progress.recorded, "match")
    if limits is not None and limits.widest_margin is not None:
        stop = "" if limits.margin_95 is None else f", stops at {_limit_text(limits.margin_95)}"
        yield f"widest ± {limits.widest_margin:.2f}{stop}"
    elif limits is not None and limits.margin_95 is not None:
        yield f"stops at {_limit_text(limits.margin_95)}"
    if limits is not None and limits.hours is not None:
        yield f"{duration_text(elapsed_seconds)} of {duration_text(3600 * limits.hours)}"
    if progress.played and elapsed_seconds > 0:
        yield f"{progress.played / elapsed_seconds:.1f}/s"
    if progress.status:
        yield progress.status


def _limit_text(margin_95: float) -> str:
    return f"± {margin_95:.1f}" if margin_95.is_integer() else f"± {margin_95:g}"


def in_lines(parts: Sequence[str], width: int) -> list[str]:
    """Return parts in lines of at most ``width`` cells, each part in one line if it fits there at all."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_count(lines[-1] + SEPARATOR + part) <= width:
            lines[-1] += SEPARATOR + part
        else:
            lines.append(part)
    return lines
