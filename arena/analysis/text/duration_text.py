"""How long a tournament will take, in sentences and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.analysis.measures.balance import GameTimes, bound_seconds, estimate
from arena.analysis.text.tables import Column, Row
from arena.base.records import TimeControl
from arena.base.text import counted
from arena.tournament.director import MEASURE_SECONDS, BotFailures, Measurement

MEASURED_COLUMNS = [
    Column("game", "game", is_number=False),
    Column("measured_matches", "measured"),
    Column("seconds_a_match", "seconds a match", 4),
    Column("matches", "matches"),
    Column("expected_seconds", "expected seconds", 1),
    Column("low_seconds", "at least", 1),
    Column("high_seconds", "at most", 1),
]


def measured_rows(times: Sequence[GameTimes], matches: Sequence[float] | None, workers: int) -> list[Row]:
    """Return a row for each game; ``matches``: how many to play of each, None for a tournament without end."""
    rows: list[Row] = []
    for number, game_times in enumerate(times):
        count = None if matches is None else matches[number]
        expected = estimate([game_times], [count / workers]) if game_times.seconds and count is not None else None
        low, high = (expected.interval if expected is not None else None) or (None, None)
        rows.append(
            {
                "game": game_times.game,
                "measured_matches": len(game_times.seconds),
                "seconds_a_match": game_times.mean_seconds if game_times.seconds else None,
                "matches": None if count is None else round(count),
                "expected_seconds": None if expected is None else expected.seconds,
                "low_seconds": low,
                "high_seconds": high,
            }
        )
    return rows


def time_sentences(
    times: Sequence[GameTimes], matches: Sequence[float] | None, workers: int, control: TimeControl, played: str
) -> list[str]:
    """Return the expected time with its interval and its bound, a sentence in each line.

    ``matches``: how many to play of each game, None for a tournament without end; ``played`` names the source of the
    times, as in "32 recorded matches".
    """
    by_game = ", ".join(f"{game_times.game} {1000 * game_times.mean_seconds:.1f} ms" for game_times in times)
    if matches is None:
        matches_an_hour = 3600 * workers * len(times) / sum(game_times.mean_seconds for game_times in times)
        return [
            f"expected time: without end; a match takes {by_game}",
            f"about {matches_an_hour:,.0f} matches an hour with {workers} at a time, from {played}",
        ]
    expected = estimate(times, [count / workers for count in matches])
    lines = [
        f"expected time: {long_duration_text(expected.seconds)} with {workers} at a time"
        f" (measured for a match: {by_game})"
    ]
    if expected.interval is None:
        lines.append(f"from {played}: too few for an interval")
    else:
        low, high = map(long_duration_text, expected.interval)
        lines.append(f"95 % interval: {low} to {high}, from {played}")
    bound = bound_seconds(times, [count / workers for count in matches], control)
    if bound is None:
        lines.append("no bound: the time control does not limit actions")
    else:
        lines.append(f"by the time control alone: at most {long_duration_text(bound)}, if bots used all their time")
    return lines


def unknown_time(times: Iterable[GameTimes], is_measured: bool) -> str | None:
    """Return why the expected time is unknown; None if every game has a match."""
    names = [game_times.game for game_times in times if not game_times.seconds]
    if not names:
        return None
    if is_measured:
        return f"expected time: unknown, for no match of {', '.join(names)} has ended without a fault"
    return (
        f"expected time: unknown, for no match of {', '.join(names)} between these bots has been recorded yet;"
        " --measure plays a few"
    )


def failure_sentences(measurement: Measurement) -> list[str]:
    """Return what went wrong in measured matches: bots that failed, and failures of the arena."""
    lines = [_failure(bot, failures) for bot, failures in measurement.failures.items()]
    if measurement.voids:
        voids = counted(len(measurement.voids), "match")
        lines.append(f"{voids} without a result, the first one: {measurement.voids[0]}")
    if measurement.is_cut:
        lines.append(
            f"some matches did not end within {MEASURE_SECONDS:.0f} s and are not counted: it will take longer"
        )
    return lines


def _failure(bot: str, failures: BotFailures) -> str:
    fault = failures.first
    reason = "" if fault is None else f": {fault.kind}: {fault.detail.for_operator()}"
    return f"{bot} failed in {failures.count:,} of {counted(failures.matches, 'match')}, which are not counted{reason}"


def long_duration_text(seconds: float) -> str:
    """Return a duration with two or three digits.

    >>> long_duration_text(7.42), long_duration_text(42.42), long_duration_text(9000)
    ('7.42 seconds', '42.4 seconds', '2.5 hours')
    """
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.{2 if seconds < 10 else 1}f} seconds"
