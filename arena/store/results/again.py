"""Reads again what was changed while it was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from arena.base.errors import ChangedMeanwhileError

MAX_READINGS = 3
"""Somebody may enter a ladder during each of them."""

Value = TypeVar("Value")


def read_whole(read: Callable[[], Value]) -> Value:
    """Return what ``read`` reads of tournaments, again if one changed meanwhile; ChangedMeanwhileError in the end."""
    for _ in range(MAX_READINGS - 1):
        try:
            return read()
        except ChangedMeanwhileError:
            continue
    return read()
