"""Records in the form they are stored. Workers make them, so this module is light: it knows nothing of the database."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import blake2b
from typing import Any, NamedTuple

import msgpack

from arena.base.bot_text import OPERATOR
from arena.base.enums import FaultKind
from arena.base.records import MatchRecord


class RecordRow(NamedTuple):
    """A record in the form it is stored, made where the match was played.

    Attributes:
        bots: the bots' labels, as JSON.
        ranks: per seat, as JSON.
        opening_hash: of the game, its options and the opening.
        actions_hash: of the game, its options, all actions and the ranks.
        record: the whole record, as JSON.
        faults: ``(seat, bot, kind)`` each.
    """

    match: int
    encounter: int
    game: str
    bots: str
    ranks: str
    termination: str
    opening_hash: str
    actions_hash: str
    record: str
    faults: tuple[tuple[int, str, FaultKind], ...]


def row_of(record: MatchRecord) -> RecordRow:
    """Return a record in the form it is stored."""
    values = record.to_json(OPERATOR)
    game = [record.game, record.options]
    return RecordRow(
        record.match,
        record.encounter,
        record.game,
        as_json(record.bots),
        as_json(record.ranks),
        record.termination,
        _hash([*game, record.actions[: record.opening_plies]]),
        _hash([*game, record.actions, record.ranks]),
        as_json(values),
        tuple((fault.seat, record.bots[fault.seat], fault.kind) for fault in record.faults),
    )


def _hash(value: Any) -> str:
    return blake2b(msgpack.packb(value), digest_size=12).hexdigest()


as_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, check_circular=False).encode
"""Returns a value, which must not contain itself, as compact JSON in ASCII."""


def details_json(details: Any) -> str:
    """Return the fields of a dataclass that differ from their defaults, which all have, as JSON."""
    usual = asdict(type(details)())
    return as_json({name: value for name, value in asdict(details).items() if value != usual[name]})
