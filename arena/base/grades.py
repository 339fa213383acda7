"""Grades for everybody on a roster, from the groups of a table: the results do not separate the bots of a group."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple


class GradeState(StrEnum):
    """What became of what a student has submitted."""

    PLAYED = "played"
    WAITING = "waiting"
    """It has entered, and none of its matches is recorded."""
    DISQUALIFIED = "disqualified"
    REJECTED = "rejected"
    ABSENT = "absent"
    """Nothing was submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """How groups become grades.

    Attributes:
        best: points of the first group.
        worst: points of the last group, or of the yardstick's and all below it; groups between are equally spaced.
        yardstick: the name of a bot that everybody should beat; it gets no grade.
        without_faults: extra points for a bot that never forfeits.
        rejected: points for a submission that can't play; ``absent`` and ``disqualified`` are for the other states.
        decimals: of points.
        names: the least points for each named grade; without names, the points are the grade.
    """

    best: float = 10.0
    worst: float = 0.0
    yardstick: str = ""
    without_faults: float = 0.0
    rejected: float = 0.0
    absent: float = 0.0
    disqualified: float = 0.0
    decimals: int = 1
    names: Mapping[str, float] = field(default_factory=dict)

    def grade(self, points: float) -> float | str:
        """Return the grade for points."""
        if not self.names:
            return points
        reached = [name for name, least in self.names.items() if points >= least]
        lowest = min(self.names, key=self.names.__getitem__)
        return max(reached, key=self.names.__getitem__, default=lowest)


class Student(NamedTuple):
    """A student, and the names of their bots, with or without version."""

    name: str
    bots: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLine:
    """A bot's line in a table; results do not tell the bots of a ``group`` apart from its first."""

    name: str
    label: str
    group: Hashable
    rank: int | None
    matches: int
    score_percent: float | None
    forfeits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The grade of a student, by the best of their bots; ``group`` counts from 1, and is None without a match."""

    student: str
    grade: float | str | None
    points: float | None
    state: GradeState
    bot: str = ""
    group: int | None = None
    rank: int | None = None
    matches: int = 0
    score_percent: float | None = None
    forfeits: int = 0
    reason: str = ""


def grades_of(
    students: Iterable[Student],
    lines: Sequence[TableLine],
    scheme: Scheme,
    *,
    waiting: Collection[str] = (),
    disqualified: Collection[str] = (),
    rejected: Mapping[str, str],
) -> list[Grade]:
    """Return the grade of every student, in the order of groups.

    Args:
        lines: of the table, the best first; bots that no student owns do not count as a group.
        waiting: names of bots that have entered, with or without version.
        disqualified: the labels of disqualified bots.
        rejected: the reason, by the name of the bot that could not play, or of its student.
    """
    listed = list(students)
    owned = {bot for student in listed for bot in student.bots}
    counted = [line for line in lines if {line.name, line.label} & {*owned, scheme.yardstick}]
    groups = {group: number for number, group in enumerate(dict.fromkeys(line.group for line in counted))}
    yardstick = next((groups[line.group] for line in counted if scheme.yardstick in (line.name, line.label)), None)
    last = len(groups) - 1 if yardstick is None else yardstick

    def graded(student: Student) -> Grade:
        bots, grade = set(student.bots), partial(_graded, scheme, student.name)
        line = next((line for line in lines if bots & {line.name, line.label}), None)
        if line is not None:
            number = groups[line.group]
            share = (max(last - number, 0) / last) if last else float(yardstick is None)
            points = scheme.worst + (scheme.best - scheme.worst) * share
            points += 0.0 if line.forfeits else scheme.without_faults
            same = {name: getattr(line, name) for name in ("rank", "matches", "score_percent", "forfeits")}
            return grade(points, GradeState.PLAYED, bot=line.label, group=number + 1, **same)
        out = next((label for label in sorted(disqualified) if bots & {label, label.rpartition("@")[0]}), None)
        if out is not None:
            return grade(scheme.disqualified, GradeState.DISQUALIFIED, bot=out)
        if entered := sorted(bots & set(waiting)):
            return grade(None, GradeState.WAITING, bot=max(entered, key=len))
        if reasons := [rejected[bot] for bot in sorted({*bots, student.name} & rejected.keys())]:
            return grade(scheme.rejected, GradeState.REJECTED, reason=reasons[0])
        return grade(scheme.absent, GradeState.ABSENT)

    order = list(GradeState)
    grades = [graded(student) for student in listed if scheme.yardstick not in (student.name, *student.bots)]
    return sorted(
        grades, key=lambda grade: (order.index(grade.state), grade.group or 0, grade.rank or 0, grade.student)
    )


def _graded(scheme: Scheme, student: str, points: float | None, state: GradeState, **values: Any) -> Grade:
    rounded = None if points is None else round(points, scheme.decimals) + 0.0
    grade = None if rounded is None else scheme.grade(rounded)
    return Grade(student=student, grade=grade, points=rounded, state=state, **values)
