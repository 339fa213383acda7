"""The rows of ``seats``: who met whom in which recorded match, and who came out ahead.

They are written and removed with the records. A record with malformed bots or ranks, or with too many bots, has no
rows; reading it is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from sqlalchemy import Connection, bindparam

from arena.errors import StoreError
from arena.store.schema import seats
from arena.store.statements import stored_bots_and_ranks

MAX_SEATS = 64
"""The most bots of a match that has rows."""

_INSERT = seats.insert()
_REMOVE = seats.delete().where(
    seats.c.bot == bindparam("label"),
    seats.c.tournament_id == bindparam("number"),
    seats.c.match == bindparam("played"),
)


class Sitting(NamedTuple):
    """A recorded match, as far as ``seats`` knows it: its bots and ranks as they are stored."""

    match: int
    game: str
    bots: str
    ranks: str


class _Meeting(NamedTuple):
    """A bot and one of its rivals in a match; ``ahead`` is 1 if the bot has the better rank, -1 if the rival has."""

    bot: str
    seat: int
    rival: str
    rival_seat: int
    ahead: int


def insert_seats(connection: Connection, tournament: int, sittings: Iterable[Sitting]) -> None:
    """Write the rows of some matches."""
    rows = [
        {
            "bot": bot, "tournament_id": tournament, "match": match, "seat": seat, "rival_seat": rival_seat,
            "rival": rival, "ahead": ahead, "game": game,
        }
        for match, game, bots, ranks in sittings
        for bot, seat, rival, rival_seat, ahead in _meetings(bots, ranks)
    ]  # fmt: skip
    if rows:
        connection.execute(_INSERT, rows)


def remove_seats(connection: Connection, tournament: int, sittings: Iterable[Sitting]) -> None:
    """Remove the rows of some matches."""
    keys = [
        {"label": label, "number": tournament, "played": match}
        for match, _, bots, ranks in sittings
        for label in {meeting.bot for meeting in _meetings(bots, ranks)}
    ]
    if keys:
        connection.execute(_REMOVE, keys)


@lru_cache(maxsize=4096)
def _meetings(bots: str, ranks: str) -> tuple[_Meeting, ...]:
    try:
        labels, places = stored_bots_and_ranks(bots, ranks)
    except StoreError:
        return ()
    if len(labels) > MAX_SEATS:
        return ()
    return tuple(
        _Meeting(labels[i], i, labels[k], k, (places[k] > places[i]) - (places[k] < places[i]))
        for i, k in permutations(range(len(labels)), 2)
    )
