"""The progress of a run: in words, and as a live bar with the top of the table in a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import click

from arena.analysis.text.tables import Column, fitted_table, printable, row_of
from arena.analysis.text.text_layout import cell_count, shortened, wrapped
from arena.base.text import counted, duration_text
from arena.cli.terminal.streams import USUAL_WIDTH
from arena.tournament.formats.format import StopLimits
from arena.tournament.progress import last_match, time_left, total_matches

if TYPE_CHECKING:
    from arena.analysis.measures.standings import Standing
    from arena.base.definition import Definition
    from arena.base.results import StoredResult
    from arena.tournament.progress import Progress


SEPARATOR = " · "


def share_done(progress: Progress, elapsed_seconds: float) -> float | None:
    """Return how much of a run is done, from 0 to 1: of a ladder, how near its nearest limit is; None if unknown."""
    limits, last = progress.stop_limits or StopLimits(), last_match(progress)
    shares = []
    if last is not None:
        shares.append(progress.recorded / max(1, last))
    if limits.margin_95 is not None and limits.widest_margin is not None:
        shares.append((limits.margin_95 / limits.widest_margin) ** 2)
    if limits.hours is not None:
        shares.append(elapsed_seconds / (3600 * limits.hours))
    return min(1.0, max(shares)) if shares else None


def run_parts(progress: Progress, elapsed_seconds: float) -> Iterator[str]:
    """Yield the parts of a progress line: the matches, the limits, the rate, and the state of the format."""
    limits, last = progress.stop_limits or StopLimits(), last_match(progress)
    recorded = progress.recorded
    yield counted(recorded, "match") if last is None else f"{recorded:,} of {counted(last, 'match')}"
    if limits.widest_margin is not None:
        stop = "" if limits.margin_95 is None else f", stops at {_limit_text(limits.margin_95)}"
        yield f"widest ± {limits.widest_margin:.2f}{stop}"
    elif limits.margin_95 is not None:
        yield f"stops at {_limit_text(limits.margin_95)}"
    if limits.hours is not None:
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


TOP = 5
MAX_NAME_CELLS = 20
"""Longer labels are shortened beside the bar."""

PLAIN_SECONDS = 10.0
PLAIN_SHARE = 0.1
RATING_SHARE = 0.05
"""The largest share of the director's time that the live table may take."""
DRAWING_SECONDS = 0.25

TOP_COLUMNS = (
    Column("rank", ""),
    Column("bot", "bot", is_number=False),
    Column("exposure", "exposure", decimals=2),
    Column("matches", "matches", drop_order=1),
    Column("score", "score %", decimals=1, drop_order=2),
)
HIDE_CURSOR, SHOW_CURSOR, ERASE_BELOW = "\x1b[?25l", "\x1b[?25h", "\x1b[J"


def make_progress(definition: Definition, quiet: bool, label: str = "", notes: Sequence[str] = ()) -> Silent:
    """Return the display for this stderr: live in a terminal, plain lines elsewhere, or none."""
    if quiet:
        return Silent()
    is_live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return (Live if is_live else PlainLines)(definition, label, notes)


class Silent:
    """Shows nothing of the progress of a run. A context manager, as those that show it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def count(self, earlier: Iterable[StoredResult]) -> None:
        """Count the results of earlier runs, which only a table needs: others don't read them."""

    def update(self, progress: Progress) -> None:
        """Show nothing."""


class PlainLines(Silent):
    """A line on stderr for each tenth of the matches, and every ten seconds."""

    def __init__(self, definition: Definition, label: str = "", notes: Sequence[str] = ()) -> None:
        self._label = label or definition.name
        self._notes = notes
        self._started = time.monotonic()
        self._printed_at = self._started
        self._printed = -1

    def update(self, progress: Progress) -> None:
        """Print a line if the interval since the last one is over."""
        now = time.monotonic()
        steps = progress.recorded - self._printed
        is_due = steps >= PLAIN_SHARE * total_matches(progress) or now - self._printed_at > PLAIN_SECONDS
        if steps == 0 or not (is_due or self._printed < 0 or progress.is_complete):
            return
        for note in self._notes if self._printed < 0 else ():
            click.echo(printable(f"{self._label}: {note}"), err=True)
        self._printed, self._printed_at = progress.recorded, now
        elapsed_seconds = now - self._started
        left = time_left(progress, elapsed_seconds)
        parts = [*run_parts(progress, elapsed_seconds), *([str(left)] if left and left.seconds else [])]
        click.echo(printable(f"{self._label}: {SEPARATOR.join(parts)}"), err=True)


