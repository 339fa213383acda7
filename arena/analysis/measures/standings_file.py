"""The file of the standings cache: one line of JSON, the draws of the bootstrap as plain numbers, and a digest.

Another user may own the home, so the file is untrusted: it must be a plain file of a bounded size, every value must
have its type, and the parts must fit together. Any other file is ignored. The digest detects damage on disk.
"""

from __future__ import annotations

import json
import math
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from arena.analysis.measures.standings import Standing, Standings
from arena.base.errors import StoreError
from arena.base.stored import from_json_text, from_stored, is_text, is_whole, list_of, mapping_of
from arena.ratings import Rating
from arena.ratings.consistency import Consistency
from arena.ratings.field_fit import FittedEncounters, draws_of

LAYOUT = 4
MAX_LINE_BYTES = 4 * 1024 * 1024
"""Enough for some 10,000 bots."""
MAX_COUNT = 2**53
_DRAW_BYTES = 8
_DIGEST_BYTES = 16
_PLACE = "a file of the standings cache"

Key = tuple[str, int, str, str, int, int]
"""From which records and by which code standings were computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    layout: int
    key: Sequence[Any]
    lines: Sequence[Any]
    players: int
    matches: int
    rated: int
    names: tuple[str, ...]
    ratings: Sequence[Any]
    draw_probability: float
    prior_width: float
    encounters: int
    consistency: Mapping[str, Any]
    first_seat_share: float | None


def read_standings(path: Path, key: Key) -> Standings | None:
    """Return the standings in a file; None if there are none, or their key differs."""
    try:
        parts = _read_parts(path, key)
        return None if parts is None else _standings(*parts)
    except (OSError, StoreError):
        return None


def _standings(line: _Line, data: bytes) -> Standings:
    draws = np.frombuffer(data, dtype="<f8")
    fitted = FittedEncounters(
        names=line.names,
        ratings=tuple(map(_rating, line.ratings)),
        draw_probability=line.draw_probability,
        prior_width=line.prior_width,
        draws=draws.reshape(draws_of(len(line.names)), len(line.names)),
        encounters=line.encounters,
    )
    table = Standings(
        lines=tuple(map(standing_from, line.lines)),
        players=line.players,
        matches=line.matches,
        rated=line.rated,
        fitted=fitted,
        consistency=_consistency(line.consistency),
        first_seat_share=line.first_seat_share,
    )
    if not np.isfinite(draws).all() or not _fits_together(table):
        raise StoreError(f"{_PLACE} is malformed: its parts do not fit together")
    return table


def standing_from(stored: object) -> Standing:
    """Return a line of a table from its stored form.

    Raises:
        StoreError: if it is malformed, or a number is larger than tables can show.
    """
    fields = dict(mapping_of(stored, _PLACE))
    rating, interval = _rating(fields.pop("rating", None)), fields.pop("rank_interval", None)
    line = from_stored(Standing, fields, _PLACE)
    if not _is_bounded(line):
        raise StoreError(f"{_PLACE} is malformed: expected counts for each seat")
    if interval is None:
        return replace(line, rating=rating)
    if len(list_of(interval, _PLACE)) != 2 or not _are_counts(interval):
        raise StoreError(f"{_PLACE} is malformed: expected two ranks")
    return replace(line, rating=rating, rank_interval=tuple(interval))


def _rating(stored: object) -> Rating:
    numbers = list_of(stored, _PLACE)
    if len(numbers) != 2 or not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
        raise StoreError(f"{_PLACE} is malformed: expected mu and sigma")
    return Rating(*numbers)


def _consistency(stored: Mapping[str, Any]) -> Consistency:
    cycles = [list_of(cycle, _PLACE) for cycle in list_of(stored.get("cycles"), _PLACE)]
    if not all(len(cycle) == 3 and all(map(is_text, cycle)) for cycle in cycles):
        raise StoreError(f"{_PLACE} is malformed: expected cycles of three bots")
    return replace(from_stored(Consistency, {**stored, "cycles": []}, _PLACE), cycles=tuple(map(tuple, cycles)))


def _read_parts(path: Path, key: Key) -> tuple[_Line, bytes] | None:
    """Return the line and the bytes behind it; None unless it is a plain file of exactly these, and has the key."""
    with open_plain(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        text = file.readline(MAX_LINE_BYTES)
        line = from_stored(_Line, _json(text), _PLACE)
        if line.layout != LAYOUT or tuple(line.key) != key:
            return None
        size = draws_of(len(line.names)) * len(line.names) * _DRAW_BYTES
        data = file.read(size) if size_bytes == len(text) + size + _DIGEST_BYTES else b""
        is_undamaged = file.read(_DIGEST_BYTES) == digest_of(text + data)
    return (line, data) if is_undamaged and len(data) == size else None


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file to read; OSError for a link, pipe or directory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(f"{path} is no plain file")


def digest_of(content: bytes) -> bytes:
    """Return what stands at the end of a file with this content."""
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _json(text: bytes) -> Any:
    try:
        return from_json_text(text.decode(), _PLACE)
    except UnicodeDecodeError as error:
        raise StoreError(f"{_PLACE} is not text") from error


def _fits_together(table: Standings) -> bool:
    """Return whether all parts are about the same bots, and numbers are of a size that tables can show."""
    labels = {line.label for line in table.lines}
    names = table.fitted.names
    most_players = max((len(line.finish_counts) for line in table.lines), default=0)
    return (
        len(labels) == len(table.lines)
        and list(names) == sorted(labels & set(names))
        and len(table.fitted.ratings) == len(names)
        and _are_counts([table.players, table.matches, table.rated, table.fitted.encounters])
        and table.players == (most_players or 2)
        and all(bot in labels for cycle in table.consistency.cycles for bot in cycle)
    )


def _is_bounded(line: Standing) -> bool:
    counts = [line.rank, line.matches, line.wins, line.draws, *line.faults.values()]
    return len(line.finish_counts) == len(line.seat_matches) == len(line.seat_points) and _are_counts(
        [*counts, *line.finish_counts, *line.seat_matches]
    )


def _are_counts(values: Iterable[object]) -> bool:
    return all(is_whole(value, 0, MAX_COUNT) for value in values)


def write_standings(path: Path, key: Key, table: Standings) -> None:
    """Write a file that appears only when it is complete; errors in writing it are ignored."""
    fitted = table.fitted
    line = _Line(
        layout=LAYOUT,
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
        consistency=asdict(table.consistency),
        first_seat_share=table.first_seat_share,
    )
    text = json.dumps(asdict(line), separators=(",", ":")).encode() + b"\n"
    if len(text) > MAX_LINE_BYTES:
        return
    content = text + np.ascontiguousarray(fitted.draws, dtype="<f8").tobytes()
    write_whole(path, content + digest_of(content))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of the cache, which appears only when it is complete; errors in writing it are ignored."""
    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.is_symlink():  # it leads out of the home
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            unfinished = Path(file.name)
            file.write(content)
        unfinished.replace(path)
    except OSError:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
