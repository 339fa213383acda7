"""The public log: written in the transaction of what it tells, and never changed."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, false, func, not_, or_, select

from arena.store.people.schema import log, meta
from arena.store.people.values import EmbargoedTournament, LogEntry
from arena.store.results.connection import Repository

PAGE_LENGTH = 100


def add_line(
    connection: Connection,
    at: str,
    by: str,
    action: str,
    subject: str,
    reason: str,
    tournament: str | None = None,
    details: str = "",
) -> None:
    """Write a line, in a transaction that makes the change.

    A new line about a tournament is held back while its results are embargoed.
    """
    connection.execute(meta.update().where(meta.c.key == "log").values(value="1"))  # one writer at a time
    last = connection.execute(select(func.coalesce(func.max(log.c.number), 0))).scalar_one()
    row = {"number": last + 1, "at": at, "by": by, "action": action, "subject": subject, "reason": reason}
    connection.execute(log.insert(), row | {"details": details, "tournament": tournament})


class PublicLog(Repository):
    """Reads the log."""

    def lines(
        self, *, hidden: Collection[EmbargoedTournament], before: int | None = None, most: int = PAGE_LENGTH
    ) -> list[LogEntry]:
        """Return the latest lines, the latest first, without the new ones about hidden tournaments.

        The numbers have no gaps, which would tell that something is held back.
        """
        held_back = ((log.c.tournament == tournament.name) & (log.c.at >= tournament.since) for tournament in hidden)
        is_visible = log.c.tournament.is_(None) | not_(or_(false(), *held_back))

        def read(connection: Connection) -> list[LogEntry]:
            count = connection.execute(select(func.count()).select_from(log).where(is_visible)).scalar_one()
            last = count if before is None else min(count, before - 1)
            first = max(0, last - most)
            page = select(log).where(is_visible).order_by(log.c.number).offset(first).limit(last - first)
            lines = (row._mapping for row in connection.execute(page))
            return [LogEntry(**{**line, "number": number}) for number, line in enumerate(lines, first + 1)][::-1]

        return self._database.read(read)