class Live(Silent):
    """A progress bar with rate, time left and the top of the table, or what is known instead, a few times a second."""

    def __init__(self, definition: Definition, label: str = "", notes: Sequence[str] = ()) -> None:
        self._entrants = [bot.label for bot in definition.entrants]
        self._names = definition.shown_names
        self._notes = notes
        self._label = shortened([printable(label or definition.name)], MAX_NAME_CELLS)[0]
        self._progress: Progress | None = None
        self._results: Counter[tuple[str, str, str]] = Counter()
        self._top: tuple[Standing, ...] = ()
        self._next_rating_at = 0.0
        self._started = time.monotonic()
        self._lines = _LiveLines(self._draw)

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.stop()

    def count(self, earlier: Iterable[StoredResult]) -> None:
        import json

        self._results.update((result.game, json.dumps(result.bots), json.dumps(result.ranks)) for result in earlier)

    def update(self, progress: Progress) -> None:
        """Count the new results; update the ratings when enough time has passed, and the counter with them."""
        self._results.update((row.game, row.bots, row.ranks) for row in progress.new)
        shown = replace(progress)  # a copy: the run counts on in its own
        if not self._results or self._notes:
            self._progress = shown
        elif time.monotonic() >= self._next_rating_at or progress.is_complete:
            took_seconds = self._rate()
            self._progress = shown  # the table is of the matches that are counted above it
            self._next_rating_at = time.monotonic() + max(0.5, took_seconds / RATING_SHARE)

    def _rate(self) -> float:
        """Rate all results so far; return the time of the processor that this took."""
        import json

        from arena.analysis.measures.result_table import CountedEncounter, ResultTable
        from arena.analysis.measures.standings import standings

        began = time.thread_time()
        counted = [
            CountedEncounter(game, ((json.loads(bots), json.loads(ranks)),), count)
            for (game, bots, ranks), count in self._results.items()
        ]
        self._top = standings(ResultTable.of(counted), {}, self._names, everybody=self._entrants).lines[:TOP]
        return time.thread_time() - began

    def _draw(self, width: int) -> list[str]:
        elapsed_seconds = time.monotonic() - self._started
        share, left, parts = None, "", list[str]()
        if self._progress is not None:
            share = share_done(self._progress, elapsed_seconds)
            left = str(time_left(self._progress, elapsed_seconds) or "")
            parts = [printable(part) for part in run_parts(self._progress, elapsed_seconds)]
        bar_cells = width - cell_count(self._label) - cell_count(left) - 2
        first = f"{self._label} {_bar(share, max(1, bar_cells), elapsed_seconds)} {left}".rstrip()
        lines = [shortened([line], width)[0] for line in in_lines(parts, width)]
        notes = [line for note in self._notes for line in wrapped(printable(note), width)]
        return [first, *lines, *notes, *self._table(width)]

    def _table(self, width: int) -> list[str]:
        rows = [
            row_of(
                TOP_COLUMNS,
                line,
                exposure=line.rating.exposure,
                score=None if line.score_share is None else 100 * line.score_share,
            )
            for line in self._top
        ]
        return fitted_table(TOP_COLUMNS, rows, width)[0].splitlines() if rows else []


def _bar(share: float | None, cells: int, elapsed_seconds: float) -> str:
    letter = "\u2501" if (sys.stderr.encoding or "").lower().startswith("utf") else "-"
    if share is None:
        begin, end = (int(elapsed_seconds * cells / 2) % cells + step for step in (0, max(1, cells // 4)))
    else:
        begin, end = 0, int(min(1.0, share) * cells)
    if os.environ.get("NO_COLOR"):
        return "".join(letter if begin <= cell < end else " " for cell in range(cells))
    done, rest = letter * (min(end, cells) - begin), letter * (cells - min(end, cells))
    painted = click.style(letter * begin, fg="bright_black") if begin else ""
    return painted + click.style(done, fg="magenta") + click.style(rest, fg="bright_black")


class _LiveLines:
    def __init__(self, draw: Callable[[int], list[str]]) -> None:
        self._draw = draw
        self._is_over = threading.Event()
        self._lock = threading.RLock()
        self._shown = 0

    def start(self) -> None:
        self._streams = sys.stdout, sys.stderr
        self._stream = sys.stderr
        if sys.stdout.isatty():
            sys.stdout = _Above(sys.stdout, self)
        sys.stderr = _Above(sys.stderr, self)
        self._thread = threading.Thread(target=self._keep_drawing, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        sys.stdout, sys.stderr = self._streams
        self._stream.write(self._erasing() + SHOW_CURSOR)
        self._stream.flush()

    def print_above(self, text: str, stream: Any) -> None:
        with self._lock:
            self._stream.write(self._erasing())
            self._stream.flush()
            stream.write(text)
            stream.flush()
            self._show()

    def _keep_drawing(self) -> None:
        while not self._is_over.wait(DRAWING_SECONDS):
            with self._lock:
                self._show()

    def _show(self) -> None:
        width, height = shutil.get_terminal_size((USUAL_WIDTH, 24))
        lines = self._draw(width)[: max(1, height - 1)]
        self._stream.write(f"{HIDE_CURSOR}{self._erasing()}" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._shown = len(lines)

    def _erasing(self) -> str:
        shown, self._shown = self._shown, 0
        return f"\r\x1b[{shown}A{ERASE_BELOW}" if shown else ""


class _Above:
    def __init__(self, stream: Any, lines: _LiveLines) -> None:
        self._stream, self._lines, self._begun = stream, lines, ""

    def write(self, text: str) -> int:
        whole, newline, self._begun = (self._begun + text).rpartition("\n")
        if newline:
            self._lines.print_above(whole + newline, self._stream)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
