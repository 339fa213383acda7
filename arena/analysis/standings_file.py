"""The file of the standings cache: one line of JSON, the draws of the bootstrap as plain numbers, and a digest.

A home may belong to another user, so nothing in the file is trusted: it must be a plain file of a bounded size, every
value must have its type, and the parts must fit together. Any other file is ignored, and the standings are computed.
The digest tells a file that a disk has damaged.
"""

from __future__ import annotations

import math
import os
import stat
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from arena.analysis.standings import Standing, Standings
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import FittedEncounters, draws_of

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Enough for some 10,000 bots."""
MAX_COUNT = 2**53
_DRAW_BYTES = 8
_DIGEST_BYTES = 16

_Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]

Key = tuple[str, int, int, str, str, int, int]
"""From which records and by which code standings were computed."""


class _Line(BaseModel):
    """The line of JSON."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    layout: Literal[4]
    key: Key
    lines: Annotated[tuple[Standing, ...], FailFast()]
    players: _Count
    matches: _Count
    rated: _Count
    names: Annotated[tuple[str, ...], FailFast()]
    ratings: Annotated[tuple[Rating, ...], FailFast()]
    draw_probability: float
    prior_width: float
    encounters: _Count
    consistency: Consistency
    first_seat_share: float | None


def read_standings(path: Path, key: Key) -> Standings | None:
    """Return the standings in a file; None if there are none, or their key differs.

    Args:
        path: the file.
        key: the key that they must have.
    """
    parts = _read_parts(path)
    if parts is None:
        return None
    line, data = parts
    if line.key != key or not _fits_together(line):
        return None
    draws = np.frombuffer(data, dtype="<f8")
    if not np.isfinite(draws).all():
        return None
    fitted = FittedEncounters(
        names=line.names,
        ratings=line.ratings,
        draw_probability=line.draw_probability,
        prior_width=line.prior_width,
        draws=draws.reshape(draws_of(len(line.names)), len(line.names)),
        encounters=line.encounters,
    )
    return Standings(
        lines=line.lines,
        players=line.players,
        matches=line.matches,
        rated=line.rated,
        fitted=fitted,
        consistency=line.consistency,
        first_seat_share=line.first_seat_share,
    )


def _read_parts(path: Path) -> tuple[_Line, bytes] | None:
    """Return the line and the bytes behind it; None unless it is a plain file that consists of exactly these."""
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
            text = file.readline(MAX_LINE_BYTES)
            line = _Line.model_validate_json(text)
            size = draws_of(len(line.names)) * len(line.names) * _DRAW_BYTES
            data = file.read(size) if status.st_size == len(text) + size + _DIGEST_BYTES else b""
            is_whole = file.read() == digest_of(text + data)
        except (OSError, ValidationError, RecursionError):
            return None
    return (line, data) if is_whole and len(data) == size else None


def digest_of(content: bytes) -> bytes:
    """Return what stands at the end of a file with this content."""
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _fits_together(line: _Line) -> bool:
    """Return whether all parts are about the same bots, and numbers are of a size that tables can show."""
    labels = {standing.label for standing in line.lines}
    most_players = max((len(standing.finish_counts) for standing in line.lines), default=0)
    return (
        len(labels) == len(line.lines)
        and list(line.names) == sorted(labels & set(line.names))
        and len(line.ratings) == len(line.names)
        and line.players == (most_players or 2)
        and all(bot in labels for cycle in line.consistency.cycles for bot in cycle)
        and all(_is_bounded(standing) for standing in line.lines)
    )


def _is_bounded(line: Standing) -> bool:
    counts = [line.rank, line.matches, line.wins, line.draws, *line.faults.values()]
    counts += [*line.finish_counts, *line.seat_matches, *(line.rank_interval or ())]
    numbers = [*line.rating, line.points, *line.seat_points, line.margin or 0.0, line.los or 0.0]
    return (
        len(line.finish_counts) == len(line.seat_matches) == len(line.seat_points)
        and all(0 <= count <= MAX_COUNT for count in counts)
        and all(math.isfinite(number) for number in numbers)
    )


def write_standings(path: Path, key: Key, table: Standings) -> None:
    """Write a file that appears only when it is complete; errors in writing it are ignored."""
    fitted = table.fitted
    line = _Line.model_construct(
        layout=4,
        key=key,
        lines=table.lines,
        players=table.players,
        matches=table.matches,
        rated=table.rated,
        names=fitted.names,
        ratings=fitted.ratings,
        draw_probability=fitted.draw_probability,
        prior_width=fitted.prior_width,
        encounters=fitted.encounters,
        consistency=table.consistency,
        first_seat_share=table.first_seat_share,
    )
    text = line.model_dump_json().encode() + b"\n"
    if len(text) > MAX_LINE_BYTES:
        return
    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.is_symlink():  # it leads out of the home
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            unfinished = Path(file.name)
            content = text + np.ascontiguousarray(fitted.draws, dtype="<f8").tobytes()
            file.write(content + digest_of(content))
        unfinished.replace(path)
    except OSError:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
