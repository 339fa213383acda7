"""A recorded match as a line of a list, and the matches of some bots, found in ``seats``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice, repeat
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, Text, case, func, select, tuple_, type_coerce

from arena.base.enums import FaultKind, Termination
from arena.base.errors import StoreError
from arena.base.records import MatchRecord
from arena.base.results import StoredResult
from arena.base.stored import from_json_text, is_text, is_whole
from arena.store.results.connection import Database
from arena.store.results.match_records import RESULT_COLUMNS, result_columns
from arena.store.results.schema import is_same_match, matches, records, seats
from arena.store.results.statements import CHUNK_ROWS, chunks, record_from, stored_bots_and_ranks

MAX_RECORD_CHARACTERS = 200_000
"""If a record is longer, a list shows only what the columns of its row have."""

PIECE_LINES = 100
"""How many lines are read at once, so that long records do not fill the memory."""


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
    line_of: dict[MatchKey, MatchLine] = {}
    for tournament in {key.tournament for key in keys}:
        numbers = [key.match for key in keys if key.tournament == tournament]
        for chunk in chunks(numbers, PIECE_LINES):
            query = _LINES.where(records.c.tournament_id == tournament, records.c.match.in_(chunk))
            for row in database.rows(query):
                line_of[MatchKey(row.tournament_id, row.match)] = _line(row)
    return [line_of[key] for key in keys if key in line_of]


_SHORT_RECORD = case((func.length(records.c.record) <= MAX_RECORD_CHARACTERS, type_coerce(records.c.record, Text)))
_COLUMNS = ("tournament_id", "match", "encounter", "game", "bots", "ranks", "termination")
_LINES = select(
    *(records.c[name] for name in _COLUMNS),
    matches.c.round,
    _SHORT_RECORD.label("text"),
).join(matches, is_same_match(matches, records))


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
    """Return what a list shows of a record itself; nothing if it is malformed, which reading the match reports."""
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


FIRST_PIECE_ROWS = 200
PIECE_ROWS = 10_000


class MeetingCount(NamedTuple):
    """How often a bot (``name@version``) in one seat came out ahead of its rivals, tied, or came out behind."""

    tournament: int
    game: str
    bot: str
    seat: int
    wins: int
    draws: int
    losses: int


class BotMatches:
    """The matches in which one of some bots played, with one of some rivals if there are any."""

    def __init__(
        self, database: Database, tournaments: Sequence[int], bots: Collection[str], rivals: Collection[str] | None
    ) -> None:
        """Choose the matches of bots against rivals (``name@version`` each; None for all) in tournaments."""
        self._database = database
        self._tournaments = frozenset(tournaments)
        self._bots = sorted(set(bots))
        self._rivals = None if rivals is None else sorted(set(rivals))

    def results(self) -> Iterator[StoredResult]:
        """Yield their results in the order of the schedule, tournament by tournament, reading piece by piece."""
        return (result for _, result in self.numbered_results())

    def numbered_results(self) -> Iterator[tuple[int, StoredResult]]:
        """Yield the number of each match and its result, as ``results`` does."""
        for number, keys in groupby(self._keys(), key=lambda key: key.tournament):
            for chunk in chunks(key.match for key in keys):
                chosen = select(*RESULT_COLUMNS).where(records.c.tournament_id == number)
                rows = self._database.tuples(chosen.where(records.c.match.in_(chunk)).order_by(records.c.match))
                if rows:
                    _, matches, encounters, games, labels, *others = result_columns(number, rows)
                    results = map(StoredResult, repeat(number), encounters, games, map(tuple, labels), *others)
                    yield from zip(matches, results, strict=True)

    def latest(self, count: int) -> list[tuple[int, MatchRecord]]:
        """Return the number of the tournament and the record of the latest matches, the last first."""
        keys = list(islice(self._keys(newest_first=True), count))
        text_of: dict[MatchKey, str] = {}
        records_query = select(records.c.tournament_id, records.c.match, records.c.record)
        for number, group in groupby(keys, key=lambda key: key.tournament):  # SQLite has no index for a list of pairs
            for chunk in chunks(key.match for key in group):
                chosen = records_query.where(records.c.tournament_id == number, records.c.match.in_(chunk))
                text_of |= {MatchKey(number, match): text for _, match, text in self._database.rows(chosen)}
        return [(key.tournament, record_from(key.match, text_of[key])) for key in keys if key in text_of]

    def lines(self, count: int, after: MatchKey | None = None) -> list[MatchLine]:
        """Return a page of the matches behind a match, the last first."""
        return match_lines(self._database, list(islice(self._keys(True, after), min(count, CHUNK_ROWS))))

    def counts(self) -> list[MeetingCount]:
        """Count the meetings with rivals, by tournament, game, bot and seat."""
        kind = (seats.c.tournament_id, seats.c.game, seats.c.bot, seats.c.seat)
        query = select(*kind, *(func.count(type_=Integer).filter(seats.c.ahead == ahead) for ahead in (1, 0, -1)))
        query = query.where(seats.c.bot.in_(self._bots), *self._rival_conditions()).group_by(*kind).order_by(*kind)
        return [MeetingCount(*row) for row in self._database.rows(query) if row.tournament_id in self._tournaments]

    def _keys(self, newest_first: bool = False, after: MatchKey | None = None) -> Iterator[MatchKey]:
        sign = -1 if newest_first else 1
        of_bots = (self._keys_of(bot, sign, after) for bot in self._bots)
        for key, _ in groupby(merge(*of_bots, reverse=newest_first)):
            if key.tournament in self._tournaments:
                yield key

    def _keys_of(self, bot: str, sign: int, after: MatchKey | None) -> Iterator[MatchKey]:
        """Yield the matches of one bot, reading more of them at a time the more are taken."""
        columns = (seats.c.tournament_id, seats.c.match)
        query = select(*columns).where(seats.c.bot == bot, *self._rival_conditions()).group_by(*columns)
        query = query.order_by(*(columns if sign > 0 else [column.desc() for column in columns]))
        key, rows = tuple_(*columns), FIRST_PIECE_ROWS
        while True:
            beyond = query if after is None else query.where(key > after if sign > 0 else key < after)
            piece = [MatchKey(*row) for row in self._database.rows(beyond.limit(rows))]
            yield from piece
            if len(piece) < rows:
                return
            after, rows = piece[-1], PIECE_ROWS

    def _rival_conditions(self) -> list[ColumnElement[bool]]:
        return [] if self._rivals is None else [seats.c.rival.in_(self._rivals)]
