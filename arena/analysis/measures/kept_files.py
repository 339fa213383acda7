"""Files of a home's cache, which are complete or absent, and never trusted.

Another user may own the home, so a file must be a plain one of a bounded size with a checked content; any other
is ignored. A file with arrays is one line of JSON, plain numbers, and a checksum, which detects damage on disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arena.base.errors import StoreError
from arena.base.folder import open_ordinary, replace_file
from arena.base.shipped import code_digest
from arena.base.stored import from_json_text, from_stored, is_text
from arena.ratings.field_fit import FittedEncounters
from arena.ratings.settled_fit import Start
from arena.store.results.values import StoredTournament

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Enough for about 10,000 bots."""
_CHECKSUM_BYTES = 4
KEPT_FILE = "a kept file"
"""What errors in one are about, which nobody reads: it is computed again."""

T = TypeVar("T")

Columns = Sequence[tuple[str, tuple[int, ...]]]
"""The types and shapes of arrays in a file, one behind the other."""


def read_parts(
    path: Path, line_type: type[T], columns_of: Callable[[T], Columns | None]
) -> tuple[T, list[NDArray[Any]]] | None:
    """Return the line of a file and the arrays behind it; None unless it is a plain file of exactly these, undamaged.

    ``columns_of`` returns which arrays belong behind a line, and None for a line of another key.
    """
    try:
        with os.fdopen(open_ordinary(path), "rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            text = file.readline(MAX_LINE_BYTES)
            line = from_stored(line_type, from_json_text(text.decode(), KEPT_FILE), KEPT_FILE)
            columns = columns_of(line)
            size = bytes_of(columns or ())
            if columns is None or size_bytes != len(text) + size + _CHECKSUM_BYTES:
                return None
            data = np.empty(size, dtype=np.uint8)  # which takes large pages, and a tenth of the page faults
            if file.readinto(data.data) != size or file.read(_CHECKSUM_BYTES) != checksum_of(text, data):
                return None
    except (OSError, StoreError, UnicodeDecodeError):
        return None
    arrays, start = list[NDArray[Any]](), 0
    for kind, shape in columns:
        arrays.append(np.frombuffer(data, kind, prod(shape), start).reshape(shape))
        start += arrays[-1].nbytes
    return line, arrays


def bytes_of(columns: Columns) -> int:
    """Return how many bytes arrays take."""
    return sum(prod(shape) * np.dtype(kind).itemsize for kind, shape in columns)


def checksum_of(*parts: Any) -> bytes:
    """Return the checksum that ends a file with these bytes and arrays."""
    checksum = 0
    for part in parts:
        checksum = crc32(part, checksum)
    return checksum.to_bytes(_CHECKSUM_BYTES, "little")


def write_parts(path: Path, line: Any, *columns: NDArray[Any]) -> bool:
    """Write a line, which is a dataclass, and arrays for ``read_parts``; return whether that could be done."""
    arrays = [np.ascontiguousarray(column).ravel() for column in columns]
    text = json.dumps(asdict(line), separators=(",", ":")).encode() + b"\n"
    with suppress(OSError):
        if len(text) <= MAX_LINE_BYTES and not path.parent.is_symlink():  # which leads out of the home
            replace_file(path, text, *arrays, checksum_of(text, *arrays))
            return True
    return False


# The last fit of a tournament that is being played, in a file: the next one begins with it, and ends at the same. So
# the file decides how long a table takes, never what it says; a finished tournament is fitted from nothing.

MAX_SIZE = 1e4
"""Of means and widths; means are never below its negative, and deviations and widths never below its inverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    key: Sequence[Any]
    names: tuple[str, ...]
    draw_probability: float
    prior_width: float


def read_start(path: Path, tournament: StoredTournament) -> Start | None:
    """Return the fit in a file; None without one, or if it is malformed or of another tournament or code."""
    parts = read_parts(path, _Line, lambda line: _columns_of(line, tournament))
    if parts is None:
        return None
    line, ((means, sigmas),) = parts
    if not ((np.abs(means) <= MAX_SIZE) & (sigmas >= 1 / MAX_SIZE) & (sigmas <= MAX_SIZE)).all():  # nan is not
        return None
    return Start(line.names, means, sigmas**-2.0, line.draw_probability, line.prior_width)


def _columns_of(line: _Line, tournament: StoredTournament) -> Columns | None:
    is_right = (
        tuple(line.key) == _key_of(tournament)
        and 0.0 < line.draw_probability < 1.0
        and 1 / MAX_SIZE <= line.prior_width <= MAX_SIZE
        and all(map(is_text, line.names))
        and list(line.names) == sorted(set(line.names))
    )
    return [("<f8", (2, len(line.names)))] if is_right and line.names else None


def write_start(path: Path, tournament: StoredTournament, fitted: FittedEncounters) -> None:
    """Keep a fit that has settled; any other could end elsewhere than where the next one begins from nothing."""
    if not fitted.is_settled or not fitted.names:
        return
    line = _Line(
        key=_key_of(tournament),
        names=fitted.names,
        draw_probability=fitted.draw_probability,
        prior_width=fitted.prior_width,
    )
    numbers = ([rating.mu for rating in fitted.ratings], [rating.sigma for rating in fitted.ratings])
    write_parts(path, line, np.array(numbers, dtype="<f8"))


def _key_of(tournament: StoredTournament) -> tuple[str, int, str]:
    return code_digest(), tournament.number, tournament.created_at
