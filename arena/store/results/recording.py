"""Records and what is written with them: seats, counts and faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import permutations
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam

from arena.base.errors import StoreError
from arena.store.results.rows import RecordRow
from arena.store.results.schema import faults, records, seats
from arena.store.results.statements import Counters, add_to_counters, insert_many, stored_bots_and_ranks

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


class Sitting(NamedTuple):
    """A recorded match for ``seats``: its bots and ranks as they are stored."""

    match: int
    game: str
    bots: str
    ranks: str


def insert_seats(connection: Connection, tournament: int, sittings: Iterable[Sitting]) -> None:
    """Write the rows of some matches, each with a bot and one of its rivals; see ``_meetings``."""
    rows = [
        (bot, tournament, match, seat, rival_seat, rival, ahead, game)
        for match, game, bots, ranks in sittings
        for bot, seat, rival, rival_seat, ahead in _meetings(bots, ranks)
    ]
    rows.sort(key=itemgetter(0))  # neighbours in the table are written one after the other
    insert_many(connection, seats, _COLUMNS, rows)


def remove_seats(connection: Connection, tournament: int, sittings: Iterable[Sitting]) -> None:
    """Remove the rows of some matches."""
    keys = [
        {"label": label, "number": tournament, "played": match}
        for match, _, bots, ranks in sittings
        for label in {meeting[0] for meeting in _meetings(bots, ranks)}
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
"""What a row of ``records`` has; the faults come last."""


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
    insert_seats(connection, number, (Sitting(row.match, row.game, row.bots, row.ranks) for row in rows))
    size = sum(len(row.record) for row in rows)
    add_to_counters(connection, number, Counters(record_count=len(rows), record_bytes=size))
    found = [
        {**key, "match": row.match, "seat": seat, "game": row.game, "bot": bot, "kind": kind}
        for row in rows
        for seat, bot, kind in row.faults
    ]
    if found:
        connection.execute(faults.insert(), found)


def without_faults(row: RecordRow) -> dict[str, Any]:
    """Return the columns of a record, without its faults."""
    values = row._asdict()
    del values["faults"]
    return values
