"""The table of tournaments, which several commands print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.analysis.text.tables import Column
from arena.base.text import minute_text, short_size_text

if TYPE_CHECKING:
    from arena.store.results.states import ListedTournament

_NAME = Column("tournament", "tournament", is_number=False)
_MATCHES = [Column("recorded", "matches", drop_order=1), Column("scheduled", "of", drop_order=1)]
_WHAT = [
    Column("format", "format", is_number=False, drop_order=4),
    Column("games", "games", is_number=False, drop_order=3, wraps=True),
]
_SIZE = [Column("corrections", "corrections", drop_order=7), Column("bytes", "size", drop_order=6)]

_COLUMNS = [
    _NAME,
    Column("state", "state", is_number=False),
    *_WHAT,
    *_MATCHES,
    Column("begun", "begun (UTC)", is_number=False, drop_order=5),
    *_SIZE,
    Column("director", "director", is_number=False, drop_order=2),
]

_BIN_COLUMNS = [
    _NAME,
    Column("in_bin", "in the bin as", is_number=False),
    Column("deleted", "deleted (UTC)", is_number=False, drop_order=2),
    *_WHAT,
    *_MATCHES,
    *_SIZE,
]

_OFTEN_EMPTY = ("corrections", "director")


def tournament_table(
    listed: Sequence[ListedTournament], table_format: str, in_bin: bool = False
) -> tuple[list[Column], list[dict[str, Any]]]:
    """Return the table of tournaments: its columns, and its rows.

    Args:
        listed: the tournaments.
        table_format: of the table; people read dates, sizes and lists in another form than programs, and columns
            without any value are left out for them.
        in_bin: whether they are deleted.
    """
    formatted = table_format not in ("json", "csv")
    rows = [_row(one, formatted) for one in listed]
    columns = _BIN_COLUMNS if in_bin else _COLUMNS
    if formatted:
        columns = [c for c in columns if c.key not in _OFTEN_EMPTY or any(row[c.key] for row in rows)]
    return columns, rows


def _row(listed: ListedTournament, formatted: bool) -> dict[str, Any]:
    stored = listed.tournament
    return {
        "tournament": stored.name,
        "in_bin": stored.bin_name,
        "state": listed.state,
        "format": stored.format,
        "games": ", ".join(stored.games) if formatted else stored.games,
        "recorded": stored.recorded,
        "scheduled": stored.scheduled,
        "begun": _time(stored.created_at, formatted),
        "deleted": _time(stored.deleted_at, formatted),
        "bytes": short_size_text(listed.record_bytes) if formatted else listed.record_bytes,
        "corrections": len(stored.corrections),
        "director": listed.director,
    }


def _time(text: str | None, formatted: bool) -> str | None:
    return minute_text(text) if text is not None and formatted else text
