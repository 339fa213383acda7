"""A position of a match as SVG, and the scores and worths of all of them as charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup, escape

from arena.analysis.text.board import coordinate, element
from arena.analysis.text.match_view import DRAWING_ORDER, SEAT_SHAPES, SEAT_STYLES
from arena.analysis.text.tables import text
from arena.site.matches.games_model import LegalAction
from arena.site.matches.match_model import Board, Clock, Position, ViewedMatch
from arena.site.matches.playing_model import Place

# Boards and charts get their colours from the style sheet.

CHART_WIDTH, CHART_HEIGHT = 300, 60


def position_at(match: ViewedMatch, ply: int) -> Position:
    """Return the position at a ply, which is one of those shown."""
    return match.positions[ply - match.first_ply]


def clocks_at(match: ViewedMatch, ply: int) -> tuple[Clock, ...]:
    """Return the time of each seat at a ply."""
    clocks = list(match.clocks)
    for position in match.positions[1 : ply - match.first_ply + 1]:
        if position.seat is not None and position.clock is not None:
            clocks[position.seat] = position.clock
    return tuple(clocks)


def shapes_at(board: Board, index: int) -> list[Sequence[Any]]:
    """Return the shapes of a position, by its index among those shown, in the order they are drawn."""
    shown: dict[int, None] = {}
    for come, gone in board.frames[: index + 1]:
        shown = {number: None for number in (*shown, *come) if number not in gone}
    outline = board.outlines[index]
    shapes = sorted((board.shapes[number] for number in shown), key=lambda shape: DRAWING_ORDER[str(shape[0])])
    return [*shapes, outline] if outline else list(shapes)


def board_svg(match: ViewedMatch, ply: int, targets: Markup | None = None) -> Markup:
    """Return the board at one of the plies shown, with ``targets`` above it."""
    board = match.board
    if board is None:
        return Markup()
    annotation = position_at(match, ply).annotation
    better = [annotation.better] if annotation is not None and annotation.better is not None else []
    shapes = [*shapes_at(board, ply - match.first_ply), *better]
    drawn = "".join(_drawn(shapes, board.height, board.is_text))
    label = text(f"Board: {position_at(match, ply).said}")
    box = " ".join(map(coordinate, board.box))
    role = "group" if targets else "img"
    return Markup(
        f'<svg id="board" class="board" viewBox="{box}" role="{role}" aria-label="{label}">{drawn}{targets or ""}</svg>'
    )  # every text in it is escaped where it is written


def _drawn(shapes: Iterable[Sequence[Any]], height: float, is_text: bool) -> Iterator[str]:
    for kind, *values in shapes:
        if kind == "mark":
            yield _mark(height, *values)
        else:
            style = "mono" if kind == "text" and is_text else text(values[-1])
            yield element((kind, *values), height, f'class="{style}"')


def _mark(height: float, x: float, y: float, radius: float, seat: int, label: str) -> str:
    left, top, side = coordinate(x - radius), coordinate(height - y - radius), coordinate(2 * radius)
    box = f'x="{left}" y="{top}" width="{side}" height="{side}"'
    mark = f'<use href="#mark{seat % SEAT_SHAPES}" class="seat{seat % SEAT_STYLES}" {box}/>'
    size = radius * (1.15 if len(label) < 3 else 0.8)
    return mark + element(("text", x, y, size, label, "on"), height, 'class="on"') if label else mark


def seat_key(seat: int) -> Markup:
    """Return the mark of a seat, for beside its bot's name or action."""
    return Markup(
        f'<svg class="key seat{seat % SEAT_STYLES}" viewBox="0 0 20 20" aria-hidden="true">'
        f'<use href="#mark{seat % SEAT_SHAPES}" width="20" height="20"/></svg>'
    )


def scores_svg(match: ViewedMatch, ply: int) -> Markup:
    """Return the scores over the plies, a line for each seat; empty if there are none to draw."""
    rows = [position.scores for position in match.positions]
    if len(rows) < 2 or any(score is None for row in rows for score in row):
        return Markup()
    values = [[float(score or 0) for score in row] for row in rows]
    low, high = min(map(min, values)), max(map(max, values))
    lines = "".join(
        f'<polyline class="seat{seat % SEAT_STYLES}" points="'
        + " ".join(f"{across(k, len(values))},{down(row[seat], low, high)}" for k, row in enumerate(values))
        + '"/>'
        for seat in range(len(match.bots))
    )
    return _chart("scores", match, ply, "", lines)


def _chart(name: str, match: ViewedMatch, ply: int, below: str, above: str) -> Markup:
    """Return a chart over the plies; a cursor is at the one shown, between its two layers."""
    x = across(ply - match.first_ply, len(match.positions))
    return Markup(
        f'<svg id="{name}" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'{below}<line class="cursor" x1="{x}" x2="{x}" y1="0" y2="{CHART_HEIGHT}"/>{above}</svg>'
    )


def across(index: int, count: int) -> str:
    """Return where a chart has one of several positions, from the left."""
    return coordinate(CHART_WIDTH * index / max(1, count - 1))


