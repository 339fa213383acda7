"""The progress of a run: a live bar with the top of the table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import click

from arena.cli.run_progress import SEPARATOR, in_lines, run_parts, share_done
from arena.cli.streams import USUAL_WIDTH
from arena.report.tables import printable
from arena.report.text_layout import shortened
from arena.tournament.progress import time_left, total_matches

if TYPE_CHECKING:
    from arena.analysis.standings import Standing
    from arena.definition import Definition
    from arena.tournament.progress import Progress

TOP = 5
MAX_NAME_CELLS = 20
"""Longer labels are shortened beside the bar."""

PLAIN_SECONDS = 10.0
PLAIN_SHARE = 0.1
RATING_SHARE = 0.05
"""The largest share of the director's time that the live table may take."""


class ProgressDisplay(Protocol):
    """Shows the progress of a run. A context manager."""

    def __enter__(self) -> ProgressDisplay: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def update(self, progress: Progress) -> None:
        """Show new results."""


def make_progress(definition: Definition, quiet: bool, label: str = "", notes: Sequence[str] = ()) -> ProgressDisplay:
    """Return the display for this stderr: live in a terminal, plain lines elsewhere, or none.

    Args:
        definition: of the tournament.
        quiet: whether to show nothing.
        label: what is being played; by default the tournament's name.
        notes: what is known of it, to be shown in place of a table of ratings.
    """
    if quiet:
        return Silent()
    return (Live if sys.stderr.isatty() else PlainLines)(definition, label, notes)


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass

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


class Live:
    """A progress bar with rate, time left and the top of the table, or what is known instead, a few times a second."""

    def __init__(self, definition: Definition, label: str = "", notes: Sequence[str] = ()) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._entrants = [bot.label for bot in definition.entrants]
        self._names = definition.shown_names
        self._notes = notes
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[left]}", markup=False),
            expand=True,
        )
        name = shortened([printable(label or definition.name)], MAX_NAME_CELLS)[0]
        self._task = self._bar.add_task(name, total=None, left="")
        self._progress: Progress | None = None
        self._results: Counter[tuple[str, str, str]] = Counter()
        self._top: tuple[Standing, ...] = ()
        self._next_rating_at = 0.0
        self._console = Console(stderr=True)
        self._started = time.monotonic()
        self._live = RichLive(console=self._console, refresh_per_second=4, transient=True, get_renderable=self._draw)

    def __enter__(self) -> Live:
        self._started = time.monotonic()
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, progress: Progress) -> None:
        """Count the new results; update the ratings when enough time has passed."""
        self._progress = progress
        self._results.update((row.game, row.bots, row.ranks) for row in progress.new)
        now = time.monotonic()
        if now >= self._next_rating_at and self._results and not self._notes:
            self._rate()
            took = time.monotonic() - now
            self._next_rating_at = now + max(0.5, took / RATING_SHARE)

    def _rate(self) -> None:
        import json

        from arena.analysis.encounters import CountedEncounter, CountedMatch
        from arena.analysis.standings import standings

        counted = [
            CountedEncounter(game, (CountedMatch(tuple(json.loads(bots)), tuple(json.loads(ranks))),), count)
            for (game, bots, ranks), count in self._results.items()
        ]
        self._top = standings(counted, {}, self._names, everybody=self._entrants).lines[:TOP]

    def _draw(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        gap = 2 if self._console.width >= USUAL_WIDTH else 1
        table = Table(box=None, padding=(0, gap, 0, 0))
        for title in ("", "bot", "exposure", "matches", "score %"):
            table.add_column(title, justify="left" if title == "bot" else "right")
        for line in self._top:
            score = "-" if line.score_share is None else f"{100 * line.score_share:.1f}"
            name = Text(printable(line.bot))
            table.add_row(str(line.rank), name, f"{line.rating.exposure:.2f}", str(line.matches), score)
        notes = [Text(printable(note)) for note in self._notes]
        return Group(self._bar, *self._lines(), *notes, *([table] if self._top else []))

    def _lines(self) -> list[Any]:
        """Update the bar, and return the lines below it."""
        from rich.text import Text

        if self._progress is None:
            return []
        elapsed_seconds = time.monotonic() - self._started
        share = share_done(self._progress, elapsed_seconds)
        left = time_left(self._progress, elapsed_seconds)
        self._bar.update(
            self._task,
            completed=0 if share is None else share,
            total=None if share is None else 1,
            left="" if left is None else str(left),
        )
        parts = [printable(part) for part in run_parts(self._progress, elapsed_seconds)]
        return [Text(line, no_wrap=True) for line in in_lines(parts, self._console.width)]
