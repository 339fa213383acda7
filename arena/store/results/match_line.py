"""A recorded match as a line of a list: as much of its record as a list shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Select, Text, and_, case, func, select, type_coerce

from arena.base.enums import FaultKind, Termination
from arena.base.errors import StoreError
from arena.base.stored import from_json_text, is_text, is_whole
from arena.store.results.connection import Database
from arena.store.results.schema import matches, records
from arena.store.results.statements import chunks, stored_bots_and_ranks

MAX_RECORD_CHARACTERS = 200_000
"""Of a longer record, a list shows no more than its row has."""

PIECE_LINES = 100
"""Read at once, so that long records do not fill the memory."""


class LineFault(NamedTuple):
    """A fault in a match: whose, what, and after how many plies."""

    seat: int
    kind: FaultKind
    ply: int


class MatchKey(NamedTuple):
    """Which match: the number of its tournament in the store, and its own."""

    tournament: int
    match: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchLine:
    """A recorded match.

    Attributes:
        encounter: from 1, as is ``round``.
        bots: ``name@version`` per seat.
        ranks: per seat, 1 is best.
        scores: per seat; None if the record is too long or malformed, as are the next three.
        plies: how many actions it had, the opening included.
        faults: of its bots, in order.
        started_at: UTC, ISO 8601; empty in records of early versions.
    """

    tournament: int
    match: int
    encounter: int
    round: int
    game: str
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    termination: Termination
    scores: tuple[int | float, ...] | None = None
    plies: int | None = None
    faults: tuple[LineFault, ...] | None = None
    started_at: str | None = None

    @property
    def key(self) -> MatchKey:
        """Which match it is."""
        return MatchKey(self.tournament, self.match)


def match_lines(database: Database, keys: Collection[MatchKey]) -> list[MatchLine]:
    """Return matches in the order of their keys, without those that have no record; StoreError at a malformed row."""
    found: dict[MatchKey, MatchLine] = {}
    for tournament in {key.tournament for key in keys}:
        wanted = [key.match for key in keys if key.tournament == tournament]
        for some in chunks(wanted, PIECE_LINES):
            query = _LINES.where(records.c.tournament_id == tournament, records.c.match.in_(some))
            for row in _rows(database, query):
                found[MatchKey(row.tournament_id, row.match)] = _line(row)
    return [found[key] for key in keys if key in found]


def _rows(database: Database, query: Select[Any]) -> list[Any]:
    return list(database.read(lambda connection: connection.execute(query).all()))


_SCHEDULED = and_(matches.c.tournament_id == records.c.tournament_id, matches.c.match == records.c.match)
_SHORT_RECORD = case((func.length(records.c.record) <= MAX_RECORD_CHARACTERS, type_coerce(records.c.record, Text)))
_COLUMNS = ("tournament_id", "match", "encounter", "game", "bots", "ranks", "termination")
_LINES = select(
    *(records.c[name] for name in _COLUMNS),
    matches.c.round,
    _SHORT_RECORD.label("text"),
).join(matches, _SCHEDULED)


def _line(row: Any) -> MatchLine:
    where = f"the result of match {row.match}"
    try:
        bots, ranks = stored_bots_and_ranks(row.bots, row.ranks)
    except StoreError as error:
        raise StoreError(f"{where}: {error}") from error
    if row.termination not in list(Termination):
        raise StoreError(f"{where}: its termination is {row.termination!r:.80}")
    return MatchLine(
        tournament=row.tournament_id,
        match=row.match,
        encounter=row.encounter,
        round=row.round,
        game=row.game,
        bots=bots,
        ranks=ranks,
        termination=Termination(row.termination),
        **_details(row.text, len(bots)),
    )


def _details(text: Any, seats: int) -> dict[str, Any]:
    """Return what a list shows of a record itself; nothing if it is malformed, which reading the match will say."""
    try:
        stored = from_json_text(text, "its record") if isinstance(text, str) else None
    except StoreError:
        return {}
    if not isinstance(stored, dict):
        return {}
    scores, actions, faults = stored.get("scores"), stored.get("actions"), stored.get("faults")
    if not (isinstance(scores, list) and isinstance(actions, list) and isinstance(faults, list)):
        return {}
    is_right = (
        len(scores) == seats
        and all(type(score) in (int, float) for score in scores)
        and all(_is_fault(fault, seats) for fault in faults)
        and is_text(stored.get("started_at", ""))
    )
    if not is_right:
        return {}
    return {
        "scores": tuple(scores),
        "plies": len(actions),
        "faults": tuple(LineFault(fault["seat"], FaultKind(fault["kind"]), fault["ply"]) for fault in faults),
        "started_at": stored.get("started_at", ""),
    }


def _is_fault(stored: Any, seats: int) -> bool:
    return (
        isinstance(stored, dict)
        and is_whole(stored.get("seat"), 0, seats - 1)
        and is_text(stored.get("kind"))
        and stored["kind"] in list(FaultKind)
        and is_whole(stored.get("ply"), 0)
    )
