"""The game of the Amazons, for tests of what meets a game with thousands of actions.

1. Each seat has four amazons on a board of ``size`` by ``size`` squares, in the usual places of the board of 10 by 10.
2. A turn is one action: an amazon moves like a queen in chess, and then shoots an arrow like a queen from where it
   stands. The arrow's square is closed for the rest of the match. Neither passes over amazons or arrows.
3. The seat that can't move has lost: it scores 0, and the other one 1.

Actions are ``[from x, from y, to x, to y, arrow x, arrow y]``.
"""

from collections.abc import Iterator
from typing import NamedTuple

from arena.base.errors import IllegalActionError
from arena.games import Game, IntOption, refuse_when_over
from arena.games.squares import draw_grid

DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


class AmazonsState(NamedTuple):
    """The amazons of each seat and the arrows, as squares (x, y), sorted; and whose turn it is."""

    amazons: tuple[tuple[tuple[int, int], ...], ...]
    arrows: tuple[tuple[int, int], ...]
    seat: int


class Amazons(Game):
    name = "amazons"
    summary = "Move like a queen, shoot like a queen; who can't move has lost."
    OPTIONS = (IntOption("size", 10, 10, 20, "rows and columns"),)
    action_format = "[from x, from y, to x, to y, arrow x, arrow y]"

    def initial_state(self):
        far, low, high = self.options["size"], 4, self.options["size"] - 3
        white = ((1, low), (low, 1), (high, 1), (far, low))
        black = ((1, high), (low, far), (high, far), (far, high))
        return AmazonsState((tuple(sorted(white)), tuple(sorted(black))), (), 0)

    def _reach(self, square, closed) -> Iterator[tuple[int, int]]:
        size = self.options["size"]
        for dx, dy in DIRECTIONS:
            x, y = square[0] + dx, square[1] + dy
            while 1 <= x <= size and 1 <= y <= size and (x, y) not in closed:
                yield x, y
                x, y = x + dx, y + dy

    def _actions(self, state) -> Iterator[tuple[int, ...]]:
        closed = {*state.amazons[0], *state.amazons[1], *state.arrows}
        for start in state.amazons[state.seat]:
            for target in self._reach(start, closed):
                for arrow in self._reach(target, closed - {start}):
                    yield (*start, *target, *arrow)

    def seat_to_act(self, state):
        return state.seat if next(self._actions(state), None) is not None else None

    def legal_actions(self, state):
        return list(self._actions(state))

    def apply(self, state, action):
        if self.seat_to_act(state) is None:
            raise refuse_when_over(action)
        numbers = isinstance(action, list | tuple) and len(action) == 6 and all(type(part) is int for part in action)
        if not numbers:
            raise IllegalActionError(action, "expected six integers (rule 2)")
        start, target, arrow = (tuple(action[k : k + 2]) for k in (0, 2, 4))
        closed = {*state.amazons[0], *state.amazons[1], *state.arrows}
        if start not in state.amazons[state.seat] or target not in self._reach(start, closed):
            raise IllegalActionError(action, "no amazon of this seat moves like that (rule 2)")
        if arrow not in self._reach(target, closed - {start}):
            raise IllegalActionError(action, "no arrow flies like that (rule 2)")
        mine = tuple(sorted({*state.amazons[state.seat]} - {start} | {target}))
        amazons = (mine, state.amazons[1]) if state.seat == 0 else (state.amazons[0], mine)
        return AmazonsState(amazons, tuple(sorted((*state.arrows, arrow))), 1 - state.seat)

    def scores(self, state):
        if self.seat_to_act(state) is not None:
            return (0, 0)
        return (0, 1) if state.seat == 0 else (1, 0)

    def observation(self, state):
        return state._asdict()

    def state_from_observation(self, observation):
        squares = [tuple(map(tuple, part)) for part in (*observation["amazons"], observation["arrows"])]
        return AmazonsState((squares[0], squares[1]), squares[2], observation["seat"])

    def parse_action(self, text):
        try:
            return tuple(int(part) for part in text.split())
        except ValueError as error:
            raise IllegalActionError(text, "expected six numbers") from error

    def format_action(self, action):
        return " ".join(map(str, action))

    def render(self, state):
        cells = [["."] * self.options["size"] for _ in range(self.options["size"])]
        for letter, squares in zip("ABx", (*state.amazons, state.arrows), strict=True):
            for x, y in squares:
                cells[y - 1][x - 1] = letter
        return draw_grid(cells)
