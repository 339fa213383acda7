"""In which order submissions are checked: authors take turns."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Subquery, case, func, select

from arena.store.people.schema import submissions
from arena.store.people.submission import UNFINISHED, SubmissionState


def last_turn() -> ColumnElement[int]:
    """Return when the author of a submission had a turn last; 0 for never."""
    of_author = submissions.alias("of_author")
    last = select(func.coalesce(func.max(of_author.c.turn), 0)).where(of_author.c.person_id == submissions.c.person_id)
    return last.scalar_subquery()


def checking_order() -> Subquery:
    """Return the numbers of what is not decided with their positions, from 1: what is being checked, then in turns.

    The first of each author come before the second ones; among these, who has had a turn longest ago is first, and of
    those who never had one, who came first.
    """
    waits = submissions.c.state == SubmissionState.WAITING
    author = (submissions.c.person_id, submissions.c.state)
    unfinished = (
        select(
            submissions.c.id,
            case((waits, 1), else_=0).label("waits"),
            func.row_number().over(partition_by=author, order_by=submissions.c.id).label("place"),
            last_turn().label("last_turn"),
            func.min(submissions.c.id).over(partition_by=author).label("first"),
        )
        .where(submissions.c.state.in_(UNFINISHED))
        .subquery()
    )
    columns = unfinished.c
    position = func.row_number().over(order_by=(columns.waits, columns.place, columns.last_turn, columns.first))
    return select(columns.id, position.label("position")).subquery()
