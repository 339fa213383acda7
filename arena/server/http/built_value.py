"""The value of a page as it was built, and how long that took."""

from __future__ import annotations

from typing import NamedTuple


class BuiltValue(NamedTuple):
    """What a page shows.

    Attributes:
        json: as JSON.
        seconds: how long it took to build, without waiting for a builder.
        cpu_seconds: how long a processor worked for that; None if that is not known.
    """

    json: bytes
    seconds: float
    cpu_seconds: float | None = None
