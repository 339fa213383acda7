"""The user's cache directory of the arena: kernels and tables, all of which can be computed again."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "ARENA_CACHE"
"""The environment variable that says where it is, instead of ``$XDG_CACHE_HOME/arena``, for bots that may read it."""

KERNELS, TABLES = "kernels", "tables"


def cache_directory() -> Path | None:
    """Return the directory, there or not: in ``$XDG_CACHE_HOME``, or ``~/.cache``; None if this user has no home."""
    given = os.environ.get(CACHE_VARIABLE, "")
    if given.startswith("/"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):  # a relative one counts as unset
        return Path(base) / "arena"
    try:
        return Path.home() / ".cache" / "arena"
    except RuntimeError:
        return None
