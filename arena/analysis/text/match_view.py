"""A match as viewers show it, and which matches of a tournament its report replays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from arena.analysis.text.tables import printable
from arena.base.errors import GameError
from arena.base.records import MatchRecord
from arena.games import Drawing, Game, text_drawing
from arena.games.drawing import Shape, drawing_problem
from arena.games.squares import as_square
from arena.match.replay import states_of

# A match as viewers show it: a frame for each ply, and marks that say who made them and in which order.
#
# A game draws a state (``arena.games.drawing``), which does not say who made which mark. The actions do: a mark belongs
# to the seat after whose action it appears.

SEAT_STYLES = 8
"""How many colours seats have."""

SEAT_SHAPES = 4
"""How many shapes the marks of seats have."""

_BOARD = "board"
_MARK = "mark"
_NUMBER = "number"
_LABEL = "label"
DRAWING_ORDER = {"rect": 0, "polygon": 0, "line": 1, "disc": 2, "mark": 3, "text": 4}
"""Shapes with a larger number are drawn above the others."""

MAX_ACTION_CHARACTERS = 1000
_LABEL_ROOM = 0.7
"""How far apart labels outside the board are, in squares."""

_SEAT = "seat"
"""The beginning of the styles of seats."""

_Point = tuple[Any, Any]


def match_view(record: MatchRecord) -> dict[str, Any]:
    """Return a match as notebooks show it: the shapes of its board at each ply, and what is written beside it."""
    states = list(states_of(record))
    drawings = [drawing_or_reason(game, state) for game, state in states]
    game = states[0][0]
    boards = list(owned_shapes([drawing.shapes for drawing in drawings], [seat for seat, _ in record.actions]))
    shapes, _ = frames_of(boards)
    height = max(drawing.height for drawing in drawings)
    return {
        "height": height,
        "box": board_box(shapes, max(drawing.width for drawing in drawings), height),
        "mono": is_text_board(shapes),
        "boards": boards,
        "notes": [list(map(printable, drawing.notes)) for drawing in drawings],
        "scores": [[f"{score:.6g}" for score in game.scores(state)] for game, state in states],
        "actions": [[seat, action_text(game, action)] for seat, action in record.actions],
    }


def drawing_or_reason(game: Game[Any], state: Any) -> Drawing:
    """Return the drawing of a state, or a drawing of the reason why it has no board."""
    try:
        return checked_drawing(game, state)
    except GameError as error:
        return text_drawing([f"(no board: {error})"])


def checked_drawing(game: Game[Any], state: Any) -> Drawing:
    """Return the drawing of a state; GameError if viewers can't draw it."""
    drawing = game.drawing(state)
    problem = drawing_problem(drawing)
    if problem:
        raise GameError(game.name, "drawing", f"returned what can't be drawn: {problem}")
    return drawing


