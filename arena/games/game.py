"""The interface of a game.

A game object is the rules with their options. States are immutable, hashable values; ``apply`` returns a new one.
Rules use no clock, process, randomness or I/O, so a game can be used anywhere, including in a bot's search.

To add a game, write one class in one file: see docs/add_a_game.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from arena.base.errors import IllegalActionError, OptionError, suggestion
from arena.base.results import competition_ranks
from arena.games.drawing import Drawing, text_drawing
from arena.games.squares import Square, as_square, mark_last


@dataclass(frozen=True)
class IntOption:
    """A whole number from ``minimum`` to ``maximum``; ``meaning`` describes it in a few words.

    With ``is_variation`` it is among the options of a game only when it differs from its default, so that what was
    stored before there was such an option is still the same.
    """

    name: str
    default: int
    minimum: int
    maximum: int
    meaning: str
    is_variation: bool = False

    type_name = "whole number"

    @property
    def accepted(self) -> str:
        """The accepted values, as text."""
        if self.minimum == self.maximum:
            return f"exactly {self.minimum}"
        return f"a whole number from {self.minimum} to {self.maximum}"

    def check(self, value: object) -> None:
        """Raise OptionError unless ``value`` is accepted."""
        if type(value) is not int or not self.minimum <= value <= self.maximum:
            raise OptionError(self.name, value, f"expected {self.accepted}")

    def parse(self, text: str) -> int | str:
        """Read the value from text; text that is not a number is left for ``check`` to refuse."""
        try:
            return int(text)
        except ValueError:
            return text


@dataclass(frozen=True)
class ChoiceOption:
    """One of a few values; ``meaning`` describes it in a few words."""

    name: str
    default: int | str
    choices: tuple[int | str, ...]
    meaning: str

    type_name = "choice"
    is_variation = False

    @property
    def accepted(self) -> str:
        """The accepted values, as text."""
        return " or ".join(repr(choice) for choice in self.choices)

    def check(self, value: object) -> None:
        """Raise OptionError unless ``value`` is accepted."""
        if not any(type(value) is type(choice) and value == choice for choice in self.choices):
            raise OptionError(self.name, value, f"expected {self.accepted}")

    def parse(self, text: str) -> int | str:
        """Return the choice written ``text``; anything else is left for ``check`` to refuse."""
        return next((choice for choice in self.choices if str(choice) == text), text)


class RuleAround(IntOption):
    """An option that puts a rule around those of a game where it is above its default, such as the pie rule."""

    def is_chosen(self, value: object) -> bool:
        """Return whether a value asks for the rule."""
        return type(value) is int and self.default < value <= self.maximum

    def around(self, kind: type[Game[Any]]) -> type[Game[Any]]:
        """Return the class of a game with the rule around it."""
        raise NotImplementedError

    def rulebook(self) -> str:
        """Return the rule in words."""
        raise NotImplementedError


Option = IntOption | ChoiceOption


def checked_options(game: str, table: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each option in ``table``, the given one or the default, but for variations not chosen.

    Raises:
        OptionError: for an unknown name or a value that is not accepted.
    """
    options = {option.name: option for option in table}
    for name, value in given.items():
        if name not in options:
            raise OptionError(name, value, f"{game} has no such option; {suggestion(name, options)}")
        options[name].check(value)
    values = {name: given.get(name, option.default) for name, option in options.items()}
    return {name: value for name, value in values.items() if not is_left_out(options[name], value)}


def is_left_out(option: Option, value: object) -> bool:
    """Return whether an option is not among those of a game: a variation that is not chosen."""
    return option.is_variation and value == option.default


def made_again(kind: type[Game[Any]], options: Mapping[str, Any]) -> Game[Any]:
    """Return a game from its class and options, for pickle."""
    return kind(**options)


