"""Standings of finished tournaments, kept in a file: they are pure functions of records that don't change any more.

Only what took long is kept. The key says what the standings were made of and by which code; whatever can't be read, or
has another key, is made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import arena
from arena.analysis.standings import Standings
from arena.store.values import StoredTournament
from arena.version import __version__

WORTH_KEEPING_SECONDS = 0.5


def kept_or_made(directory: Path, tournament: StoredTournament, make: Callable[[], Standings]) -> Standings:
    """Return the standings of a tournament from the file, or make them.

    Args:
        directory: where such files are.
        tournament: the tournament.
        make: makes its standings.
    """
    from arena.analysis.standings_file import read_standings, write_standings  # pydantic takes time to import

    if tournament.finished_at is None:
        return make()
    key = (__version__, _code(), tournament.number, tournament.created_at, tournament.finished_at, tournament.recorded)
    path = directory / f"{blake2b(tournament.name.encode(), digest_size=8).hexdigest()}.standings"
    kept = read_standings(path, key)
    if kept is not None:
        return kept
    started = time.monotonic()
    table = make()
    if time.monotonic() - started >= WORTH_KEEPING_SECONDS:
        write_standings(path, key, table)
    return table


def _code() -> int:
    """Return when the code that makes standings was changed last."""
    package = Path(arena.__file__).parent
    sources = [*(package / "ratings").glob("*.py"), package / "analysis" / "standings.py"]
    return max((source.stat().st_mtime_ns for source in sources), default=0)
