"""The home to which a database on a server belongs: programs of its site work there, and none of another home."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from sqlalchemy import Connection, Table, select

from arena.base.errors import StoreError
from arena.store.results.connection import Database, insert_into

OWNER = "home"
"""Its key, which no copy of a database has."""


class Owner(NamedTuple):
    """A home.

    Attributes:
        identity: by which it is known, wherever it is moved.
        place: where it is, for messages.
    """

    identity: str
    place: str


class Owned:
    """A store that may belong to a home."""

    _database: Database
    _meta: ClassVar[Table]

    def belong_to(self, home: Owner, is_adopted: bool = False) -> None:
        """Note to which home a database on a server belongs, unless it belongs to one; a file is in its home.

        Args:
            home: whose programs work here from now on.
            is_adopted: it may have belonged to another one until now.

        Raises:
            StoreError: if it belongs to another one.
        """
        if self._database.is_server:
            found = self._database.write(lambda connection: self._owner(connection, home, is_adopted))
            if found.identity != home.identity:
                raise StoreError(
                    f"{self._database.shown}: it belongs to the home {found.place}, and this is"
                    f" {home.place}; give each home databases of its own, or, if the other one is gone, run:"
                    " arena people adopt"
                )

    def _owner(self, connection: Connection, home: Owner, is_adopted: bool) -> Owner:
        row = {"key": OWNER, "value": f"{home.identity} {home.place}"}
        insert = insert_into(connection, self._meta).values(row)
        if is_adopted:
            connection.execute(insert.on_conflict_do_update(index_elements=[self._meta.c.key], set_=row))
        else:
            connection.execute(insert.on_conflict_do_nothing())
        value = connection.execute(select(self._meta.c.value).where(self._meta.c.key == OWNER)).scalar_one()
        return Owner(*value.partition(" ")[::2])
