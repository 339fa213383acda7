"""What an executor gives back for a match."""

from __future__ import annotations

from typing import NamedTuple

from arena.records import MatchSpec
from arena.store.rows import RecordRow


class Played(NamedTuple):
    """The match has been played."""

    row: RecordRow


class Void(NamedTuple):
    """The match has no result through our own failure; it may be played again."""

    spec: MatchSpec
    reason: str
