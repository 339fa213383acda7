"""The file in which standings are kept: one line of JSON, and behind it the draws of the bootstrap as plain numbers.

A home may be somebody else's, so nothing in the file is trusted: it is a plain file of a bounded size, every value has
its type, and what hangs together fits together. Whatever does not is no file at all, and the standings are made again.
"""

from __future__ import annotations

import math
import os
import stat
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from arena.analysis.standings import Standing, Standings
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import DRAWS, FittedEncounters

MAX_TEXT_BYTES = 4 * 1024 * 1024
"""Of the line: some 10,000 bots."""
MAX_COUNT = 2**53
_DRAW_BYTES = 8

_Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]

Key = tuple[str, int, int, str, str, int]
"""What standings were made of, and by which code."""


class _Kept(BaseModel):
    """The line of JSON."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    layout: Literal[2]
    made_of: Key
    lines: Annotated[list[Standing], FailFast()]
    labels: Annotated[list[str], FailFast()]
    players: _Count
    matches: _Count
    rated: _Count
    names: Annotated[list[str], FailFast()]
    ratings: Annotated[list[Rating], FailFast()]
    draw_probability: float
    prior_width: float
    encounters: _Count
    consistency: Consistency
    first_seat_share: float | None


def read_standings(path: Path, key: Key) -> Standings | None:
    """Return the standings in a file; None if there are none, or they were made of something else.

    Args:
        path: the file.
        key: what they have to be made of.
    """
    parts = _read_parts(path)
    if parts is None:
        return None
    kept, data = parts
    if kept.made_of != key or not _fits_together(kept):
        return None
    draws = np.frombuffer(data, dtype="<f8")
    if not np.isfinite(draws).all():
        return None
    fitted = FittedEncounters(
        tuple(kept.names),
        tuple(kept.ratings),
        kept.draw_probability,
        kept.prior_width,
        draws.reshape(DRAWS, len(kept.names)),
        kept.encounters,
    )
    return Standings(
        kept.lines,
        kept.labels,
        kept.players,
        kept.matches,
        kept.rated,
        fitted,
        kept.consistency,
        kept.first_seat_share,
    )


def _read_parts(path: Path) -> tuple[_Kept, bytes] | None:
    """Return the line and the bytes behind it; None if it is not a plain file of just these."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            line = file.readline(MAX_TEXT_BYTES)
            kept = _Kept.model_validate_json(line)
            size = DRAWS * len(kept.names) * _DRAW_BYTES
            data = file.read(size) if status.st_size == len(line) + size else b""
        except (OSError, ValidationError, RecursionError):
            return None
    return (kept, data) if len(data) == size else None


def _fits_together(kept: _Kept) -> bool:
    """Tell whether the parts speak of the same bots, and numbers are of a size that tables can show."""
    labels, lines = set(kept.labels), kept.lines
    if not len(kept.labels) == len(labels) == len(lines) or kept.names != sorted(labels & set(kept.names)):
        return False
    longest = max((len(line.places) for line in lines), default=0)
    return (
        len(kept.ratings) == len(kept.names)
        and kept.players == (longest or 2)
        and all(bot in labels for cycle in kept.consistency.cycles for bot in cycle)
        and all(_is_line(line) for line in lines)
    )


def _is_line(line: Standing) -> bool:
    counts = [line.rank, line.matches, line.wins, line.draws, *line.places, *line.seat_matches, *line.faults.values()]
    counts += line.rank_interval or ()
    numbers = [*line.rating, line.points, *line.seat_points, line.margin or 0.0, line.better_than_next or 0.0]
    return (
        len(line.places) == len(line.seat_matches) == len(line.seat_points)
        and all(0 <= count <= MAX_COUNT for count in counts)
        and all(math.isfinite(number) for number in numbers)
    )


def write_standings(path: Path, key: Key, table: Standings) -> None:
    """Write a file that appears only when it is whole; where nothing can be written, nothing is kept."""
    fitted = table.fitted
    kept = _Kept.model_construct(
        layout=2,
        made_of=key,
        lines=table.lines,
        labels=table.labels,
        players=table.players,
        matches=table.matches,
        rated=table.rated,
        names=list(fitted.names),
        ratings=list(fitted.ratings),
        draw_probability=fitted.draw_probability,
        prior_width=fitted.prior_width,
        encounters=fitted.encounters,
        consistency=table.consistency,
        first_seat_share=table.first_seat_share,
    )
    line = kept.model_dump_json().encode() + b"\n"
    if len(line) > MAX_TEXT_BYTES:
        return
    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.is_symlink():  # it leads out of the home
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            unfinished = Path(file.name)
            file.write(line)
            file.write(np.ascontiguousarray(fitted.draws, dtype="<f8").tobytes())
        unfinished.replace(path)
    except OSError:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
