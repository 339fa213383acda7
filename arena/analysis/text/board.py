"""Boards as SVG without a style sheet, for notebooks and single files.

Lines and text have the colour of the text around the board, and seats have colours that are as visible on white as on
black. Marks of different seats differ in shape as well.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_CENTRED = 'dominant-baseline="central" text-anchor="middle" font-family="system-ui, \'DejaVu Sans\', sans-serif"'
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
        drawn = "".join(_drawn(shape, self.height, self.is_text) for shape in ordered)
        _, _, width, height = self.box
        scale = width_pixels / max(width, height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(map(str, self.box))}"'
            f' width="{scale * width:.0f}" height="{scale * height:.0f}" role="img" aria-label="{text(label)}"'
            f' style="max-width:100%;height:auto">{drawn}</svg>'
        )


def element(shape: Sequence[Any], height: float, attributes: str) -> str:
    """Return a shape as an SVG element on a board of this height; ``attributes`` are for its style.

    Its texts are escaped here. Marks are drawn by others.
    """
    kind, *values, _ = shape
    if kind == "rect":
        x, y, width, tall = values
        box = f'x="{coordinate(x)}" y="{coordinate(height - y - tall)}"'
        return f'<rect {box} width="{coordinate(width)}" height="{coordinate(tall)}" {attributes}/>'
    if kind == "text":
        x, y, size, content = values
        place = f'x="{coordinate(x)}" y="{coordinate(height - y)}" font-size="{coordinate(size)}"'
        return f"<text {place} {attributes}>{text(content)}</text>"
    if kind == "disc":
        x, y, radius = values
        return f'<circle cx="{coordinate(x)}" cy="{coordinate(height - y)}" r="{coordinate(radius)}" {attributes}/>'
    ends = [(coordinate(across), coordinate(height - up)) for across, up in zip(values[::2], values[1::2], strict=True)]
    if kind == "line":
        (x1, y1), (x2, y2) = ends
        return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {attributes}/>'
    return f'<polygon points="{" ".join(map(",".join, ends))}" {attributes}/>'


def coordinate(value: float) -> str:
    """Return a coordinate in thousandths of a square, as short as it can be."""
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")


def _drawn(shape: Sequence[Any], height: float, is_text: bool) -> str:
    kind, *values = shape
    if kind == "mark":
        x, y, radius, seat, label = values
        size = radius * (1.15 if len(label) < 3 else 0.8)
        number = element(("text", x, y, size, label, ""), height, f'{_CENTRED} fill="#fff"') if label else ""
        return mark(x, height - y, radius, seat) + number
    if kind == "disc" and _seat_colour(values[-1]):
        x, y, radius, style = values
        return mark(x, height - y, radius, int(style[4:]))
    return element(shape, height, _attributes(kind, values[-1], is_text))


def _attributes(kind: str, style: str, is_text: bool) -> str:
    colour = _seat_colour(style)
    if kind == "disc":
        return f'fill="{NEUTRAL}"'
    if kind == "text":
        if is_text:
            return f'dominant-baseline="central" font-family="{_MONO}" fill="currentColor" style="white-space:pre"'
        faded = ' fill-opacity=".65"' if style == "label" else ""
        return f'{_CENTRED} fill="currentColor"{faded}'
    if kind == "line" and colour:
        return f'stroke="{colour}" stroke-width=".09"{_DASHES[int(style[4:]) % 2]}'
    if kind == "line":
        opacity, width = {"mark": (1, 0.06), "path": (0.5, 0.06)}.get(style, (0.25, 0.03))
        return f'stroke="currentColor" stroke-opacity="{opacity}" stroke-width="{width}"'
    if colour:
        return f'fill="{colour}" fill-opacity=".5" stroke="currentColor" stroke-width=".04"'
    return 'fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width=".04"'


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
