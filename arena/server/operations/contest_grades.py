"""Grades of a contest: everybody who has entered or was invited, by the groups that arena grades has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.base.grades import GradeState, Scheme, Student, TableLine, grades_of
from arena.base.names import MAX_REASON_CHARACTERS
from arena.server.operations.contests_model import UNRANKED, GradeLine, grade_lines, place_order
from arena.site.frame.model import Model, Table
from arena.site.pages.tournament_model import TournamentPage
from arena.store.people.contest import ContestEntry, StoredContest

_GRADES = [
    "person",
    "bot",
    "tournament",
    "rank",
    "rating",
    "margin_95",
    "points",
    "matches",
    "forfeits",
    "state",
    "group",
    "grade",
    "reason",
    "disqualified",
]


class GradeRow(GradeLine):
    """The same with a grade, by the groups of bots that can't be told apart."""

    state: GradeState
    group: int | None
    grade: float | str | None
    reason: str


class GradesPage(Model):
    """The grades of a contest, by rank."""

    lines: tuple[GradeRow, ...]

    def tables(self) -> Mapping[str, Table]:
        """Return the table of grades."""
        return {"grades": Table.of(_GRADES, [line.values() for line in self.lines])}


def grade_rows(
    stored: StoredContest,
    entries: Iterable[ContestEntry],
    rejected: Mapping[str, str],
    played: Sequence[TournamentPage],
) -> tuple[GradeRow, ...]:
    """Return a line for everybody who has entered or was invited; ``rejected`` has the reasons by author."""
    entries = tuple(entries)
    ranked = {line.person: line for line in grade_lines(entries, played)}
    bots = {person: tuple(entry.bot for entry in entries if entry.author == person) for person in ranked}
    known = {person.casefold() for person in (*ranked, *rejected)}
    guests = [name for name in stored.contest.invited if name.casefold() not in known]
    found = grades_of(
        [Student(person, bots.get(person, ())) for person in dict.fromkeys((*ranked, *rejected, *guests))],
        list(_table_lines(played)),
        Scheme(),
        waiting={entry.bot for entry in entries},
        disqualified={label for page in played for label in page.disqualified},
        rejected={person: reason.partition("\n")[0][:MAX_REASON_CHARACTERS] for person, reason in rejected.items()},
    )
    rows = [
        GradeRow.model_validate(
            {**(ranked.get(one.student) or UNRANKED).model_dump(), "person": one.student}
            | {"state": one.state, "group": one.group, "grade": one.grade, "reason": one.reason}
        )
        for one in found
    ]
    return tuple(sorted(rows, key=lambda row: (*place_order(row), list(GradeState).index(row.state), row.person)))


def _table_lines(played: Sequence[TournamentPage]) -> Iterator[TableLine]:
    """Yield the lines of the final, and behind them those of who is only in the qualification."""
    seen: set[str] = set()
    for page in played:
        for line in page.standings:
            if line.label not in seen:
                seen.add(line.label)
                yield TableLine(
                    name=line.label,
                    label=line.label,
                    group=(page.name, line.group),
                    rank=line.rank,
                    matches=line.matches,
                    score_percent=line.score_percent,
                    forfeits=sum(line.faults.values()),
                )