def down(value: float, low: float, high: float) -> str:
    """Return where a chart has a value between two others, from its upper edge."""
    return coordinate(CHART_HEIGHT - 4 - (CHART_HEIGHT - 8) * (value - low) / ((high - low) or 1))


def seconds_text(seconds: float | None) -> str:
    """Return a time as the viewer shows it.

    >>> seconds_text(0.000034), seconds_text(0.0123), seconds_text(0.25), seconds_text(1.5), seconds_text(None)
    ('0.03 ms', '12.3 ms', '250 ms', '1.50 s', '')
    """
    if seconds is None:
        return ""
    if seconds >= 0.9995:
        return f"{seconds:.2f} s"
    thousandths = 1000 * seconds
    return f"{thousandths:.{0 if thousandths >= 100 else 1 if thousandths >= 10 else 2}f} ms"


def targets_svg(legal: Iterable[LegalAction], board: Board, address: Callable[[str], str]) -> Markup:
    """Return the places of actions on the board as links to ``address``; the list of actions has the same ones."""
    links = []
    for action in legal:
        if action.target is None or not action.actions:
            continue
        kind, *values = action.target
        shape = "".join(_drawn([(kind, *values[:-1], "target")], board.height, is_text=False))
        title = f"<title>{text(action.text)}</title>"
        links.append(f'<a href="{escape(address(action.actions))}" tabindex="-1">{title}{shape}</a>')
    return Markup(f'<g aria-hidden="true">{"".join(links)}</g>')


PLACE_UNITS = 100
"""Units of a button for the side of a square: browsers round sizes of text and lines to whole units."""


def places_svg(places: Iterable[Place], board: Board, hint: str = "") -> Markup:
    """Return the places of actions on the board as buttons of a form, and squares without an action as words.

    ``hint`` is the action whose place is marked.
    """
    drawn = "".join(_place(place, board.height, bool(hint) and place.action == hint) for place in places)
    return Markup(f'<g transform="scale({1 / PLACE_UNITS})">{drawn}</g>')


def _place(place: Place, height: float, is_hinted: bool) -> str:
    x, y, width, tall = place.box
    sides = (x, height - y - tall, width, tall)
    box = " ".join(
        f'{name}="{coordinate(PLACE_UNITS * side)}"'
        for name, side in zip(("x", "y", "width", "height"), sides, strict=True)
    )
    label = text(place.label)
    if place.action:
        button = f'<button class="place" name="action" value="{text(place.action)}" aria-label="{label}"></button>'
    else:
        kind = "place off" if place.refusal and place.is_empty else "place"
        title = f' title="{text(place.refusal)}"' if place.refusal else ""
        words = f'aria-label="{label}"{title}'
        button = f'<button class="{kind}" type="button" tabindex="-1" aria-disabled="true" {words}></button>'
    drawn = _above(place.preview, "preview", height) if place.preview is not None else ""
    if is_hinted:
        drawn += _above(place.preview or ("rect", *place.box, ""), "best", height)
    return f"<foreignObject {box}>{button}</foreignObject>{drawn}"


def _above(shape: Sequence[Any], style: str, height: float) -> str:
    """Return a shape above its place: what the action would be while a pointer is on it, or a hint."""
    kind, *values = shape
    drawn = "".join(_drawn([(kind, *values[:-1], style)], height, is_text=False))
    return f'<g transform="scale({PLACE_UNITS})" aria-hidden="true">{drawn}</g>'


# What the positions of a match are worth, as SVG: every action is a segment, so that a loss is a slope.

MARK_STYLES = {"?": " mistake", "??": " blunder"}
"""Of the segments of actions with a mark."""


def worths_svg(match: ViewedMatch, ply: int) -> Markup:
    """Return the margins with best play over the plies; empty unless two positions in a row are known exactly."""
    annotations = [position.annotation for position in match.positions]
    margins = [None if item is None else item.margin for item in annotations]
    known_margins = [margin for margin in margins if margin is not None]
    low, high = min(known_margins, default=0.0), max(known_margins, default=0.0)
    low, high, count = min(low, 0.0), max(high, 0.0), len(margins)
    segments = ""
    for index in range(1, count):
        before, after, annotation = margins[index - 1], margins[index], annotations[index]
        seat = match.positions[index].seat
        if before is None or after is None or annotation is None or seat is None:
            continue
        ends = f'x1="{across(index - 1, count)}" x2="{across(index, count)}"'
        heights = f'y1="{down(before, low, high)}" y2="{down(after, low, high)}"'
        segments += f'<line class="seat{seat % SEAT_STYLES}{MARK_STYLES.get(annotation.mark, "")}" {ends} {heights}/>'
    if not segments:
        return Markup()
    zero = down(0.0, low, high)
    axis = f'<line class="zero" x1="0" x2="{CHART_WIDTH}" y1="{zero}" y2="{zero}"/>'
    return _chart("worths", match, ply, axis, segments)
