"""Tables of values as files: a record for each state, sorted, so that a file is searched in place.

A record has the digest of a state's observation (16 bytes), the outcome for seat 0 and the margin.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import msgpack

from arena.games.game import Game
from arena.lab.solving.mapped_table import Header, MappedTable, TableError, rules_version, write_table
from arena.lab.solving.worth import OUTCOME_UNIT, PARTS

KIND = b"arena lab table 1\n"
_KEY_BYTES = 16
_RECORD = struct.Struct(f"<{_KEY_BYTES}sbq")
_MAX_PARTS = 2**63 - 1


class Table(Protocol):
    """Values of states."""

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the table."""


def save_table(game: Game[Any], path: str, values: Iterable[tuple[Any, int]], file: Path) -> None:
    """Write the values of states to a file, which is there whole or not at all.

    Args:
        game: the rules.
        path: the game's name or dotted path.
        values: states with their values.
        file: where to.

    Raises:
        TableError: if margins are too large for a table, or two states have the same observation.
    """
    pairs = list(values)
    margins = [value - _outcome(value) * OUTCOME_UNIT for _, value in pairs]
    parts = 1 if all(margin % PARTS == 0 for margin in margins) else PARTS
    scale = PARTS // parts
    if any(abs(margin) // scale > _MAX_PARTS for margin in margins):
        raise TableError(f"a table of {path}: expected margins of at most {_MAX_PARTS // parts}")
    records = sorted(
        _RECORD.pack(_key(game, state), _outcome(value), margin // scale)
        for (state, value), margin in zip(pairs, margins, strict=True)
    )
    if len({record[:_KEY_BYTES] for record in records}) < len(records):
        raise TableError(f"a table of {path}: two states have the same observation")
    body = b"".join(records)
    header = Header(
        game=path,
        options=game.options,
        rules=rules_version(game),
        states=len(records),
        parts=parts,
        checksum=hashlib.sha256(body).hexdigest(),
    )
    write_table(file, KIND, header, body)


class TableFile(MappedTable[Header]):
    """A table in a file."""

    def __init__(self, game: Game[Any], path: str, file: Path) -> None:
        """Open a table and check all of it.

        Args:
            game: the rules.
            path: the game's name or dotted path.
            file: the table.

        Raises:
            TableError: if it is torn, damaged, or one of other rules or options.
            FileNotFoundError: if there is no such file.
        """
        super().__init__(game, path, file, KIND, Header)

    def __len__(self) -> int:
        return self.header.states

    def _values_bytes(self) -> int:
        return self.header.states * _RECORD.size

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the table."""
        key = _key(self._game, state)
        low, high = 0, self.header.states
        while low < high:
            middle = (low + high) // 2
            found, outcome, margin = self._record(middle)
            if found == key:
                return int(outcome * OUTCOME_UNIT + margin * (PARTS // self.header.parts))
            low, high = (middle + 1, high) if found < key else (low, middle)
        return None

    def _record(self, number: int) -> tuple[bytes, int, int]:
        key, outcome, margin = _RECORD.unpack_from(self._map, self._begin + number * _RECORD.size)
        return key, outcome, margin


def _key(game: Game[Any], state: Any) -> bytes:
    return hashlib.blake2b(msgpack.packb(game.observation(state)), digest_size=_KEY_BYTES).digest()


def _outcome(value: int) -> int:
    return (value > OUTCOME_UNIT // 2) - (value < -OUTCOME_UNIT // 2)
