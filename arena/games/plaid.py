"""Plaid: cut a sheet with lines from edge to edge; every m-th rectangle is yours, and its diagonal is your score.

For two or more players.

1. The sheet is ``width`` by ``height`` grid units (suggested here: 60 by 60). The seats take turns, seat 0 first.
2. An action draws a line from edge to edge: ``["v", x]`` upright with 0 < x < width, or ``["h", y]`` level with
   0 < y < height. A line may not be drawn twice.
3. With v upright and h level lines there are (v + 1)(h + 1) rectangles. The match is over as soon as there are at least
   ``lines`` lines and the number of rectangles is divisible by the number of players; exactly ``lines`` lines may do.
4. So that a full sheet always ends the match, width times height must be divisible by ``players``; and ``lines`` can't
   be more than the (width - 1) + (height - 1) lines that exist.
5. The rectangles are numbered from 0 row by row, the top row first and each row from the left; rectangle i belongs to
   seat i mod ``players``. A seat scores the sum of the diagonals of its rectangles.
6. The highest score wins. Sums of square roots are compared exactly: a tie is a tie of the true sums. The score that is
   reported is the float nearest to the true sum.

Actions are listed as the upright lines from the left, then the level ones from the bottom.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any, ClassVar, NamedTuple

from arena.base.errors import IllegalActionError, OptionError
from arena.games import surds
from arena.games.drawing import Drawing, Shape
from arena.games.game import Game, IntOption, Option, Space, refuse_when_over
from arena.games.pie import PIE
from arena.games.squares import seat_letter

Line = tuple[str, int]
"""``("v", x)`` or ``("h", y)``."""

MAX_SIDE = 1000
"""The list of 2,000 legal actions takes 10 kB on the wire; finer sheets would only cost memory."""


class PlaidState(NamedTuple):
    """The positions of the upright and of the level lines, each ascending."""

    vertical: tuple[int, ...]
    horizontal: tuple[int, ...]


class Plaid(Game[PlaidState]):
    """The rules above."""

    name: ClassVar[str] = "plaid"
    summary: ClassVar[str] = "Draw lines across a sheet; every m-th rectangle scores its diagonal for you."
    OPTIONS: ClassVar[tuple[Option, ...]] = (
        IntOption("players", 2, 2, 64, "number of seats"),
        IntOption("width", 60, 1, MAX_SIDE, "width of the sheet in grid units"),
        IntOption("height", 60, 1, MAX_SIDE, "height of the sheet in grid units"),
        IntOption("lines", 12, 1, 2 * (MAX_SIDE - 1), "lines to draw before the match may end (rule 3)"),
        PIE,
    )
    action_format: ClassVar[str] = 'a line ["v", x] or ["h", y]; in text v12 for ["v", 12]'
    mine: ClassVar[str] = (
        "the lines are shared, the rectangles are not. Number them from 0 row by row, the top row first and each from"
        " the left: rectangle i is yours if i mod players is your seat, so each line deals all of them again. Your"
        " score is the sum of your diagonals."
    )

    width: int
    height: int

    def prepare(self) -> None:
        """Check that the match can always end (rule 4)."""
        self.width, self.height = self.options["width"], self.options["height"]
        if self.width * self.height % self.players:
            raise OptionError(
                "width",
                self.width,
                f"plaid needs width * height divisible by players; {self.width} * {self.height} is not"
                f" divisible by {self.players}",
            )
        max_lines = (self.width - 1) + (self.height - 1)
        if self.options["lines"] > max_lines:
            raise OptionError(
                "lines",
                self.options["lines"],
                f"a sheet of {self.width} by {self.height} has room for at most {max_lines} lines",
            )

    def initial_state(self) -> PlaidState:
        return PlaidState((), ())

    def seat_to_act(self, state: PlaidState) -> int | None:
        """Take turns from seat 0 (rule 1) to the end (rule 3)."""
        upright, level = len(state.vertical), len(state.horizontal)
        standing = upright + level
        if standing >= self.options["lines"] and (upright + 1) * (level + 1) % self.players == 0:
            return None
        return standing % self.players

    def legal_actions(self, state: PlaidState) -> Sequence[Any]:
        """Return the lines that are not drawn yet (rule 2)."""
        if self.seat_to_act(state) is None:
            return []
        upright, level = set(state.vertical), set(state.horizontal)
        actions = [("v", x) for x in range(1, self.width) if x not in upright]
        actions += [("h", y) for y in range(1, self.height) if y not in level]
        return actions

    def apply(self, state: PlaidState, action: Any) -> PlaidState:
        """Draw a line (rule 2)."""
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        if type(action) not in (tuple, list) or len(action) != 2:
            raise IllegalActionError(action, 'a line is a pair ["v", x] or ["h", y] (rule 2)')
        direction, place = action
        if type(direction) is not str or direction not in ("v", "h") or type(place) is not int:
            raise IllegalActionError(action, 'a line is ["v", x] or ["h", y] with an integer (rule 2)')
        side = self.width if direction == "v" else self.height
        if not 0 < place < side:
            raise IllegalActionError(action, f"a line lies strictly inside the sheet, from 1 to {side - 1} (rule 2)")
        standing = list(state.vertical if direction == "v" else state.horizontal)
        if place in standing:
            raise IllegalActionError(action, "this line is already drawn (rule 2)")
        insort(standing, place)
        if direction == "v":
            return PlaidState(tuple(standing), state.horizontal)
        return PlaidState(state.vertical, tuple(standing))

    def squared_diagonals(self, state: PlaidState) -> list[list[int]]:
        """Return, for each seat, the squares of the diagonals of its rectangles (rule 5)."""
        squared: list[list[int]] = [[] for _ in range(self.players)]
        squared_widths = [width * width for width in _gaps(state.vertical, self.width)]
        seat = 0
        for row_height in reversed(_gaps(state.horizontal, self.height)):
            squared_height = row_height * row_height
            for squared_width in squared_widths:
                squared[seat].append(squared_width + squared_height)
                seat = seat + 1 if seat + 1 < self.players else 0
        return squared

    def scores(self, state: PlaidState) -> tuple[float, ...]:
        """Return each seat's sum of diagonals as the nearest float (rule 6)."""
        return tuple(surds.float_sum_of_roots(squares) for squares in self.squared_diagonals(state))

    def ranks(self, state: PlaidState) -> tuple[int, ...]:
        """Rank the true sums (rule 6)."""
        return surds.ranks_of([surds.sum_of_roots(squares) for squares in self.squared_diagonals(state)])

    def observation(self, state: PlaidState) -> dict[str, Any]:
        """Return ``{"vertical": [x, …], "horizontal": [y, …]}``, both ascending."""
        return {"vertical": list(state.vertical), "horizontal": list(state.horizontal)}

    def state_from_observation(self, observation: Mapping[str, Any]) -> PlaidState:
        return PlaidState(tuple(observation["vertical"]), tuple(observation["horizontal"]))

    def parse_action(self, text: str) -> Any:
        direction, digits = text.strip()[:1].lower(), text.strip()[1:]
        if direction not in ("v", "h") or not (digits.isascii() and digits.isdigit() and len(digits) < 6):
            raise IllegalActionError(text, "a line is written like v12 or h7")
        return direction, int(digits)

    def format_action(self, action: Any) -> str:
        direction, place = action
        return f"{direction}{place}"

    def space(self) -> Space:
        """Return the lines as actions; as numbers 1 for each line that is drawn."""
        upright, level = range(1, self.width), range(1, self.height)

        def encode(state: PlaidState) -> list[float]:
            vertical, horizontal = set(state.vertical), set(state.horizontal)
            return [*(float(x in vertical) for x in upright), *(float(y in horizontal) for y in level)]

        actions = (*(("v", x) for x in upright), *(("h", y) for y in level))
        return Space(actions=actions, max_plies=len(actions), encode=encode)

    def drawing(self, state: PlaidState) -> Drawing:
        """Draw the sheet to scale: each rectangle in the colour of its seat, and the lines."""
        scale = 12.0 / max(self.width, self.height)
        columns = list(pairwise((0, *state.vertical, self.width)))
        rows = list(pairwise((0, *state.horizontal, self.height)))[::-1]
        corners = ((left, right, low, high) for low, high in rows for left, right in columns)
        shapes: list[Shape] = [
            (
                "rect",
                *(round(scale * value, 3) for value in (left, low, right - left, high - low)),
                f"seat{self.shown_seats[number % self.players]}",
            )
            for number, (left, right, low, high) in enumerate(corners)
        ]
        shapes += [("text", round(scale * x, 3), -0.4, 0.35, str(x), "label") for x in (0, *state.vertical, self.width)]
        shapes += [
            ("text", -0.5, round(scale * y, 3), 0.35, str(y), "label") for y in (0, *state.horizontal, self.height)
        ]
        return Drawing(scale * self.width, scale * self.height, tuple(shapes))

    def render(self, state: PlaidState) -> str:
        """Draw the sheet, not to scale: the seat of each rectangle, and the positions of the lines along the edges."""
        return self._sheet(state, list(map(str, self.shown_seats)), {}, None, margin=4)

    def render_after(self, state: PlaidState, actions: Sequence[tuple[int, Any]]) -> str:
        """Draw the sheet with the letters of seats in rectangles and at their lines; the last line is double."""
        letters = list(map(seat_letter, self.shown_seats))
        owners = {(action[0], action[1]): seat_letter(seat) for seat, action in actions if action is not None}
        last = actions[-1][1] if actions else None
        margin = len(f"[{self.height}{letters[-1]}]")
        return self._sheet(state, letters, owners, None if last is None else (last[0], last[1]), margin)

    def _sheet(
        self, state: PlaidState, seats: Sequence[str], owners: Mapping[Line, str], last: Line | None, margin: int
    ) -> str:
        """Draw the sheet; ``owners`` has texts by line, ``last`` is drawn double, ``margin`` is the width beside it."""
        min_width = 3 if 4 * (len(state.vertical) + 1) <= 72 else len(seats[-1])
        columns = [min(12, max(min_width, round(gap * 48 / self.width))) for gap in _gaps(state.vertical, self.width)]
        if sum(columns) + len(columns) > 72:
            columns = [min_width] * len(columns)
        upright: list[Line] = [("v", x) for x in (0, *state.vertical)]
        level: list[Line] = [("h", y) for y in (self.height, *reversed(state.horizontal), 0)]
        texts = {line: f"{line[1]}{owners.get(line, '')}" for line in (*upright, *level)}
        if last is not None:
            texts[last] = f"[{texts[last]}]"
        seat = cycle(seats)
        rows: list[str] = []
        for line in level:
            dash = "=" if line == last else "-"
            if rows:
                cells = zip(upright, columns, strict=True)
                row = "".join(f"{'#' if side == last else '|'}{next(seat).center(width)}" for side, width in cells)
                rows.append(f"{'':{margin}} {row}|")
            corners = zip(upright, columns, strict=True)
            border = "".join(f"{'#' if side == last else '+'}{dash * width}" for side, width in corners)
            rows.append(f"{texts[line]:>{margin}} {border}+")
        positions = " ".join(texts[line] for line in upright)
        return "\n".join([*rows, f"upright lines at {positions} {self.width}", "each rectangle shows its seat"])


def _gaps(places: tuple[int, ...], side: int) -> list[int]:
    """Return the distances between neighbouring lines, including the edges."""
    edges = (0, *places, side)
    return [right - left for left, right in pairwise(edges)]
