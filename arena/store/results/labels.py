"""The bots that have met others in recorded matches, by name."""

from __future__ import annotations

from sqlalchemy import Connection, String, bindparam, func, select

from arena.store.results.connection import Database
from arena.store.results.schema import seats

_AFTER_AT = chr(ord("@") + 1)
_NEXT = select(func.min(seats.c.bot, type_=String)).where(
    seats.c.bot > bindparam("last"), seats.c.bot < bindparam("end")
)


def labels_of(database: Database, bot: str) -> list[str]:
    """Return the recorded versions of a bot (``name@version`` each), or the bot itself if it is given with a version.

    The rows of each version are skipped, not read.
    """
    if "@" in bot:
        return [bot]

    def read(connection: Connection) -> list[str]:
        found: list[str] = []
        last = f"{bot}@"
        while True:
            label = connection.execute(_NEXT, {"last": last, "end": bot + _AFTER_AT}).scalar()
            if label is None:
                return found
            found.append(last := label)

    return database.read(read)
