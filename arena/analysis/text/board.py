"""Boards as SVG without a style sheet, for notebooks and single files.

Lines and text have the colour of the text around the board, and seats have colours that are as visible on white as on
black. Marks of different seats differ in shape as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.analysis.text.match_view import DRAWING_ORDER, SEAT_SHAPES, board_box, checked_drawing, is_text_board
from arena.analysis.text.tables import lines_of_text, text
from arena.games import Game

SEAT_COLOURS = ("#25866d", "#c2572d", "#5970d5", "#917408", "#b551a6", "#2b7eab", "#6f7e30", "#73777f")
"""By seat; each has a contrast of at least 4.2 to white and to #111."""

NEUTRAL = "#73777f"

WIDTH_PIXELS = 320

_DASHES = ("", ' stroke-dasharray=".22 .12"')
_FONT = "system-ui, 'DejaVu Sans', sans-serif"
_INK = 'fill="currentColor"'
_MONO = "ui-monospace, 'DejaVu Sans Mono', monospace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """What all shapes of a drawing have in common.

    Attributes:
        box: the visible part: left, top, width and height, downwards.
        height: the height of the board; shapes count upwards from its lower edge.
        is_text: whether the drawing is only lines of text.
    """

    box: Sequence[float]
    height: float
    is_text: bool

    def svg(self, shapes: Sequence[Sequence[Any]], label: str, width_pixels: int = WIDTH_PIXELS) -> str:
        """Return shapes (as a game or ``match_view`` has them) as an ``svg`` element; screen readers read the label."""
        ordered = sorted(shapes, key=lambda shape: DRAWING_ORDER[shape[0]])
        drawn = "".join(_SHAPES[kind](self, *rest) for kind, *rest in ordered)
        _, _, width, height = self.box
        scale = width_pixels / max(width, height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(map(str, self.box))}"'
            f' width="{scale * width:.0f}" height="{scale * height:.0f}" role="img" aria-label="{text(label)}"'
            f' style="max-width:100%;height:auto">{drawn}</svg>'
        )


def _rect(canvas: Canvas, x: float, y: float, width: float, height: float, style: str) -> str:
    return f'<rect x="{x}" y="{canvas.height - y - height}" width="{width}" height="{height}" {_area(style)}/>'


def _area(style: str) -> str:
    colour = _seat_colour(style)
    if colour:
        return f'fill="{colour}" fill-opacity=".5" stroke="currentColor" stroke-width=".04"'
    return 'fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width=".04"'


def _polygon(canvas: Canvas, *corners_and_style: Any) -> str:
    *corners, style = corners_and_style
    pairs = zip(corners[::2], corners[1::2], strict=True)
    points = " ".join(f"{x},{round(canvas.height - y, 3)}" for x, y in pairs)
    return f'<polygon points="{points}" {_area(style)}/>'


def _line(canvas: Canvas, x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    element = f'<line x1="{x1}" y1="{canvas.height - y1}" x2="{x2}" y2="{canvas.height - y2}"'
    colour = _seat_colour(style)
    if colour:
        return f'{element} stroke="{colour}" stroke-width=".09"{_DASHES[int(style[4:]) % 2]}/>'
    opacity, width = {"mark": (1, 0.06), "path": (0.5, 0.06)}.get(style, (0.25, 0.03))
    return f'{element} stroke="currentColor" stroke-opacity="{opacity}" stroke-width="{width}"/>'


def _disc(canvas: Canvas, x: float, y: float, radius: float, style: str) -> str:
    if _seat_colour(style):
        return mark(x, canvas.height - y, radius, int(style[4:]))
    return f'<circle cx="{x}" cy="{canvas.height - y}" r="{radius}" fill="{NEUTRAL}"/>'


def _text(canvas: Canvas, x: float, y: float, size: float, content: str, style: str) -> str:
    element = f'<text x="{x}" y="{canvas.height - y}" font-size="{size}" dominant-baseline="central"'
    if canvas.is_text:
        return f'{element} font-family="{_MONO}" fill="currentColor" style="white-space:pre">{text(content)}</text>'
    fill = {"number": 'fill="#fff"', "label": 'fill="currentColor" fill-opacity=".65"'}.get(style, _INK)
    return f'{element} text-anchor="middle" font-family="{_FONT}" {fill}>{text(content)}</text>'


def _mark(canvas: Canvas, x: float, y: float, radius: float, seat: int, label: str) -> str:
    size = round(radius * (1.15 if len(label) < 3 else 0.8), 3)
    number = _text(canvas, x, y, size, label, "number") if label else ""
    return mark(x, canvas.height - y, radius, seat) + number


_SHAPES: Mapping[str, Callable[..., str]] = {
    "rect": _rect,
    "polygon": _polygon,
    "line": _line,
    "disc": _disc,
    "mark": _mark,
    "text": _text,
}


def mark(x: float, y: float, radius: float, seat: int) -> str:
    """Return the mark of a seat around a point, whose y counts downwards."""
    colour = SEAT_COLOURS[seat % len(SEAT_COLOURS)]
    fill, corners = f'fill="{colour}"', _CORNERS[seat % SEAT_SHAPES]
    if not corners:
        return f'<circle cx="{x}" cy="{y}" r="{radius}" {fill}/>'
    points = " ".join(f"{round(x + radius * dx, 3)},{round(y + radius * dy, 3)}" for dx, dy in corners)
    return f'<polygon points="{points}" {fill}/>'


_CORNERS: tuple[Sequence[tuple[float, float]], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.12), (1.12, 0), (0, 1.12), (-1.12, 0)),
    ((-0.5, -0.92), (0.5, -0.92), (1, 0), (0.5, 0.92), (-0.5, 0.92), (-1, 0)),
)
"""The corners of each seat's mark, for a radius of 1; none for a disc."""


def _seat_colour(style: str) -> str | None:
    """Return the colour of a style such as ``seat1``; None for a style of the board."""
    return SEAT_COLOURS[int(style[4:]) % len(SEAT_COLOURS)] if style.startswith("seat") else None


@dataclass(frozen=True, slots=True)
class Board:
    """A state of a game, drawn; notebooks show it. ``width_pixels`` is the longer side."""

    game: Game[Any]
    state: Any
    width_pixels: int = WIDTH_PIXELS

    def svg(self) -> str:
        """Return the drawing as an SVG file that is visible on light and on dark paper."""
        return self._svg().replace("<svg ", f'<svg color="{NEUTRAL}" ', 1)

    def _svg(self) -> str:
        drawing = checked_drawing(self.game, self.state)
        box = board_box(drawing.shapes, drawing.width, drawing.height)
        canvas = Canvas(box=box, height=drawing.height, is_text=is_text_board(drawing.shapes))
        return canvas.svg(drawing.shapes, f"{self.game.name}: board", self.width_pixels)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        notes = checked_drawing(self.game, self.state).notes
        below = f'<pre style="white-space:pre-wrap">{lines_of_text(chr(10).join(notes))}</pre>' if notes else ""
        return f"<div>{self._svg()}{below}</div>"

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        printer.text(self.game.render(self.state))
