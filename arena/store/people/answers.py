"""What people answer: which of two variations of a game they enjoyed more, and first answers to puzzles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Column, Connection, ForeignKey, Index, UniqueConstraint, delete, select

from arena.store.people.schema import TimedRepository, numbered
from arena.store.people.unrated_match import matches as unrated_matches
from arena.store.people.unrated_match import one_at_a_time
from arena.store.results.schema import Integer, Member, OptionalInteger, OptionalString, String, Text, value_of, writes

MAX_VOTES = 100_000


class Enjoyed(StrEnum):
    """Which of two matches somebody enjoyed more: the one that was played first or second, or both alike."""

    FIRST = "first"
    SECOND = "second"
    ALIKE = "alike"


votes = numbered(
    "votes",
    Column("person_id", OptionalInteger, ForeignKey("people.id")),
    Column("network", OptionalString(64)),
    Column("match_id", Integer, nullable=False),
    Column("game", String(300), nullable=False),
    Column("first_options", Text, nullable=False),
    Column("second_options", Text, nullable=False),
    Column("choice", Member(Enjoyed, "choice", 16), nullable=False),
    Column("at", String(40), nullable=False),
    Index("votes_by_game", "game"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A vote; the options of both matches are JSON with sorted keys."""

    game: str
    first_options: str
    second_options: str
    choice: Enjoyed
    at: str


class Votes(TimedRepository):
    """The votes in a database."""

    @writes
    def cast(self, connection: Connection, match: int, choice: Enjoyed) -> None:
        """Count the vote after a variation; it replaces an earlier one between the same two.

        A person has one vote, and all visitors from one network have one.
        """
        one_at_a_time(connection)
        row = connection.execute(select(unrated_matches).where(unrated_matches.c.id == match)).one()
        network = row.network if row.person_id is None else None
        new = {"person_id": row.person_id, "network": network, "match_id": match, "game": row.game}
        new |= {"first_options": row.compared, "second_options": row.options}
        of_voter = votes.c.network == network if network is not None else votes.c.person_id == row.person_id
        compared_options = (row.compared, row.options)
        same = (
            (votes.c.game == row.game)
            & votes.c.first_options.in_(compared_options)
            & votes.c.second_options.in_(compared_options)
        )
        connection.execute(delete(votes).where(of_voter, same))
        connection.execute(votes.insert(), new | {"choice": choice, "at": self._clock.text()})

    def after(self, match: int) -> Enjoyed | None:
        """Return the vote after a match; None without one."""
        return self._database.scalar(select(votes.c.choice).where(votes.c.match_id == match))

    def found(self, **filters: int | str) -> list[Vote]:
        """Return the votes of a person, ``person_id``, or of a ``game``, the latest first."""
        rows = self._database.rows(select(votes).filter_by(**filters).order_by(votes.c.id.desc()))
        return [value_of(Vote, row) for row in rows]


def forget_networks(connection: Connection, before: str) -> None:
    """Forget where visitors voted from whose matches are deleted by now, and the oldest of too many votes."""
    connection.execute(votes.update().where(votes.c.at < before).values(network=None))
    latest = select(votes.c.id).order_by(votes.c.id.desc()).limit(MAX_VOTES)
    connection.execute(delete(votes).where(votes.c.id.not_in(latest)))


MAX_TRIES = 5_000
"""Of everybody; then the oldest go."""

puzzle_tries = numbered(
    "puzzle_tries",
    Column("person_id", Integer, ForeignKey("people.id"), nullable=False),
    Column("puzzle", String(64), nullable=False),
    Column("is_solved", Integer, nullable=False),
    Column("at", String(40), nullable=False),
    UniqueConstraint("person_id", "puzzle"),
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

    @writes
    def add(self, connection: Connection, person: int, puzzle: str, *, is_solved: bool) -> bool:
        """Count an answer; return whether it was the first of this person to this puzzle, which alone counts."""
        one_at_a_time(connection)
        own = (puzzle_tries.c.person_id == person) & (puzzle_tries.c.puzzle == puzzle)
        if connection.execute(select(puzzle_tries.c.id).where(own)).first() is not None:
            return False
        new = {"person_id": person, "puzzle": puzzle, "is_solved": int(is_solved), "at": self._clock.text()}
        connection.execute(puzzle_tries.insert(), new)
        latest = select(puzzle_tries.c.id).order_by(puzzle_tries.c.id.desc()).limit(MAX_TRIES)
        connection.execute(delete(puzzle_tries).where(puzzle_tries.c.id.not_in(latest)))
        return True

    def found(self, **filters: int | str) -> list[PuzzleTry]:
        """Return the tries of a person, ``person_id``, to a ``puzzle``, or all, the latest first."""
        rows = self._database.rows(select(puzzle_tries).filter_by(**filters).order_by(puzzle_tries.c.id.desc()))
        return [value_of(PuzzleTry, row, is_solved=bool(row.is_solved)) for row in rows]