def owned_shapes(drawings: Sequence[Sequence[Shape]], seats: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the shapes of each drawing; a mark is ``("mark", x, y, radius, seat, text)``.

    The drawings are of the states before the first action and after each; ``seats`` are those that acted. The text of a
    mark is the number that the game gives it, or else its place in the order of the marks. A label that appears outside
    the board after an action, such as the place of a line, gets a mark of its own, and both move outwards until they
    are clear of earlier ones.
    """
    owners: dict[_Point, tuple[int | None, int]] = {}
    first_labels = {shape for shape in drawings[0] if shape[-1] == _LABEL}
    lanes = {_point(label): 0 for label in first_labels}
    for drawing, seat in zip(drawings, (None, *seats), strict=True):
        labels = [shape for shape in drawing if shape[-1] == _LABEL and shape not in first_labels]
        marks = [shape for shape in drawing if shape[0] == "disc" and shape[-1] == _MARK]
        points = [_point(shape) for shape in (*marks, *labels)]
        owners = {point: owners[point] for point in points if point in owners}
        for point in points:
            owners.setdefault(point, (seat, len(owners) + 1))
        for label in labels:
            lanes.setdefault(_point(label), _free_lane(_point(label), lanes))
        yield list(_with_owners(drawing, owners, lanes))


def _free_lane(point: _Point, lanes: Mapping[_Point, int]) -> int:
    """Return the nearest lane along the board in which a label does not cover another."""
    along, across = (0, 1) if point[1] < 0 else (1, 0)
    same_side = (other for other in lanes if other[across] == point[across])
    taken = {lanes[other] for other in same_side if abs(other[along] - point[along]) < _LABEL_ROOM}
    return next(lane for lane in range(len(taken) + 1) if lane not in taken)


def _with_owners(
    drawing: Sequence[Shape], owners: Mapping[_Point, tuple[int | None, int]], lanes: Mapping[_Point, int]
) -> Iterator[tuple[Any, ...]]:
    numbers = {_point(shape): shape[4] for shape in drawing if shape[0] == "text" and shape[-1] == _NUMBER}
    owned = {point for point, (seat, _) in owners.items() if seat is not None}
    for shape in drawing:
        point = _point(shape)
        seat, order = owners.get(point, (None, 0))
        if shape[0] == "disc" and shape[-1] == _MARK and point in owned:
            yield "mark", *point, shape[3], seat, numbers.get(point, "") if numbers else str(order)
        elif shape[0] == "disc" and str(shape[-1]).startswith(_SEAT):
            yield "mark", *point, shape[3], int(str(shape[-1]).removeprefix(_SEAT)), numbers.get(point, "")
        elif shape[-1] == _LABEL and point in owned:
            _, _, _, size, label, style = shape
            yield "text", *_beyond(point, 1.4 * lanes[point]), size, label, style
            yield "mark", *_beyond(point, 1.4 * lanes[point] + 0.65), 0.3, seat, str(order)
        elif not (shape[0] == "text" and shape[-1] == _NUMBER and point in owned):
            yield tuple(shape)


def _point(shape: Sequence[Any]) -> _Point:
    return shape[1], shape[2]


def _beyond(point: _Point, distance: float) -> _Point:
    x, y = point
    return (x, round(y - distance, 3)) if y < 0 else (round(x - distance, 3), y)


def frames_of(drawings: Iterable[Sequence[Any]]) -> tuple[list[Any], list[list[list[int]]]]:
    """Return all shapes that occur, and for each drawing the numbers of those that appear and of those that vanish."""
    numbers: dict[Any, int] = {}
    frames = []
    before: dict[Any, None] = {}
    for shapes in drawings:
        current = dict.fromkeys(tuple(shape) for shape in shapes)
        for shape in current:
            numbers.setdefault(shape, len(numbers))
        appearing = [numbers[shape] for shape in current if shape not in before]
        disappearing = [numbers[shape] for shape in before if shape not in current]
        frames.append([appearing, disappearing])
        before = current
    return list(numbers), frames


def board_box(shapes: Sequence[Any], width: float, height: float) -> list[float]:
    """Return the view box of all shapes of a match: left, top, width and height; y counts downwards."""
    xs = [x for shape in shapes for x in _corners(shape)[::2]]
    ys = [y for shape in shapes for y in _corners(shape)[1::2]]
    left, right = min((*xs, 0.0)) - 0.45, max((*xs, width)) + 0.2
    bottom, top = min((*ys, 0.0)) - 0.45, max((*ys, height)) + 0.2
    return [round(value, 2) for value in (left, height - top, right - left, top - bottom)]


def is_text_board(shapes: Sequence[Any]) -> bool:
    """Return whether a drawing is only lines of text."""
    return all(shape[0] == "text" for shape in shapes)


def action_text(game: Game[Any], action: Any) -> str:
    """Return an action as text, whatever the rules make of it; "out" where a seat was taken out of the match."""
    if action is None:
        return "out"
    try:
        return str(game.format_action(action))[:MAX_ACTION_CHARACTERS]
    except GameError:
        return json.dumps(action)[:MAX_ACTION_CHARACTERS]


def _corners(shape: Sequence[Any]) -> Sequence[Any]:
    return shape[1:-1] if shape[0] == "polygon" else shape[1:3]


def outline_of(action: Any, new: Sequence[Any], shapes: Sequence[Any]) -> Sequence[Any] | None:
    """Return the shape that shows where the last action was, of those that appeared after it; None without one."""
    square = as_square(action)
    boards = (shape for shape in shapes if shape[0] == "rect" and shape[-1] == _BOARD)
    if square is not None and any(0 < square[0] - x <= w and 0 < square[1] - y <= h for _, x, y, w, h, _ in boards):
        return "rect", round(square[0] - 0.97, 2), round(square[1] - 0.97, 2), 0.94, 0.94, "last"
    for kind, *values in new:
        if kind == "mark":
            x, y, radius, *_ = values
            return "disc", x, y, round(1.25 * radius, 3), "last"
        if kind in ("line", "polygon") and values[-1] != _BOARD:
            return kind, *values[:-1], "last"
    return None


# Where on the board an action would be: the square, or what would appear if it were played.

MAX_SHAPES = 100_000
"""To draw for actions that are not squares: a limit of work, not of time, so that pages do not depend on speed."""

STRIP = 0.1
"""The width of the strip that stands for a line, in squares."""


def action_targets(game: Game[Any], state: Any, actions: Sequence[Any]) -> list[tuple[Any, ...] | None]:
    """Return for each action the shape on the board that stands for it, None without one; GameError if rules fail."""
    before = checked_drawing(game, state)
    before_shapes, drawn = set(before.shapes), 0
    targets = list[tuple[Any, ...] | None]()
    for action in actions:
        target = outline_of(action, (), before.shapes)
        if target is None and drawn < MAX_SHAPES:
            after = checked_drawing(game, game.apply(state, action))
            drawn += len(after.shapes)
            target = _target_among([shape for shape in after.shapes if shape not in before_shapes], before)
        targets.append(tuple(target) if target is not None else None)
    return targets


def _target_among(new: Sequence[Sequence[Any]], before: Drawing) -> Sequence[Any] | None:
    """Return the shape that stands for an action after which some shapes have appeared."""
    for kind, *values in new:
        style = values[-1]
        if kind == "disc" or (kind in ("line", "polygon") and style != "board"):
            return kind, *values
        if kind == "text" and style == "label":
            x, y = values[:2]
            if y < 0:
                return "rect", x - STRIP / 2, 0, STRIP, before.height, style
            if x < 0:
                return "rect", 0, y - STRIP / 2, before.width, STRIP, style
    return None


# Which matches of a tournament its report can replay: those that a reader looks for first.


class _Candidate(NamedTuple):
    match: int
    pairing: frozenset[str]
    has_fault: bool


class MatchChoice:
    """Collects the matches of a tournament, and orders them by how much a reader wants to see them."""

    def __init__(self) -> None:
        self._candidates: list[_Candidate] = []

    def add(self, record: MatchRecord) -> None:
        """Add a match, in the order of the schedule."""
        self._candidates.append(_Candidate(record.match, frozenset(record.bots), bool(record.faults)))

    def ordered(self) -> list[int]:
        """Return the numbers of all matches: the last of each pairing, those with faults, then the latest."""
        last = {candidate.pairing: candidate.match for candidate in self._candidates}

        def key(candidate: _Candidate) -> tuple[bool, bool, int]:
            is_last = last[candidate.pairing] == candidate.match
            return not is_last, not candidate.has_fault, -candidate.match

        return [candidate.match for candidate in sorted(self._candidates, key=key)]

    def first_to_open(self, best: Iterable[str]) -> int | None:
        """Return the last match of the two best bots, or the last of all; None without a match."""
        top = set(list(best)[:2])
        return next(
            (candidate.match for candidate in reversed(self._candidates) if top <= candidate.pairing),
            self._candidates[-1].match if self._candidates else None,
        )
