"""How far a reader of events has come, as a text that it gives back to be sent what follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.server.http.topics import MAX_TOPICS

_PART = r"-(?:a|k|c[0-9a-f]{12}|\d{1,18}(?:m\d{1,10})?)\.\d{1,18}"
_CURSOR = re.compile(rf"[0-9a-f]{{8}}(?:{_PART}){{0,{2 * MAX_TOPICS}}}", re.ASCII)


def tournament_log(tournament: int) -> str:
    """Return the name in cursors of a tournament's log."""
    return str(tournament)


def live_log(tournament: int, match: int) -> str:
    """Return the name in cursors of the states of a match that is being played."""
    return f"{tournament}m{match}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in several logs.

    Attributes:
        store: which store counted, so that places in one that was replaced are not taken for places in the other.
        places: the number of the last event that was read, by log.
    """

    store: str
    places: Mapping[str, int]

    def __str__(self) -> str:
        return "-".join([self.store, *(f"{log}.{place}" for log, place in self.places.items())])


def parse_cursor(text: str) -> Cursor:
    """Return a cursor from its text.

    Raises:
        UsageError: if it is not the text of a cursor.
    """
    if not _CURSOR.fullmatch(text):
        raise UsageError(f"cursor {shortened_text(text)!r}: expected the id of an event as it was sent")
    store, *parts = text.split("-")
    return Cursor(store, {log: int(place) for log, _, place in (part.partition(".") for part in parts)})
