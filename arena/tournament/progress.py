"""How far a run is, and how long it will still take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from arena.base.errors import GameError
from arena.base.results import EntrantRating
from arena.base.text import duration_text
from arena.store.results.rows import RecordRow
from arena.tournament.formats.format import StopLimits


@dataclass(slots=True)
class Progress:
    """How much of a tournament has been played.

    Attributes:
        scheduled: matches in the schedule so far.
        recorded: matches with a record, earlier runs included.
        expected: matches in the whole tournament; None if their number is not known.
        status: the state of the tournament in a few words, from its format.
        stop_limits: what ends a tournament without a fixed number of rounds, such as a ladder.
        least_certain: the ratings of those who are rated least certainly, which are the newcomers; from its format.
        is_finished: whether no round follows.
        is_stopped: whether the run was stopped before everything was played.
        played: matches recorded in this run.
        playing: matches that are being played now, where that is known.
        given_up: matches that were void too often, with the reason of the last try.
        game_errors: matches that have no result because their game is wrong, with its mistake.
        put_off: matches of a ladder that wait for a later run, for one of their bots is away.
        new: the rows recorded since the last call of the listener.
        notice: a sentence about what may have disturbed the matches; empty if nothing is known.
    """

    scheduled: int
    recorded: int
    expected: int | None = None
    status: str = ""
    stop_limits: StopLimits | None = None
    least_certain: tuple[EntrantRating, ...] = ()
    is_finished: bool = False
    is_stopped: bool = False
    played: int = 0
    playing: int = 0
    given_up: dict[int, str] = field(default_factory=dict)
    game_errors: dict[int, GameError] = field(default_factory=dict)
    put_off: set[int] = field(default_factory=set)
    new: list[RecordRow] = field(default_factory=list)
    notice: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every match has a record, and no round follows in this run."""
        return self.recorded == self.scheduled and self.is_finished

    @property
    def is_up_to_date(self) -> bool:
        """Whether nothing can be played before one of those comes who are away, or somebody new."""
        return self.is_finished and self.left == len(self.put_off)

    @property
    def left(self) -> int:
        """Scheduled matches without a record."""
        return self.scheduled - self.recorded


class TimeLeft(NamedTuple):
    """An estimate of the time a run still takes.

    Attributes:
        seconds: until the first limit is reached.
        is_rough: whether it is extrapolated from the widest interval.
    """

    seconds: float
    is_rough: bool = False

    def __str__(self) -> str:
        """The estimate in words."""
        return f"{'about ' if self.is_rough else ''}{duration_text(self.seconds)} left"


def total_matches(progress: Progress) -> int:
    """Return the number of matches in the whole tournament, as far as it is known."""
    return max(progress.scheduled, progress.expected or 0)


def time_left(progress: Progress, elapsed_seconds: float) -> TimeLeft | None:
    """Return the time until a run ends, for a ladder at the limit that it reaches first; None if unknown.

    The widest interval narrows about as 1 / √matches. In simulated ladders of 4 to 20 bots the number of matches that
    follows from this was up to twice the true one at the beginning, and within a tenth of it from half-way on.
    """
    rate = progress.played / elapsed_seconds if elapsed_seconds > 0 else 0.0
    limits = progress.stop_limits
    found = []
    if limits is None and rate:
        found.append(TimeLeft((total_matches(progress) - progress.recorded) / rate))
    if limits is not None and limits.hours is not None:
        found.append(TimeLeft(3600 * limits.hours - elapsed_seconds))
    if limits is not None and limits.matches is not None and rate:
        found.append(TimeLeft((limits.matches - progress.recorded) / rate))
    if limits is not None and limits.margin_95 is not None and limits.widest_margin is not None and rate:
        growth = (limits.widest_margin / limits.margin_95) ** 2
        found.append(TimeLeft(progress.recorded * (growth - 1) / rate, is_rough=True))
    return max(min(found), TimeLeft(0.0)) if found else None
