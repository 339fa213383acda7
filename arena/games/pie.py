"""The pie rule, a variation of this arena for two players that makes a game fairer.

With ``pie = k`` (1 to 3) seat 0 makes the first k actions, no matter whose turn it is by the rules. Then seat 1 answers
``"keep"`` or ``"swap"``: after ``"swap"`` each seat plays the other one's part of the rules, and has its score. It
answers as well if the match is over before there are k actions, or with them. From there the rules go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar

from arena.base.errors import IllegalActionError, OptionError
from arena.games.drawing import Drawing
from arena.games.game import Game, RuleAround, Space, made_again

KEEP, SWAP = CHOICES = ("keep", "swap")

T = TypeVar("T")


class PieState(NamedTuple):
    """How many first actions are left, the answer (empty before it), and the state by the game's own rules."""

    left: int
    choice: str
    state: Any

    @property
    def is_choosing(self) -> bool:
        """Whether seat 1 is to answer."""
        return not self.left and not self.choice


class Pie(Game[PieState]):
    """A game with the pie rule; each has a class of its own, made by ``with_pie``."""

    kind: ClassVar[type[Game[Any]]]

    def __new__(cls, /, **_given: Any) -> Any:
        return object.__new__(cls)

    def prepare(self) -> None:
        """Make the game without the rule, and once more with the names of its seats swapped, to be drawn."""
        given = dict(self.options)
        pie = given.pop("pie")
        if self.players != 2:
            raise OptionError("pie", pie, f"the pie rule is for two players, and players = {self.players}; expected 0")
        self.rules = self.kind(**given)
        self._swapped = self.kind(**given)
        self._swapped.shown_seats = (1, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (self.kind, self.options)

    def initial_state(self) -> PieState:
        return PieState(self.options["pie"], "", self.rules.initial_state())

    def seat_to_act(self, state: PieState) -> int | None:
        if not state.choice:
            return 0 if state.left else 1
        part = self.rules.seat_to_act(state.state)
        return None if part is None else self.seat_of(part, state)

    def seat_of(self, part: int, state: PieState) -> int:
        """Return the seat that plays a part of the rules; a seat plays that part of the same number, too."""
        return 1 - part if state.choice == SWAP else part

    def legal_actions(self, state: PieState) -> Sequence[Any]:
        return CHOICES if state.is_choosing else self.rules.legal_actions(state.state)

    def apply(self, state: PieState, action: Any) -> PieState:
        if state.is_choosing:
            if type(action) is not str or action not in CHOICES:
                raise IllegalActionError(action, 'seat 1 chooses its part now; expected "keep" or "swap" (pie rule)')
            return state._replace(choice=action)
        after = self.rules.apply(state.state, action)
        left = 0 if self.rules.is_over(after) else max(0, state.left - 1)
        return PieState(left, state.choice, after)

    def scores(self, state: PieState) -> tuple[int | float, ...]:
        return self._by_seat(self.rules.scores(state.state), state)

    def ranks(self, state: PieState) -> tuple[int, ...]:
        return self._by_seat(self.rules.ranks(state.state), state)

    def _by_seat(self, values: Sequence[T], state: PieState) -> tuple[T, ...]:
        return tuple(values[::-1] if state.choice == SWAP else values)

    def score_bounds(self, state: PieState) -> Sequence[tuple[int | float, int | float]] | None:
        """Let each seat get either part before the answer."""
        bounds = self.rules.score_bounds(state.state)
        if bounds is None:
            return None
        if not state.choice:
            return [(min(low for low, _ in bounds), max(high for _, high in bounds))] * 2
        return self._by_seat(bounds, state)

    def seats_out(self, state: PieState) -> tuple[int, ...]:
        return tuple(self.seat_of(part, state) for part in self.rules.seats_out(state.state))

    def observation(self, state: PieState) -> dict[str, Any]:
        """Return the observation without the rule, with ``"pie_left"`` and ``"pie_choice"``."""
        return {**self.rules.observation(state.state), "pie_left": state.left, "pie_choice": state.choice}

    def state_from_observation(self, observation: Mapping[str, Any]) -> PieState:
        inner = {name: value for name, value in observation.items() if name not in ("pie_left", "pie_choice")}
        state = self.rules.state_from_observation(inner)
        return PieState(observation["pie_left"], observation["pie_choice"], state)

    def parse_action(self, text: str) -> Any:
        word = text.strip().lower()
        return word if word in CHOICES else self.rules.parse_action(text)

    def format_action(self, action: Any) -> str:
        return action if isinstance(action, str) and action in CHOICES else self.rules.format_action(action)

    def space(self) -> Space | None:
        """Return the space without the rule, with both answers; as numbers also how far the rule is."""
        inner = self.rules.space()
        if inner is None:
            return None
        encode: Callable[[Any], Sequence[float]] = inner.encode
        pie = self.options["pie"]

        def encoded(state: PieState) -> list[float]:
            choice = [float(state.choice == one) for one in CHOICES]
            return [*encode(state.state), state.left / pie, *choice]

        return Space(actions=(*inner.actions, *CHOICES), max_plies=inner.max_plies + 1, encode=encoded)

    def render(self, state: PieState) -> str:
        return f"{self._drawn(state).render(state.state)}\n{self.note(state)}"

    def render_after(self, state: PieState, actions: Sequence[tuple[int, Any]]) -> str:
        own = [(seat, action) for seat, action in actions if action not in CHOICES]
        return f"{self._drawn(state).render_after(state.state, own)}\n{self.note(state)}"

    def drawing(self, state: PieState) -> Drawing:
        drawing = self._drawn(state).drawing(state.state)
        return drawing._replace(notes=(*drawing.notes, self.note(state)))

    def _drawn(self, state: PieState) -> Game[Any]:
        return self._swapped if state.choice == SWAP else self.rules

    def note(self, state: PieState) -> str:
        """Return how far the pie rule is, in a line."""
        if state.left:
            actions = "action" if state.left == 1 else f"{state.left} actions"
            return f"pie rule: seat 0 makes the next {actions}, then seat 1 keeps or swaps the seats"
        if state.is_choosing:
            first = self.rules.seat_to_act(state.state)
            turn = "the match is over then" if first is None else f"whoever plays for seat {first} then acts next"
            return f"pie rule: seat 1 keeps or swaps the seats; {turn}"
        done = "kept the seats" if state.choice == KEEP else "swapped the seats: each plays the other's part"
        return f"pie rule: seat 1 {done}"


@cache
def with_pie(kind: type[Game[Any]]) -> type[Pie]:
    """Return the class of a game with the pie rule."""
    about: dict[str, Any] = {
        "kind": kind,
        "name": kind.name,
        "summary": kind.summary,
        "OPTIONS": kind.OPTIONS,
        "action_format": f'{kind.action_format}; "keep" or "swap" where seat 1 chooses its part',
        "mine": kind.mine,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    return type(kind.__name__, (Pie,), about)


class _PieOption(RuleAround):
    def around(self, kind: type[Game[Any]]) -> type[Game[Any]]:
        return with_pie(kind)

    def rulebook(self) -> str:
        import inspect  # which takes a bot as long to import as all the games

        return inspect.cleandoc(__doc__ or "")


PIE = _PieOption(
    "pie",
    0,
    0,
    3,
    "number of first actions that seat 0 makes; then seat 1 keeps or swaps seats (0: no pie rule)",
    is_variation=True,
)
"""The option of games for two that take the pie rule."""
