"""Checks of what people see of a position: its board on a terminal, and its shapes."""

from __future__ import annotations

from math import isfinite
from typing import Any

from arena.games.conformance.finding import MistakeError
from arena.games.conformance.position import Position
from arena.games.conformance.values import as_lists, shown
from arena.games.drawing import Drawing, shape_problem


def check_render(position: Position) -> None:
    """The drawings for a terminal are printable text."""
    calls, state = position.calls, position.state
    listed = [(seat, as_lists(action)) for seat, action in position.actions]
    drawn = {
        "render": calls("render", state),
        "render_after": calls("render_after", state, position.actions),
        "render_after, with the actions as lists,": calls("render_after", state, listed),
    }
    for method, text in drawn.items():
        if type(text) is not str:
            raise MistakeError(f"{method} returned {shown(text)}, of the type {type(text).__name__}; expected text")
        odd = next((character for character in text if not character.isprintable() and character != "\n"), None)
        if odd is not None:
            raise MistakeError(f"{method} returned text with the control character {odd!r}; expected lines of text")
    if len(set(drawn.values()) - {drawn["render"]}) > 1:
        raise MistakeError("render_after draws another board if the actions are lists, as they are in records")


def check_drawing(position: Position) -> None:
    """A drawing is a ``Drawing`` with a size, shapes as documented, and lines of text beside the board."""
    drawing = position.calls("drawing", position.state)
    if not isinstance(drawing, Drawing):
        raise MistakeError(f"drawing returned {shown(drawing)}; expected an arena.games.Drawing")
    if not (_are_numbers((drawing.width, drawing.height)) and drawing.width > 0 and drawing.height > 0):
        raise MistakeError(
            f"drawing has the width {shown(drawing.width)} and the height {shown(drawing.height)}; expected numbers"
            " above 0"
        )
    problem = next(filter(None, map(shape_problem, drawing.shapes)), None)
    if problem is not None:
        raise MistakeError(f"drawing: {problem}")
    notes = drawing.notes
    if not isinstance(notes, list | tuple) or not all(type(note) is str and note.isprintable() for note in notes):
        raise MistakeError(f"drawing has the notes {shown(notes)}; expected a tuple of lines of text")


def _are_numbers(values: Any) -> bool:
    return all(type(value) in (int, float) and isfinite(value) for value in values)
