"""The shortest line of play that shows a mistake."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arena.games.conformance.calls import Calls
from arena.games.conformance.finding import MistakeError, exact
from arena.games.conformance.position import Line, Position, breadth_first, first_position

SEARCH_SECONDS = 3.0
"""The CPU time of each of the two searches, so that a busy machine finds as much as an idle one."""

_STATES = 3000

Shown = tuple[MistakeError, Line]
"""A mistake, and the line that shows it."""

Examine = Callable[[Position], Shown | None]
"""Runs one check on a position."""


def shortest(calls: Calls, found: Shown, check: str, examine: Examine) -> Shown:
    """Return the shortest line found that shows a mistake of a check, which ``examine`` makes.

    It tries all positions, the nearest first, while time allows. Then it leaves out actions of the line while that
    still shows a mistake of the same check.
    """
    if not found[1] or found[0].is_timeout:
        return found
    nearest = _nearest(calls, len(found[1]), check, examine)
    return nearest if nearest is not None else _without_detours(calls, found, check, examine)


def _nearest(calls: Calls, length: int, check: str, examine: Examine) -> Shown | None:
    on_the_way: list[Shown] = []

    def note(mistake: MistakeError, line: Line) -> None:
        if mistake.check == check:
            on_the_way.append((mistake, line))

    end = time.process_time() + SEARCH_SECONDS
    try:
        for position in breadth_first(first_position(calls), _STATES, note):
            if on_the_way:
                return on_the_way[0]
            shown = examine(position)
            if shown is not None:
                return shown
            if len(position.line) > length or time.process_time() > end:
                return None
    except MistakeError:
        return None
    return on_the_way[0] if on_the_way else None


def _without_detours(calls: Calls, found: Shown, check: str, examine: Examine) -> Shown:
    """Leave out parts of a line, large ones first (delta debugging: Zeller and Hildebrandt, 2002)."""
    end = time.process_time() + SEARCH_SECONDS
    part = len(found[1]) // 2
    while part >= 1:
        begin = 0
        while begin < len(found[1]) and time.process_time() < end:
            line = found[1][:begin] + found[1][begin + part :]
            shorter = _shown_by(calls, line, check, examine)
            if shorter is not None and len(shorter[1]) < len(found[1]):
                found = shorter
            else:
                begin += part
        part //= 2
    return found


def _shown_by(calls: Calls, line: Line, check: str, examine: Examine) -> Shown | None:
    """Return the mistake of a check that a line shows; None if it shows none, or can't be played."""
    try:
        position = first_position(calls)
        for ply, action in enumerate(line):
            if not _can_follow(position, action):
                return None
            try:
                position = position.then(action)
            except MistakeError as mistake:
                return (mistake, line[: ply + 1]) if mistake.check == check else None
    except MistakeError:
        return None
    return examine(position)


def _can_follow(position: Position, action: Any) -> bool:
    return position.seat is not None if action is None else exact(action) in map(exact, position.legal)
