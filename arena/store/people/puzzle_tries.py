"""The first answers of people to puzzles, from which both are rated."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, Connection, ForeignKey, Table, UniqueConstraint, delete, select

from arena.store.people.play_slots import one_at_a_time
from arena.store.people.schema import TimedRepository, metadata
from arena.store.results.schema import Integer, String, value_of

MAX_TRIES = 5_000
"""Of everybody; then the oldest go."""

puzzle_tries = Table(
    "puzzle_tries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person_id", Integer, ForeignKey("people.id"), nullable=False),
    Column("puzzle", String(64), nullable=False),
    Column("is_solved", Integer, nullable=False),
    Column("at", String(40), nullable=False),
    UniqueConstraint("person_id", "puzzle"),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PuzzleTry:
    """A first answer; ``puzzle`` is the key of the puzzle."""

    person_id: int
    puzzle: str
    is_solved: bool
    at: str


class PuzzleTries(TimedRepository):
    """The tries in a database."""

    def add(self, person: int, puzzle: str, *, is_solved: bool) -> bool:
        """Count an answer; return whether it was the first of this person to this puzzle, which alone counts."""

        def add(connection: Connection) -> bool:
            one_at_a_time(connection)
            own = (puzzle_tries.c.person_id == person) & (puzzle_tries.c.puzzle == puzzle)
            if connection.execute(select(puzzle_tries.c.id).where(own)).first() is not None:
                return False
            new = {"person_id": person, "puzzle": puzzle, "is_solved": int(is_solved), "at": self._clock.text()}
            connection.execute(puzzle_tries.insert(), new)
            latest = select(puzzle_tries.c.id).order_by(puzzle_tries.c.id.desc()).limit(MAX_TRIES)
            connection.execute(delete(puzzle_tries).where(puzzle_tries.c.id.not_in(latest)))
            return True

        return self._database.write(add)

    def found(self, **which: int | str) -> list[PuzzleTry]:
        """Return the tries of a person, ``person_id``, to a ``puzzle``, or all, the latest first."""
        rows = self._database.rows(select(puzzle_tries).filter_by(**which).order_by(puzzle_tries.c.id.desc()))
        return [value_of(PuzzleTry, row, is_solved=bool(row.is_solved)) for row in rows]
