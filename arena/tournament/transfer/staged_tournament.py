"""A tournament of an export in a database of its own, from which it is merged like one of another home."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from arena.base.definition import Definition
from arena.base.errors import StoreError
from arena.base.records import ScheduledMatch
from arena.base.stored import from_stored, is_text, is_whole, mapping_of
from arena.base.text import json_value
from arena.store.results.addition import Addition, VoidTry
from arena.store.results.correction_log import Skipped
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.store import Store
from arena.store.results.values import Correction

MAX_INTEGER = 2**63 - 1
"""The largest that SQLite holds; what a number means is checked when the tournament is taken."""

ROWS_AT_A_TIME = 500
BYTES_AT_A_TIME = 16 * 2**20


class StagedTournament:
    """Takes the lines of an export that belong to one tournament; ``take_…`` raise StoreError for a malformed one."""

    def __init__(
        self, store: Store, definition: Definition, created_at: str, finished_at: str | None, *, matches: int = 0
    ) -> None:
        """Create the tournament."""
        self._store = store
        self.has_schedule = not matches
        self._finished_at = finished_at
        store.add(Addition(tournament=None, definition=definition, created_at=created_at, finished_at=finished_at))
        self._tournament = store.tournament(definition.name)
        self._line_of = array("Q", bytes(8 * (matches + 1)))  # at the index of a match; 0 without a record
        self._corrections = 0
        self._last_keys: dict[str, tuple[int, int]] = {}
        self._buffered: defaultdict[str, Any] = defaultdict(list)  # rows, by the fields of ``Addition``
        self._rows = self._bytes = 0

    def line_prefix(self, match: int) -> str:
        """Return where the record of a match is, as the beginning of a sentence."""
        return f"line {self._line_of[match]}: "

    def take_schedule(self, value: object) -> None:
        """Take a match of the schedule."""
        line = from_stored(ScheduledMatch, value, "a match of the schedule")
        numbers = (line.encounter, line.round, line.game, line.opening, line.rng_seed, *line.seats)
        if line.match != len(self._line_of) or not all(is_whole(number, 0, MAX_INTEGER) for number in numbers):
            raise StoreError(f"expected match {len(self._line_of)} of the schedule")
        self._line_of.append(0)
        self._buffered["lines"].append(line)
        self._count_and_flush()

    def take_record(self, value: Mapping[str, Any], line: int, size_bytes: int) -> None:
        """Take a record, which is in this line."""
        match = self._match(value.get("match"))
        if self._line_of[match]:
            raise StoreError(f"match {match} appears twice, first in line {self._line_of[match]}")
        self._line_of[match] = line
        self._buffered["records"].append(_unchecked_row(match, value))
        self._count_and_flush(size_bytes)

    def take_set_aside(self, correction: object, record: object, size_bytes: int) -> None:
        """Take a record that a correction has set aside."""
        values = mapping_of(record, "a record that was set aside")
        match, number = self._key("set_aside", values.get("match"), correction)
        self._buffered["set_aside"].append((number, _unchecked_row(match, values)))
        self._count_and_flush(size_bytes)

    def take_correction(self, value: object) -> None:
        """Take a correction."""
        correction = from_stored(Correction, value, "a correction")
        self._corrections += 1
        if correction.number != self._corrections:
            raise StoreError(f"expected correction {self._corrections}")
        self._buffered["corrections"].append(correction)
        self._count_and_flush()

    def take_skipped(self, value: object) -> None:
        """Take a match that is not played."""
        values = mapping_of(value, "a skipped match")
        key = self._key("skipped", values.get("match"), values.get("correction"))
        self._buffered["skipped"].append(Skipped(*key))
        self._count_and_flush()

    def take_void(self, value: object) -> None:
        """Take a try without a result."""
        values = mapping_of(value, "a void try")
        reason, at = values.get("reason"), values.get("at")
        if not (isinstance(reason, str) and is_text(reason) and isinstance(at, str) and is_text(at)):
            raise StoreError("expected the reason and the time of a void try")
        self._buffered["voids"].append(VoidTry(self._match(values.get("match")), reason, at))
        self._count_and_flush()

    def write(self) -> None:
        """Write what was taken and is not written yet."""
        waiting, self._buffered, self._rows, self._bytes = self._buffered, defaultdict(list), 0, 0
        self._store.add(
            Addition(
                tournament=self._tournament.number,
                definition=self._tournament.definition,
                created_at=self._tournament.created_at,
                finished_at=self._finished_at,
                **waiting,
            )
        )

    def _count_and_flush(self, size_bytes: int = 0) -> None:
        self._rows += 1
        self._bytes += size_bytes
        if self._rows >= ROWS_AT_A_TIME or self._bytes >= BYTES_AT_A_TIME:
            self.write()

    def _key(self, kind: str, match: object, correction: object) -> tuple[int, int]:
        key = (self._match(match), _whole("correction", correction))
        if key <= self._last_keys.get(kind, (0, 0)):
            raise StoreError(f"{kind}: match {key[0]} with correction {key[1]} appears twice, or out of order")
        self._last_keys[kind] = key
        return key

    def _match(self, value: object) -> int:
        last = len(self._line_of) - 1
        if not (isinstance(value, int) and is_whole(value, 1, last)):
            advice = (
                "" if self.has_schedule else "; the export of a longer one is made with arena tournament export --whole"
            )
            raise StoreError(f"match = {json_value(value)}: the schedule has matches 1 to {last}{advice}")
        return value


def _whole(name: str, value: object) -> int:
    if not (isinstance(value, int) and is_whole(value, 1, MAX_INTEGER)):
        raise StoreError(f"{name} = {json_value(value)}: expected a number from 1")
    return value


def _unchecked_row(match: int, record: Mapping[str, Any]) -> RecordRow:
    return RecordRow(match, 0, "", "[]", "[]", "", "", "", as_json(record), ())
