"""Reads and writes whose bots are."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, Executable, select

from arena.store.results.connection import Database, insert_into
from arena.store.results.events import OWNERS, advance
from arena.store.results.owners import OwnedBot, Owners
from arena.store.results.schema import owners


def read_owners(connection: Connection) -> Owners:
    """Return whose bots are."""
    rows = connection.execute(select(owners.c.bot, owners.c.digest, owners.c.person))
    return Owners({row.bot: OwnedBot(*row) for row in rows})


def write_owner(database: Database, one: OwnedBot) -> None:
    """Say whose a bot is that nobody has seen yet."""
    database.write(lambda connection: connection.execute(_set(connection, one)))


def _set(connection: Connection, one: OwnedBot) -> Executable:
    row = insert_into(connection, owners).values(one._asdict())
    return row.on_conflict_do_update(
        index_elements=[owners.c.bot], set_={owners.c.digest: one.digest, owners.c.person: one.person}
    )


def write_owners(database: Database, owned: Iterable[OwnedBot]) -> None:
    """Make whose bots are what it should be; names that are gone are overwritten, and pages with them not shown again.

    Args:
        database: of results.
        owned: all of them.
    """
    wanted = {one.bot: one for one in owned}

    def write(connection: Connection) -> None:
        known = read_owners(connection).by_bot
        if known == wanted:
            return
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        for bot in known.keys() - wanted.keys():
            connection.execute(owners.delete().where(owners.c.bot == bot))
        for bot, one in wanted.items():
            if known.get(bot) != one:
                connection.execute(_set(connection, one))
        advance(connection, OWNERS)

    database.write(write)
