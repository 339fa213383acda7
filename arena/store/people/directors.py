"""The programs that keep tournaments going: what is wanted of each, and what it says of itself.

What is wanted stays over restarts. A program reads it every half second, and says what it is doing when that changes,
and every few seconds: it has been killed, or was not started, if it has not said anything for long.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, case, select

from arena.base.errors import UsageError
from arena.base.reason import check_reason
from arena.base.stored import from_json_text, from_stored
from arena.store.people.directing import DirectorReport, DirectorState, RunFigures, Wish, WishedState
from arena.store.people.directing_schema import reports, wishes
from arena.store.people.public_log import add_line
from arena.store.people.requests import lock_kept
from arena.store.people.times import Clock
from arena.store.results.connection import Database, insert_into
from arena.store.results.rows import as_json

SILENT_SECONDS = 30.0
"""A program that has said nothing for so long does not run."""

NO_FIGURES = RunFigures()

_LOGGED = {Wish.PLAY: "resumed", Wish.PAUSE: "paused", Wish.DRAIN: "asked to drain"}
_STATES = {Wish.PLAY: "is not paused", Wish.PAUSE: "is paused already", Wish.DRAIN: "is drained already"}


class Directors:
    """What is known of the programs, in a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def want(self, tournament: str, wish: Wish, *, reason: str, by: str) -> None:
        """Say what is wanted; the public log has it at once.

        Raises:
            UsageError: if no program keeps this tournament going, it is wanted already, or the reason is not accepted.
        """
        check_reason(reason)
        own = wishes.c.tournament == tournament
        values = {"wish": wish, "since": self._clock.text(), "by": by, "reason": reason}

        def want(connection: Connection) -> None:
            lock_kept(connection, tournament)
            before = connection.execute(select(wishes.c.wish).where(own)).scalar()
            if (before or Wish.PLAY) == wish:
                raise UsageError(f"tournament {tournament!r} {_STATES[wish]}; nothing was changed")
            if before is None:
                connection.execute(wishes.insert(), {"tournament": tournament, **values})
            else:
                connection.execute(wishes.update().where(own).values(values))
            add_line(connection, self._clock.text(), by, _LOGGED[wish], tournament, reason, tournament)

        self._database.write(want)

    def wish(self, tournament: str) -> WishedState | None:
        """Return what is wanted of a tournament; None if nobody ever wanted anything else than that it is played."""
        query = select(wishes).where(wishes.c.tournament == tournament)
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return WishedState(wish=row.wish, since=row.since, by=row.by, reason=row.reason) if row is not None else None

    def say(
        self, tournament: str, program: str, state: DirectorState, sentence: str = "", figures: RunFigures = NO_FIGURES
    ) -> None:
        """Write what a program says of itself, in the place of what it said before.

        Args:
            tournament: that it keeps going.
            program: which program: "ladder" or "contest".
            state: what it is doing.
            sentence: what it is doing or waiting for; may be empty.
            figures: how far the tournament is.
        """
        now = self._clock.text()
        row = {
            "tournament": tournament,
            "program": program,
            "state": state,
            "since": now,
            "seen_at": now,
            "sentence": sentence,
            "figures": as_json(asdict(figures)),
        }
        changed: dict[str, Any] = {name: value for name, value in row.items() if name != "tournament"}
        changed["since"] = case((reports.c.state == state, reports.c.since), else_=now)

        def say(connection: Connection) -> None:
            statement = insert_into(connection, reports).values(row)
            connection.execute(statement.on_conflict_do_update(index_elements=[reports.c.tournament], set_=changed))

        self._database.write(say)

    def stay(self, tournament: str) -> None:
        """Say for a program that rests that it is there, and that what it said last holds."""
        seen = reports.update().where(reports.c.tournament == tournament).values(seen_at=self._clock.text())
        self._database.write(lambda connection: connection.execute(seen))

    def report(self, tournament: str) -> DirectorReport | None:
        """Return what the program of a tournament last said; None if none ever kept it going."""
        query = select(reports).where(reports.c.tournament == tournament)
        row = self._database.read(lambda connection: connection.execute(query).one_or_none())
        return _report_of(row) if row is not None else None

    def reports(self, program: str) -> list[DirectorReport]:
        """Return what all programs of a kind last said, by tournament."""
        query = select(reports).where(reports.c.program == program)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return sorted(map(_report_of, rows), key=lambda report: report.tournament)

    def is_silent(self, report: DirectorReport) -> bool:
        """Return whether a program has said nothing for so long that it does not run."""
        return report.seen_at <= self._clock.text(-SILENT_SECONDS)


def _report_of(row: Row[Any]) -> DirectorReport:
    where = "the figures of a run"
    return DirectorReport(
        tournament=row.tournament,
        program=row.program,
        state=row.state,
        since=row.since,
        seen_at=row.seen_at,
        sentence=row.sentence,
        figures=from_stored(RunFigures, from_json_text(row.figures, where), where),
    )
