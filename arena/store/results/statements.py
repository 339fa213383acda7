"""Rows of the tables, going in and coming out: counters, records with what is written with them, owners of bots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, permutations
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Executable, Select, Table, bindparam, exists, func, select

from arena.base.definition import Definition
from arena.base.errors import StoreError
from arena.base.records import MatchRecord, ScheduledMatch
from arena.base.results import StoredResult
from arena.base.stored import from_json_text, is_plain, is_text, is_whole
from arena.store.results.connection import insert_into
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.schema import (
    Integer,
    faults,
    is_same_match,
    matches,
    owners,
    records,
    seats,
    set_aside,
    skipped,
    total_of,
    tournaments,
    value_of,
)
from arena.store.results.values import Correction, OwnedBot, Owners, StoredTournament

# The counters of a tournament: kept in its row, by whatever writes its matches and records, in the same transaction.
#
# Counting a million rows takes a hundred times as long as looking at a row.


class Counters(NamedTuple):
    """The counters of a tournament, or by how much they change.

    Attributes:
        match_count: the matches in the schedule, with those that a correction has taken out of it.
        record_bytes: the size of the records, with those that were set aside.
    """

    match_count: int = 0
    record_count: int = 0
    record_bytes: int = 0


_ADD = (
    tournaments.update()
    .where(tournaments.c.id == bindparam("number"))
    .values({name: tournaments.c[name] + bindparam(f"more_{name}") for name in Counters._fields})
)


def add_to_counters(connection: Connection, tournament: int, change: Counters) -> None:
    """Change the counters of a tournament."""
    connection.execute(_ADD, {"number": tournament, **{f"more_{name}": by for name, by in change._asdict().items()}})


def counted(connection: Connection, tournament: int) -> Counters:
    """Return the correct values of a tournament's counters, by counting."""
    lines = select(func.count()).where(matches.c.tournament_id == tournament)
    recorded, record_bytes = connection.execute(_sizes(connection, records, tournament)).one()
    bytes_aside = connection.execute(_sizes(connection, set_aside, tournament)).one()[1]
    return Counters(int(connection.execute(lines).scalar_one()), recorded, record_bytes + bytes_aside)


def count_again(connection: Connection) -> None:
    """Set the counters of all tournaments by counting."""
    for (number,) in connection.execute(select(tournaments.c.id)).all():
        values = counted(connection, number)._asdict()
        connection.execute(tournaments.update().where(tournaments.c.id == number).values(**values))


def count_rows_again(connection: Connection) -> None:
    """Set the counters of rows by counting, without looking into any."""
    counters = {"match_count": matches, "record_count": records}
    for name, table in counters.items():
        number = select(func.count()).where(table.c.tournament_id == tournaments.c.id)
        connection.execute(tournaments.update().values({name: number.scalar_subquery()}))


def _sizes(connection: Connection, table: Any, tournament: int) -> Select[Any]:
    """Return the query of the number of records in a table, and of their size."""
    length = func.length if connection.dialect.name == "sqlite" else func.octet_length  # records are ASCII
    size = total_of(length(table.c.record))
    return select(func.count(type_=Integer), size).where(table.c.tournament_id == tournament)


CHUNK_ROWS = 500

Value = TypeVar("Value")

_LINE_COLUMNS = tuple(matches.c.keys())


def is_to_be_played() -> ColumnElement[bool]:
    """Return the condition that a match has no record, and no correction has taken it out of the schedule."""
    return ~exists().where(is_same_match(records, matches)) & ~is_skipped()


def is_skipped() -> ColumnElement[bool]:
    """Return the condition that a correction has taken a match out of the schedule."""
    return exists().where(is_same_match(skipped, matches))


def insert_lines(connection: Connection, number: int, lines: Iterable[ScheduledMatch]) -> None:
    """Write lines of a schedule, piece by piece."""
    for chunk in chunks(lines):
        connection.execute(matches.insert(), [_schedule_row(number, line) for line in chunk])
        add_to_counters(connection, number, Counters(match_count=len(chunk)))


