"""The boards of a match: around one ply if it is too long or too large, as shapes that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.analysis.text.match_view import (
    board_box,
    checked_drawing,
    drawing_or_reason,
    frames_of,
    is_text_board,
    outline_of,
    owned_shapes,
)
from arena.base.errors import GameError
from arena.base.records import MatchRecord
from arena.games import Drawing, Game
from arena.site.matches.match_model import Board, Frame

MAX_POSITIONS = 1000
"""Of a page."""

MAX_COMING_SHAPES = 20_000
"""In all frames of a page."""

MAX_DRAWN_SHAPES = 300_000
"""To be drawn for a page; of a larger match, only the positions that are shown, without the owners of earlier marks."""

FEWER = 2
"""By which the number of positions is divided until their boards fit."""


class DrawnPositions(NamedTuple):
    """Some positions of a match, one after the other.

    Attributes:
        first: the ply of the first one.
        drawings: of each.
        board: what is drawn of all of them.
    """

    first: int
    drawings: Sequence[Drawing]
    board: Board


def drawn_positions(
    record: MatchRecord, game: Game[Any], states: Sequence[Any], wanted: int, most: int
) -> DrawnPositions:
    """Return the drawings of positions around a ply.

    Args:
        record: the match.
        game: its rules.
        states: before its first action and after each one.
        wanted: the ply.
        most: how many positions to draw; 0 for as many as a page can have.
    """
    most = most or MAX_POSITIONS
    try:
        shapes_each = len(checked_drawing(game, states[-1]).shapes)
    except GameError:  # too large, perhaps: earlier ones may take as long
        shapes_each = MAX_DRAWN_SHAPES + 1
    start = 0
    if shapes_each * len(states) > MAX_DRAWN_SHAPES:
        most = max(1, min(most, MAX_COMING_SHAPES // (shapes_each + 1)))
        start, end = _window(len(states), wanted, most)
        states = states[start:end]
    drawings = [drawing_or_reason(game, state) for state in states]
    seats = [seat for seat, _ in record.actions[start : start + len(states) - 1]]
    drawn = list(owned_shapes([drawing.shapes for drawing in drawings], seats))
    while True:
        first, end = _window(len(drawn), wanted - start, most)
        shapes, frames = frames_of(drawn[first:end])
        if most == 1 or sum(len(come) for come, _ in frames) <= MAX_COMING_SHAPES:
            break
        most = max(1, min(most, end - first) // FEWER)
    shown = drawings[first:end]
    return DrawnPositions(start + first, shown, _board_of(record, shown, shapes, frames, start + first))


def _window(count: int, wanted: int, most: int) -> tuple[int, int]:
    """Return the first of ``most`` numbers below ``count`` around a wanted one, and the number after the last."""
    first = min(max(0, wanted - most // 2), max(0, count - most))
    return first, min(count, first + most)


def _board_of(
    record: MatchRecord, drawings: Sequence[Drawing], shapes: list[Any], frames: list[list[list[int]]], first: int
) -> Board:
    height = max(drawing.height for drawing in drawings)
    left, top, width, tall = board_box(shapes, max(drawing.width for drawing in drawings), height)
    outlines = list[tuple[Any, ...] | None]()
    for ply, (come, _) in enumerate(frames, first):
        new = [shapes[number] for number in come] if ply > first else []
        outline = outline_of(record.actions[ply - 1][1], new, shapes) if ply else None
        outlines.append(tuple(outline) if outline else None)
    return Board(
        box=(left, top, width, tall),
        height=height,
        is_text=is_text_board(shapes),
        shapes=tuple(map(tuple, shapes)),
        frames=tuple(Frame(tuple(come), tuple(gone)) for come, gone in frames),
        outlines=tuple(outlines),
    )
