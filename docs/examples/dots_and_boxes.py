"""Dots and Boxes: draw the lines between dots; who draws the fourth line of a box owns it and acts again.

The game is Édouard Lucas's (1889). For two or more players.

1. The sheet has ``columns`` by ``rows`` boxes with dots at their corners (suggested: 5 by 5; 1 to 30 are accepted for
   each). The dot ``[x, y]`` is the x-th from the left and the y-th from the bottom.
2. The seats take turns, seat 0 first. An action draws a line that is not there yet: ``["h", x, y]`` from the dot
   ``[x, y]`` to its right neighbour, or ``["v", x, y]`` to the one above it.
3. A seat that draws the last missing line of a box, or of two boxes, owns them and acts again. Otherwise it is the next
   seat's turn.
4. The match is over when all lines are drawn. Each seat scores one for each of its boxes.

Actions are listed as the level lines, then the upright ones, each by column from the left, then by row from the bottom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from arena.games import (
    Drawing,
    Game,
    IllegalActionError,
    IntOption,
    Option,
    Space,
    all_squares,
    format_square,
    one_hot,
    parse_square,
    refuse_when_over,
    seat_letter,
)

Line = tuple[str, int, int]


class DotsAndBoxesState(NamedTuple):
    """The lines drawn, the boxes won, each as (x, y, seat) of its lower left dot, both sorted; and the seat to act."""

    lines: tuple[Line, ...]
    boxes: tuple[tuple[int, int, int], ...]
    seat: int


def lines_of_box(x: int, y: int) -> set[Line]:
    """Return the four lines around the box whose lower left dot is ``[x, y]``."""
    return {("h", x, y), ("h", x, y + 1), ("v", x, y), ("v", x + 1, y)}


class DotsAndBoxes(Game[DotsAndBoxesState]):
    """The rules above."""

    name: ClassVar[str] = "dots_and_boxes"
    summary: ClassVar[str] = "Draw lines between dots; the fourth line of a box wins it, and another turn."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, 8, "number of seats"),
        IntOption("columns", 5, 1, 30, "boxes from left to right"),
        IntOption("rows", 5, 1, 30, "boxes from the bottom to the top"),
    )
    action_format: ClassVar[str] = 'a line ["h", x, y] or ["v", x, y]; in text hc4 for ["h", 3, 4]'
    mine: ClassVar[str] = "the boxes [x, y, seat] with your seat; the lines belong to nobody."

    columns: int
    rows: int
    lines: tuple[Line, ...]

    def prepare(self) -> None:
        """List the lines of the sheet (rules 1 and 2)."""
        self.columns, self.rows = self.options["columns"], self.options["rows"]
        level = (("h", x, y) for x, y in all_squares(self.columns, self.rows + 1))
        upright = (("v", x, y) for x, y in all_squares(self.columns + 1, self.rows))
        self.lines = (*level, *upright)

    def initial_state(self) -> DotsAndBoxesState:
        """Return the sheet without lines."""
        return DotsAndBoxesState((), (), 0)

    def seat_to_act(self, state: DotsAndBoxesState) -> int | None:
        """Take turns (rules 2 and 3) until all lines are drawn (rule 4)."""
        return state.seat if len(state.lines) < len(self.lines) else None

    def legal_actions(self, state: DotsAndBoxesState) -> Sequence[Any]:
        """Return the lines that are not drawn yet (rule 2)."""
        drawn = set(state.lines)
        return [line for line in self.lines if line not in drawn]

    def apply(self, state: DotsAndBoxesState, action: Any) -> DotsAndBoxesState:
        """Draw a line (rule 2), and win the boxes that it closes (rule 3)."""
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        line = self._line(action)
        if line in state.lines:
            raise IllegalActionError(action, "this line is already drawn (rule 2)")
        drawn = {*state.lines, line}
        _, x, y = line
        beside = [(x, y), (x, y - 1) if line[0] == "h" else (x - 1, y)]
        closed = [(*box, state.seat) for box in beside if lines_of_box(*box) <= drawn]
        seat = state.seat if closed else (state.seat + 1) % self.players
        return DotsAndBoxesState(tuple(sorted(drawn)), tuple(sorted([*state.boxes, *closed])), seat)

    def _line(self, action: Any) -> Line:
        """Return an action as a line of the sheet (rule 2)."""
        if type(action) not in (tuple, list) or [type(part) for part in action] != [str, int, int]:
            raise IllegalActionError(action, 'a line is ["h", x, y] or ["v", x, y] with integers (rule 2)')
        direction, x, y = action
        last_x = self.columns + (direction == "v")
        last_y = self.rows + (direction == "h")
        if direction not in ("h", "v") or not (1 <= x <= last_x and 1 <= y <= last_y):
            raise IllegalActionError(action, f"not on the sheet of {self.columns} by {self.rows} boxes (rule 2)")
        return direction, x, y

    def scores(self, state: DotsAndBoxesState) -> tuple[int, ...]:
        """Count the boxes of each seat (rule 4)."""
        owners = [seat for _, _, seat in state.boxes]
        return tuple(owners.count(seat) for seat in range(self.players))

    def observation(self, state: DotsAndBoxesState) -> dict[str, Any]:
        """Return ``{"lines": [["h", x, y], …], "boxes": [[x, y, seat], …], "seat": whose turn it is}``."""
        return {
            "lines": [list(line) for line in state.lines],
            "boxes": [list(box) for box in state.boxes],
            "seat": state.seat,
        }

    def state_from_observation(self, observation: Mapping[str, Any]) -> DotsAndBoxesState:
        """Rebuild the state."""
        lines = tuple((direction, x, y) for direction, x, y in observation["lines"])
        boxes = tuple((x, y, seat) for x, y, seat in observation["boxes"])
        return DotsAndBoxesState(lines, boxes, observation["seat"])

    def space(self) -> Space:
        """Return the lines as actions; as numbers which are drawn, and who owns which box."""
        boxes = all_squares(self.columns, self.rows)

        def encode(state: DotsAndBoxesState) -> list[float]:
            drawn = set(state.lines)
            owners = {(x, y): seat for x, y, seat in state.boxes}
            return [
                *(float(line in drawn) for line in self.lines),
                *one_hot(map(owners.get, boxes), range(self.players)),
            ]

        return Space(actions=self.lines, max_plies=len(self.lines), encode=encode)

    def parse_action(self, text: str) -> Any:
        """Read a line such as ``hc4``."""
        direction, dot = text.strip()[:1].lower(), text.strip()[1:]
        if direction not in ("h", "v"):
            raise IllegalActionError(text, "a line is written like hc4 or vc4: level or upright, from the dot c4")
        return direction, *parse_square(dot)

    def format_action(self, action: Any) -> str:
        """Return the text of a line."""
        direction, x, y = action
        return f"{direction}{format_square((x, y))}"

    def render(self, state: DotsAndBoxesState) -> str:
        """Draw the lines, and the letters of the owners in their boxes."""
        return self._text(state, None)

    def render_after(self, state: DotsAndBoxesState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the sheet with the last line double."""
        return self._text(state, tuple(actions[-1][1]) if actions else None)

    def _text(self, state: DotsAndBoxesState, last: Any) -> str:
        signs = dict.fromkeys(state.lines, "-|") | {last: "=#"}
        letters = {(x, y): seat_letter(seat) for x, y, seat in state.boxes}
        columns = range(1, self.columns + 1)
        rows = []
        for y in range(self.rows + 1, 0, -1):
            level = (3 * signs.get(("h", x, y), " ")[0] for x in columns)
            rows.append(f"{y:>2} +{'+'.join(level)}+")
            upright = (signs.get(("v", x, y - 1), "  ")[1] for x in (*columns, self.columns + 1))
            owners = (f" {letters.get((x, y - 1), ' ')} " for x in (*columns, 0))
            rows.append("   " + "".join(line + owner for line, owner in zip(upright, owners, strict=True)))
        names = (format_square((x, 1))[:-1] for x in (*columns, self.columns + 1))
        rows[-1] = "   " + "".join(f"{name:<4}" for name in names)
        return "\n".join(row.rstrip() for row in rows)

    def drawing(self, state: DotsAndBoxesState) -> Drawing:
        """Draw the dots, the lines, and the boxes in the colours of their owners."""
        shapes: list[Any] = [("rect", x - 1, y - 1, 1, 1, f"seat{seat}") for x, y, seat in state.boxes]
        for direction, x, y in state.lines:
            end = (x, y - 1) if direction == "h" else (x - 1, y)
            shapes.append(("line", x - 1, y - 1, *end, "mark"))
        dots = all_squares(self.columns + 1, self.rows + 1)
        shapes += [("disc", x - 1, y - 1, 0.09, "mark") for x, y in dots]
        names = [(x, format_square((x, 1))[:-1]) for x in range(1, self.columns + 2)]
        shapes += [("text", x - 1, -0.45, 0.3, name, "label") for x, name in names]
        shapes += [("text", -0.45, y - 1, 0.3, str(y), "label") for y in range(1, self.rows + 2)]
        return Drawing(self.columns, self.rows, tuple(shapes))
