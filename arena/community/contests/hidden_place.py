"""Where the hidden home of a contest is. The process that answers requests imports it, so it loads nothing."""

from __future__ import annotations

import os
from pathlib import Path

from arena.store.home import CONTESTS_DIRECTORY, DATABASE_FILE, home_path


def hidden_home_path(directory: str | os.PathLike[str] | None, name: str) -> Path:
    """Return where the hidden home of a contest is, or would be.

    Args:
        directory: of the arena's home.
        name: of the contest.
    """
    return home_path(directory).resolve() / CONTESTS_DIRECTORY / name


def has_hidden_home(directory: str | os.PathLike[str] | None, name: str) -> bool:
    """Return whether something of a contest is hidden."""
    return (hidden_home_path(directory, name) / DATABASE_FILE).exists()