# A game as numbers, for learning and search libraries: every action has an index, every state is a vector.
#
# A game has a space if it has a method ``space``; ``arena.interop`` brings such games to PettingZoo and OpenSpiel.


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A game as numbers.

    Attributes:
        actions: all actions that can be legal in some state; an action's index is its position.
        max_plies: the largest number of actions in a match.
        encode: turns a state into numbers from -1 to 1, always the same count. The adapters add whose turn it is.
    """

    actions: tuple[Any, ...]
    max_plies: int
    encode: Callable[[Any], Sequence[float]]


def all_squares(width: int, height: int) -> tuple[Square, ...]:
    """Return the squares of a board, by column from the left, then by row from the bottom."""
    return tuple((x, y) for x in range(1, width + 1) for y in range(1, height + 1))


def one_hot(values: Iterable[object], choices: Sequence[object]) -> list[float]:
    """Return, for each choice, a number for each value: 1 if it equals the choice, else 0.

    >>> one_hot(["red", "blue", None], choices=["red", "blue"])
    [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """
    listed = list(values)
    return [float(value == choice) for choice in choices for value in listed]


def board_space(
    width: int,
    height: int,
    players: int,
    owners: Callable[[Any], Mapping[Square, int]],
    *,
    other_actions: tuple[Any, ...] = (),
    max_plies: int | None = None,
) -> Space:
    """Return the space of a game on a board whose squares belong to seats: its actions are squares.

    The vector of a state has, for each seat, 1 for its squares and 0 for the others.

    Args:
        width: columns of the board.
        height: rows of the board.
        players: seats of the game.
        owners: returns the seat of each square that belongs to one. If states with the same owners and the same seat to
            act can differ, make a ``Space``.
        other_actions: actions that are not squares, such as "pass".
        max_plies: the largest number of actions in a match; by default one for each square.
    """
    squares = all_squares(width, height)

    def encode(state: Any) -> list[float]:
        owner = owners(state)
        return one_hot(map(owner.get, squares), range(players))

    return Space(
        actions=(*squares, *other_actions),
        max_plies=len(squares) if max_plies is None else max_plies,
        encode=encode,
    )


# The rules.

StateT = TypeVar("StateT")
Action = Any
"""``"+"`` or ``"-"``, a square ``(x, y)``, or a line ``("v", x)`` or ``("h", y)``."""


class Game(ABC, Generic[StateT]):
    """The rules of a game with their options.

    Attributes:
        name: the game's name.
        summary: the game in one line.
        OPTIONS: the table of its options. An option named ``players`` sets the number of seats; without it a game has
            two.
        action_format: an action on the wire and in text.
        mine: for authors of bots: which part of the observation belongs to a seat, and how its score is computed; may
            be empty.
        options: the values of all options.
        players: the number of seats.
        shown_seats: for a drawing: the seat that plays each part of the rules.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    OPTIONS: ClassVar[tuple[Option, ...]]
    action_format: ClassVar[str]
    mine: ClassVar[str] = ""

    def __new__(cls, /, **given: Any) -> Any:
        """Return a game of these rules; one around them if an option asks for it."""
        for option in cls.OPTIONS:
            if isinstance(option, RuleAround) and option.is_chosen(given.get(option.name)):
                return option.around(cls)(**given)
        return super().__new__(cls)

    def __init__(self, /, **given: Any) -> None:
        if "players" in given and not any(option.name == "players" for option in self.OPTIONS):
            players = given.pop("players")
            if type(players) is not int or players != 2:
                raise OptionError("players", players, f"{self.name} is a game for exactly 2 players")
        self.options: dict[str, Any] = checked_options(self.name, self.OPTIONS, given)
        self.players: int = self.options.get("players", 2)
        self.shown_seats: Sequence[int] = range(self.players)
        self.prepare()

    def prepare(self) -> None:
        """Check options against each other and derive what the rules need. Called once.

        Raises:
            OptionError: if the options don't fit together.
        """

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"make_game({self.path()!r}{given})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options alone: the other process prepares the game again, with caches and all."""
        return made_again, (type(self), self.options)

    @classmethod
    def path(cls) -> str:
        """Return what ``make_game`` finds it by: its name, or the dotted path of an external game."""
        is_ours = cls.__module__.startswith("arena.games.")
        return cls.name if is_ours else f"{cls.__module__}:{cls.__qualname__}"

    @classmethod
    def rulebook(cls) -> str:
        """Return the numbered rules: the docstring of the module that defines the game."""
        import inspect  # which takes a bot as long to import as all the games

        rules = inspect.getdoc(inspect.getmodule(cls)) or ""
        return "\n\n".join([rules, *(each.rulebook() for each in cls.OPTIONS if isinstance(each, RuleAround))])

    @abstractmethod
    def initial_state(self) -> StateT:
        """Return the state before the first action."""

    @abstractmethod
    def seat_to_act(self, state: StateT) -> int | None:
        """Return the seat to act, or None when the match is over."""

    @abstractmethod
    def legal_actions(self, state: StateT) -> Sequence[Action]:
        """Return exactly the actions that ``apply`` accepts, in the documented order; empty when the match is over."""

    @abstractmethod
    def apply(self, state: StateT, action: Action) -> StateT:
        """Return the state after ``action`` of the seat to act, which may consist of lists or of tuples.

        Raises:
            IllegalActionError: naming the broken rule.
        """

    @abstractmethod
    def scores(self, state: StateT) -> tuple[int | float, ...]:
        """Return the score of each seat in a state, which may be before the end."""

    @abstractmethod
    def observation(self, state: StateT) -> dict[str, Any]:
        """Return the state as a map of msgpack types; protocol.md documents it."""

    @abstractmethod
    def state_from_observation(self, observation: Mapping[str, Any]) -> StateT:
        """Return the state that ``observation`` was made from."""

    @abstractmethod
    def parse_action(self, text: str) -> Action:
        """Read an action from text, such as ``c4``.

        Raises:
            IllegalActionError: if the text is not an action.
        """

    @abstractmethod
    def format_action(self, action: Action) -> str:
        """Return the text of an action."""

    @abstractmethod
    def render(self, state: StateT) -> str:
        """Return a drawing of the state, without colour, for a terminal."""

    def render_after(self, state: StateT, actions: Sequence[tuple[int, Action]]) -> str:
        """Draw a state so that the last action is visible, and who made which mark.

        By default, the square of the last action has brackets, if ``render`` draws a board with ``draw_grid``.

        Args:
            state: the state.
            actions: those that led to it, each with its seat; None for a seat that was taken out.
        """
        square = as_square(actions[-1][1]) if actions else None
        return self.render(state) if square is None else mark_last(self.render(state), square)

    def drawing(self, state: StateT) -> Drawing:
        """Return the state as shapes, for graphical viewers; by default the text board."""
        return text_drawing(self.render(state).splitlines())

    def space(self) -> Space | None:
        """Return the actions and states as numbers, for PettingZoo and OpenSpiel; None in a game without."""
        return None

    def is_over(self, state: StateT) -> bool:
        """Return whether the match has ended."""
        return self.seat_to_act(state) is None

    def ranks(self, state: StateT) -> tuple[int, ...]:
        """Return the rank of each seat by its score: 1 is best, ties share a rank and the next rank is skipped."""
        return tuple(competition_ranks([-score for score in self.scores(state)]))

    def score_bounds(self, state: StateT) -> Sequence[tuple[int | float, int | float]] | None:
        """Return the least and the largest score that each seat can still end with; None where no bounds are known.

        Only for games that rank by their scores. Wider bounds than necessary are allowed; ``adjudicate = "settled"``
        ends matches by them.
        """
        return None

    def seats_out(self, state: StateT) -> tuple[int, ...]:
        """Return the eliminated seats, in order; empty in a game without elimination."""
        return ()

    def withdraw(self, state: StateT) -> StateT | None:
        """Return the state without the seat to act; None in a game without elimination.

        The referee calls this after a forfeit in a match of more than two players.
        """
        return None


def refuse_when_over(action: Action) -> IllegalActionError:
    """Return the error for an action after the end of the match."""
    return IllegalActionError(action, "the match is over")
