"""The last fit of a tournament that is being played, in a file: the next one begins with it, and ends at the same.

So the file decides how long a table takes, never what it says; a finished tournament is fitted from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arena.analysis.measures.kept_files import read_parts, write_parts
from arena.base.errors import StoreError
from arena.base.shipped import code_digest
from arena.base.stored import is_text
from arena.ratings.field_fit import FittedEncounters
from arena.ratings.settled_fit import Start
from arena.store.results.values import StoredTournament

_FILE_TITLE = "a file of a kept fit"
_NUMBER_BYTES = 8
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
    try:
        parts = read_parts(path, _Line, lambda line: _size_of(line, tournament), _FILE_TITLE)
    except (OSError, StoreError):
        return None
    if parts is None:
        return None
    line, data = parts
    means, sigmas = np.frombuffer(data, dtype="<f8").reshape(2, len(line.names))
    if not ((np.abs(means) <= MAX_SIZE) & (sigmas >= 1 / MAX_SIZE) & (sigmas <= MAX_SIZE)).all():  # nan is not
        return None
    return Start(line.names, means, sigmas**-2.0, line.draw_probability, line.prior_width)


def _size_of(line: _Line, tournament: StoredTournament) -> int | None:
    is_right = (
        tuple(line.key) == _key_of(tournament)
        and 0.0 < line.draw_probability < 1.0
        and 1 / MAX_SIZE <= line.prior_width <= MAX_SIZE
        and all(map(is_text, line.names))
        and list(line.names) == sorted(set(line.names))
    )
    return 2 * len(line.names) * _NUMBER_BYTES if is_right and line.names else None


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
    write_parts(path, line, np.array(numbers, dtype="<f8").ravel())


def _key_of(tournament: StoredTournament) -> tuple[str, int, str]:
    return code_digest(), tournament.number, tournament.created_at
