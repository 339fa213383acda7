"""The contract between the arena and a game.

A game object is the rules with their options. States are immutable, hashable values; ``apply`` returns a new one.
Rules know no clock, process, randomness or I/O, so a game may be used from anywhere, bots' search included.

To add a game, write one class in one file: see DESIGN.md.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from arena.errors import IllegalActionError, OptionError
from arena.games.drawing import Drawing, text_drawing
from arena.games.options import Option, checked_options
from arena.ranking import competition_ranks

StateT = TypeVar("StateT")
Action = Any
"""``"+"`` or ``"-"``, a square ``(x, y)``, or a line ``("v", x)`` or ``("h", y)``."""


class Game(ABC, Generic[StateT]):
    """The rules of a game with their options.

    Attributes:
        name: the game's name.
        summary: the game in one line.
        OPTIONS: the table of its options. An option named ``players`` sets the number of seats; a game without one
            is for two.
        action_format: what an action looks like on the wire and in text.
        mine: for authors of bots: what in the observation is a seat's own, and how its score follows; may be empty.
        options: the options in force, all of them.
        players: the number of seats.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    OPTIONS: ClassVar[tuple[Option, ...]]
    action_format: ClassVar[str]
    mine: ClassVar[str] = ""

    def __init__(self, /, **given: Any) -> None:
        if "players" in given and not any(option.name == "players" for option in self.OPTIONS):
            players = given.pop("players")
            if type(players) is not int or players != 2:
                raise OptionError("players", players, f"{self.name} is a game for exactly 2 players")
        self.options: dict[str, Any] = checked_options(self.name, self.OPTIONS, given)
        self.players: int = self.options.get("players", 2)
        self.prepare()

    def prepare(self) -> None:
        """Check options against each other and derive what the rules need. Called once.

        Raises:
            OptionError: if the options don't fit together.
        """

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"make_game({self.name!r}, {given})"

    @classmethod
    def rulebook(cls) -> str:
        """Return the numbered rules: the docstring of the module that defines the game."""
        return inspect.getdoc(inspect.getmodule(cls)) or ""

    @abstractmethod
    def initial_state(self) -> StateT:
        """Return the state before the first action."""

    @abstractmethod
    def seat_to_act(self, state: StateT) -> int | None:
        """Return the seat whose action is due, or None when the match is over."""

    @abstractmethod
    def legal_actions(self, state: StateT) -> Sequence[Action]:
        """Return exactly the actions ``apply`` accepts, in the order the game documents; none when over."""

    @abstractmethod
    def apply(self, state: StateT, action: Action) -> StateT:
        """Return the state after ``action`` of the seat to act. Lists and tuples are both accepted.

        Raises:
            IllegalActionError: naming the rule broken.
        """

    @abstractmethod
    def scores(self, state: StateT) -> tuple[int | float, ...]:
        """Return the score of each seat as the state stands; may be asked at any time."""

    @abstractmethod
    def observation(self, state: StateT) -> dict[str, Any]:
        """Return the state as a map of msgpack types, as protocol.md documents it."""

    @abstractmethod
    def state_from_observation(self, observation: Mapping[str, Any]) -> StateT:
        """Return the state that ``observation`` was made from."""

    @abstractmethod
    def parse_action(self, text: str) -> Action:
        """Read an action from text, such as ``c4``.

        Raises:
            IllegalActionError: if the text is no action.
        """

    @abstractmethod
    def format_action(self, action: Action) -> str:
        """Return the text of an action."""

    @abstractmethod
    def render(self, state: StateT) -> str:
        """Return a drawing of the state, without colour, for a terminal."""

    def drawing(self, state: StateT) -> Drawing:
        """Return the state as shapes, for viewers that draw; by default the text board."""
        return text_drawing(self.render(state).splitlines())

    def is_over(self, state: StateT) -> bool:
        """Tell whether the match has ended."""
        return self.seat_to_act(state) is None

    def ranks(self, state: StateT) -> tuple[int, ...]:
        """Return the place of each seat by its score: 1 is best, equal scores share a rank and the next one skips."""
        return tuple(competition_ranks([-score for score in self.scores(state)]))

    def seats_out(self, state: StateT) -> tuple[int, ...]:
        """Return the seats the rules have eliminated, in order; empty in a game that knows no elimination."""
        return ()

    def withdraw(self, state: StateT) -> StateT | None:
        """Take the seat to act out of the match, where the rules know elimination; None where they don't.

        The referee asks this when a seat has forfeited and more than two players began.
        """
        return None


def refuse_when_over(action: Action) -> IllegalActionError:
    """Return the error for an action after the end."""
    return IllegalActionError(action, "the match is over")
