"""The names in a home's database, for the completion of a command line: read quickly, and without changing anything.

SQLite is used directly, for a shell asks at every press of a key. What can't be read at once has no names.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

BUSY_TIMEOUT_SECONDS = 0.2
QUERY_SECONDS = 1.0
"""A view in a file from elsewhere may have rows without end."""
STEPS = 10_000
"""Of SQLite's, between two looks at the clock."""
MAX_TOURNAMENTS = 1000
MAX_MATCHES = 50
"""The most matches of one tournament."""


class KnownNames:
    """The names in a database file, which may be missing, locked, or of another version."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def tournaments(self) -> list[str]:
        """Return the names of the tournaments, the latest first."""
        query = "SELECT name FROM tournaments WHERE deleted_at IS NULL ORDER BY id DESC LIMIT ?"
        return [str(name) for (name,) in self._rows(query, MAX_TOURNAMENTS)]

    def deleted_tournaments(self) -> list[str]:
        """Return the names that deleted tournaments had, the latest first."""
        query = "SELECT deleted_name FROM tournaments WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT ?"
        return [str(name) for (name,) in self._rows(query, MAX_TOURNAMENTS)]

    def seasons(self) -> list[str]:
        """Return the names of the seasons, in alphabetical order."""
        return [str(name) for (name,) in self._rows("SELECT DISTINCT name FROM seasons ORDER BY name")]

    def matches(self, tournament: str, first_digits: str) -> list[str]:
        """Return recorded matches of a tournament whose numbers begin with some digits."""
        query = (
            'SELECT "match" FROM records JOIN tournaments ON id = tournament_id'
            ' WHERE deleted_at IS NULL AND name = ? AND CAST("match" AS TEXT) LIKE ? ORDER BY "match" LIMIT ?'
        )
        return [str(number) for (number,) in self._rows(query, tournament, f"{first_digits}%", MAX_MATCHES)]

    def bots(self) -> list[str]:
        """Return the names and labels of the submitted bots and of the entrants, in alphabetical order."""
        bots = self._rows("SELECT name, version FROM bots")
        query = "SELECT definition FROM tournaments WHERE deleted_at IS NULL ORDER BY id DESC LIMIT ?"
        for (text,) in self._rows(query, MAX_TOURNAMENTS):
            bots += _entrants(text)
        return sorted({text for name, version in bots for text in (str(name), f"{name}@{version}")})

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        end = time.monotonic() + QUERY_SECONDS
        try:
            if not all(map(_may_be_opened, (self._path, self._path.with_name(f"{self._path.name}-journal")))):
                return []
            address = f"{self._path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_SECONDS)) as connection:
                connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
                return connection.execute(query, values).fetchall()
        except (sqlite3.Error, OSError, ValueError):
            return []


def _may_be_opened(path: Path) -> bool:
    """Return whether SQLite does not wait for a file, as it would for a pipe."""
    return path.is_file() or not path.exists()


def _entrants(definition: Any) -> list[tuple[Any, ...]]:
    try:
        return [(entrant["name"], entrant["version"]) for entrant in json.loads(definition)["entrants"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
