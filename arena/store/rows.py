"""Records in the form they are stored. Workers make them, so this module is light: it knows nothing of the database."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, NamedTuple

from arena.records import MatchRecord


class RecordRow(NamedTuple):
    """A record in the form it is stored, made where the match was played."""

    match: int
    game: str
    bots: str
    ranks: str
    termination: str
    digest: str
    record: str
    faults: tuple[tuple[int, str, str], ...]


def row_of(record: MatchRecord) -> RecordRow:
    """Return a record in the form it is stored."""
    values = record.as_dict()
    played = as_json([record.game, record.options, values["actions"]])
    return RecordRow(
        record.match,
        record.game,
        as_json(record.bots),
        as_json(record.ranks),
        record.termination,
        blake2b(played.encode(), digest_size=12).hexdigest(),
        as_json(values),
        tuple((fault.seat, record.bots[fault.seat], fault.kind) for fault in record.faults),
    )


def as_json(value: Any) -> str:
    """Return a value as compact JSON in ASCII."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
