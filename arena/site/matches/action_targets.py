"""Where on the board an action would be: the square, or what would appear if it were played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.analysis.text.match_view import checked_drawing, outline_of
from arena.games import Drawing, Game
from arena.site.matches.match_model import Shape

MAX_SHAPES = 100_000
"""Of the boards after actions that are not squares. A limit of work, for a page is the same however fast it is made."""

STRIP = 0.1
"""Half of the width of what stands for a line, in squares."""


def action_targets(game: Game[Any], state: Any, actions: Sequence[Any]) -> list[Shape | None]:
    """Return for each action the shape on the board that stands for it; None without one.

    Raises:
        GameError: if the rules are wrong.
    """
    before = checked_drawing(game, state)
    there, looked_at = set(before.shapes), 0
    targets = list[Shape | None]()
    for action in actions:
        target = outline_of(action, (), before.shapes)
        if target is None and looked_at < MAX_SHAPES:
            after = checked_drawing(game, game.apply(state, action))
            looked_at += len(after.shapes)
            target = _what_appears([shape for shape in after.shapes if shape not in there], before)
        targets.append(tuple(target) if target is not None else None)
    return targets


def _what_appears(new: Sequence[Sequence[Any]], before: Drawing) -> Sequence[Any] | None:
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