def insert_many(connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows of plain values under column names, in a transaction: the driver alone takes half the time."""
    preparer = connection.dialect.identifier_preparer
    columns = ", ".join(preparer.format_column(table.c[name]) for name in names)
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = ", ".join([mark] * len(names))
    if rows:
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", list(rows))


def _schedule_row(number: int, line: ScheduledMatch) -> dict[str, Any]:
    values = ((name, getattr(line, name)) for name in line.__slots__)
    row = {name: as_json(value) if isinstance(value, tuple) else value for name, value in values}
    return {"tournament_id": number, **row}


def chunks(values: Iterable[Value], size: int = CHUNK_ROWS) -> Iterator[list[Value]]:
    """Yield the values in lists that one statement can take."""
    coming = iter(values)
    while chunk := list(islice(coming, size)):
        yield chunk


def stored_tournament(row: Any, corrections: tuple[Correction, ...], owners: Owners) -> StoredTournament:
    """Return a tournament from its row with the counts of its matches, its log of corrections, and whose bots are."""
    return value_of(
        StoredTournament,
        row,
        name=row.name if row.deleted_name is None else row.deleted_name,
        definition_text=row.definition,
        scheduled=row.match_count - row.left_out,
        recorded=row.record_count,
        corrections=corrections,
        owners=owners,
    )


def record_from(match: int, text: str) -> MatchRecord:
    """Return a record from its text; StoreError if a newer arena has stored it, or it is malformed."""
    return MatchRecord.from_json(from_json_text(text, f"the record of match {match}"))


def most_rounds_on(definition: Definition) -> int:
    """Return by how many rounds an encounter may come after the one before: those in between are of absent bots."""
    return 1 if definition.until is None else 1 + 2 * len(definition.entrants)


def scheduled_match(line: Any, definition: Definition) -> ScheduledMatch:
    """Return a line of a schedule from its row; StoreError if it does not fit the tournament's definition."""
    where = _line_of(line.match, definition)
    opening_actions = from_json_text(line.opening_actions, where)
    if not (isinstance(opening_actions, list) and is_plain(opening_actions)):
        raise StoreError(f"{where} is malformed: expected an opening that is a list")
    values = dict(zip(_LINE_COLUMNS, line, strict=True))
    del values["tournament_id"]
    values["seats"] = _seats(line.seats, line.game, definition, where)
    values["opening_actions"] = tuple(
        tuple(action) if isinstance(action, list) else action for action in opening_actions
    )
    return ScheduledMatch(**values)


def _line_of(match: int, definition: Definition) -> str:
    return f"match {match} of tournament {definition.name!r}: its line in the schedule"


def seats_in_line(text: str, game: int, match: int, definition: Definition) -> tuple[int, ...]:
    """Return the entrants in a line of a schedule; StoreError if they do not fit the tournament's definition."""
    return _seats(text, game, definition, _line_of(match, definition))


def result_in_round(row: Any, tournament: int, definition: Definition) -> StoredResult:
    """Return the result of a match of a round from its row; StoreError if it does not fit the definition."""
    where = f"a match of encounter {row.encounter} of tournament {definition.name!r}"
    seats = _seats(row.seats, row.game, definition, where)
    ranks = ranks_from(row.ranks, len(seats), where)
    bots = tuple(definition.entrants[entrant].label for entrant in seats)
    game = definition.games[row.game].game
    return StoredResult(tournament, row.encounter, game, bots, ranks, row.opening_hash, row.actions_hash)


def result_of(row: RecordRow, tournament: int = 0) -> StoredResult:
    """Return the result of a match from the row of its record."""
    bots, ranks = stored_bots_and_ranks(row.bots, row.ranks)
    return StoredResult(tournament, row.encounter, row.game, bots, ranks, row.opening_hash, row.actions_hash)


def stored_bots_and_ranks(bots: str, ranks: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the bots of a match, and their ranks, or raise StoreError."""
    labels = from_json_text(bots, "its bots")
    if not (isinstance(labels, list) and labels and all(map(is_text, labels))):
        raise StoreError("its bots are malformed: expected a list of names")
    return tuple(labels), ranks_from(ranks, len(labels), "its ranks")


def _seats(text: str, game: int, definition: Definition, where: str) -> tuple[int, ...]:
    seats = from_json_text(text, where)
    if not 0 <= game < len(definition.games):
        raise StoreError(f"{where} is malformed: game {game} is not one of the tournament's")
    if not _are_whole(seats, definition.games[game].players, 0, len(definition.entrants) - 1):
        raise StoreError(f"{where} is malformed: expected an entrant of the tournament for each seat")
    return tuple(seats)


def ranks_from(text: str, count: int, where: str) -> tuple[int, ...]:
    """Return the ranks of a match; StoreError if they are no list of a rank for each of ``count`` bots."""
    ranks = from_json_text(text, where)
    if not _are_whole(ranks, count, 1, count):
        raise StoreError(f"{where} is malformed: expected a place for each bot")
    return tuple(ranks)


def _are_whole(values: object, count: int, least: int, most: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(is_whole(value, least, most) for value in values)


_OWNERS = select(owners.c.bot, owners.c.digest, owners.c.person)


def read_owners(connection: Connection) -> Owners:
    """Return the owners of bots."""
    return Owners({row.bot: OwnedBot(*row) for row in connection.execute(_OWNERS)})


def owner_row(connection: Connection, owned: OwnedBot) -> Executable:
    """Return the statement that stores a bot's owner in place of the earlier one."""
    row = insert_into(connection, owners).values(owned._asdict())
    return row.on_conflict_do_update(
        index_elements=[owners.c.bot], set_={owners.c.digest: owned.digest, owners.c.person: owned.person}
    )


# Records and what is written with them: seats, counts and faults.
#
# The rows of ``seats``: who met whom in which recorded match, and who came out ahead.
#
# They are written and removed with the records. A record with malformed bots or ranks, or with too many bots, has no
# rows; reading it is an error of its own.

MAX_SEATS = 64
"""The most bots of a match that has rows."""

_COLUMNS = ("bot", "tournament_id", "match", "seat", "rival_seat", "rival", "ahead", "game")
_REMOVE = seats.delete().where(
    seats.c.bot == bindparam("label"),
    seats.c.tournament_id == bindparam("number"),
    seats.c.match == bindparam("played"),
)


def derived_keys(row: Any, record: MatchRecord) -> Iterator[tuple[str, ...]]:
    """Yield what the tables of seats and faults have of a record, as ``derived_counts`` counts it."""
    yield from ((bot, rival, str(ahead)) for bot, _, rival, _, ahead in _meetings(row.bots, row.ranks))
    yield from ((record.bots[fault.seat], str(fault.kind)) for fault in record.faults)


def insert_seats(connection: Connection, tournament: int, recorded: Iterable[Any]) -> None:
    """Write the rows of some matches, of which there are rows of records; see ``_meetings``."""
    rows = [
        (bot, tournament, record.match, seat, rival_seat, rival, ahead, record.game)
        for record in recorded
        for bot, seat, rival, rival_seat, ahead in _meetings(record.bots, record.ranks)
    ]
    rows.sort(key=itemgetter(0))  # neighbours in the table are written one after the other
    insert_many(connection, seats, _COLUMNS, rows)


def remove_seats(connection: Connection, tournament: int, recorded: Iterable[Any]) -> None:
    """Remove the rows of some matches, of which there are rows of records."""
    keys = [
        {"label": label, "number": tournament, "played": record.match}
        for record in recorded
        for label in {meeting[0] for meeting in _meetings(record.bots, record.ranks)}
    ]
    if keys:
        connection.execute(_REMOVE, keys)


@lru_cache(maxsize=4096)
def _meetings(bots: str, ranks: str) -> tuple[tuple[str, int, str, int, int], ...]:
    """Return each bot and each of its rivals: bot, seat, rival, the rival's seat, and who is ahead.

    That is 1 if the bot has the better rank, -1 if the rival has, and 0 if they tied.
    """
    try:
        labels, places = stored_bots_and_ranks(bots, ranks)
    except StoreError:
        return ()
    if len(labels) > MAX_SEATS:
        return ()
    return tuple(
        (labels[i], i, labels[k], k, (places[k] > places[i]) - (places[k] < places[i]))
        for i, k in permutations(range(len(labels)), 2)
    )


_COUNTED_COLUMNS = RecordRow._fields[: RecordRow._fields.index("faults")]
"""The columns of a row of ``records``; the faults come last."""


def insert_records(connection: Connection, number: int, rows: Sequence[RecordRow]) -> None:
    """Write records of a tournament, with their faults and seats, and count them."""
    if not rows:
        return
    key = {"tournament_id": number}
    insert_many(
        connection,
        records,
        ("tournament_id", *_COUNTED_COLUMNS),
        [(number, *row[: len(_COUNTED_COLUMNS)]) for row in rows],
    )
    insert_seats(connection, number, rows)
    size = sum(len(row.record) for row in rows)
    add_to_counters(connection, number, Counters(record_count=len(rows), record_bytes=size))
    fault_rows = [
        {**key, "match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
        for row in rows
        for seat, bot, kind in row.faults
    ]
    if fault_rows:
        connection.execute(faults.insert(), fault_rows)
