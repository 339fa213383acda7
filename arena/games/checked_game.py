"""A game as the arena uses it: what the rules raise or return wrongly becomes a ``GameError``.

The arena trusts no rules from outside: without this, a mistake in them would pass for a defect of the arena, or for a
bot's fault. Bots search with the game itself, which costs them nothing.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any, cast

import msgpack

from arena.base.errors import ArenaError, GameError, IllegalActionError, repr_of
from arena.base.results import competition_ranks
from arena.games.drawing import Drawing
from arena.games.game import Game

MAX_INTEGER = 2**63 - 1
"""The largest integer of a score, as messages carry it."""

MAX_FOLLOWING = 1000
"""How many of the legal actions are applied when a position is checked."""

MAX_SHOWN_CHARACTERS = 80

NO_STATE = "returned None; expected a state"

UNSENDABLE = "returned what a message can't carry"

MAX_VALUES = 2**20
"""More values do not fit into a message, whatever its limit in bytes is; and a value may contain itself."""


def checked_game(game: Game[Any], path: str) -> Game[Any]:
    """Return a game whose methods raise ``GameError`` where the rules are wrong; messages show ``path`` as its name."""
    return cast("Game[Any]", _CheckedGame(game, path))


def mistake_in(error: BaseException, game: Game[Any], path: str, state: Any) -> GameError | None:
    """Return the mistake of an unchecked game that an exception comes from; None if it comes from somewhere else.

    A game that is called at every ply costs nothing more in this way as long as nothing is raised.
    """
    if isinstance(error, _NOT_OF_RULES):
        return None
    if state is None and not isinstance(error, ArenaError):
        return GameError(path, "apply", NO_STATE)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if _is_method(frame, game):
            return GameError.raised(path, frame.f_code.co_name, error, type(game).__module__)
    return None


def is_seen_in_frames(game: Game[Any]) -> bool:
    """Return whether ``mistake_in`` sees who is at fault: a method that is cached, or compiled, may have no frame."""
    methods = {name: getattr(type(game), name) for name in ("seat_to_act", "apply")}
    return all(getattr(getattr(found, "__code__", None), "co_name", "") == name for name, found in methods.items())


def _is_method(frame: FrameType, game: Game[Any]) -> bool:
    """Return whether a frame runs a method of a game, which may be static or call its first argument anything."""
    method = getattr(type(game), frame.f_code.co_name, None)
    return frame.f_locals.get("self") is game or getattr(method, "__code__", None) is frame.f_code


_NOT_OF_RULES = (GameError, MemoryError, KeyboardInterrupt)
"""What is raised as it is: a mistake that has been named, the machine's lack of memory, and Ctrl-C."""


class _CheckedGame:
    """A game whose methods are checked. Those of which only exceptions are checked are wrapped when first used."""

    def __init__(self, game: Game[Any], path: str) -> None:
        self.options = game.options
        self.players = game.players
        self._game = game
        self.path = path
        self._seat_to_act = game.seat_to_act
        self._apply = game.apply
        self._legal_actions = game.legal_actions
        self._observation = game.observation
        self._has_ranks_by_scores = type(game).ranks is Game.ranks

    def __repr__(self) -> str:
        return repr(self._game)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._game, name)
        if callable(found):
            found = self._wrapped(name, found)
        setattr(self, name, found)
        return found

    def _wrapped(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except BaseException as error:
                raise self._raised(name, error) from error

        return call

    def initial_state(self) -> Any:
        return self._state("initial_state", self._call("initial_state"))

    def seat_to_act(self, state: Any) -> int | None:
        try:
            seat = self._seat_to_act(state)
        except BaseException as error:
            raise self._raised("seat_to_act", error) from error
        if seat is None or (type(seat) is int and 0 <= seat < self.players):
            return seat
        raise self._wrong("seat_to_act", f"returned no seat from 0 to {self.players - 1}", seat)

    def is_over(self, state: Any) -> bool:
        return self.seat_to_act(state) is None

    def legal_actions(self, state: Any) -> Sequence[Any]:
        try:
            actions = self._legal_actions(state)
        except BaseException as error:
            raise self._raised("legal_actions", error) from error
        if type(actions) is not list and type(actions) is not tuple:
            if not isinstance(actions, Sequence) or isinstance(actions, str | bytes):
                raise self._wrong("legal_actions", "returned no list or tuple", actions)
            actions = list(actions)
        if not actions and (seat := self.seat_to_act(state)) is not None:
            raise GameError(self.path, "legal_actions", f"returned no action, though seat {seat} is to act")
        return actions

    def apply(self, state: Any, action: Any) -> Any:
        try:
            after = self._apply(state, action)
        except IllegalActionError as error:
            self._check_refusal(state, action, error)
            raise
        except BaseException as error:
            raise self._raised("apply", error) from error
        return after if after is not None else self._state("apply", after)

    def withdraw(self, state: Any) -> Any:
        return self._call("withdraw", state)

    def scores(self, state: Any) -> Sequence[int | float]:
        values: Sequence[int | float] = self._numbers("scores", state)
        for value in values:
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise self._wrong("scores", "returned what is not a finite number", values)
            if isinstance(value, int) and abs(value) > MAX_INTEGER:
                raise self._wrong("scores", "returned an integer of more than 64 bits", values)
            if not math.isfinite(value):
                raise self._wrong("scores", "returned what is not a finite number", values)
        return values

    def ranks(self, state: Any) -> Sequence[int]:
        if self._has_ranks_by_scores:
            return competition_ranks([-score for score in self.scores(state)])
        values: Sequence[int] = self._numbers("ranks", state)
        if any(type(value) is not int for value in values) or list(values) != competition_ranks(values):
            raise self._wrong(
                "ranks", "returned what are no ranks (1 is best, ties share a rank, the next rank is skipped)", values
            )
        return values

    def seats_out(self, state: Any) -> Sequence[int]:
        seats: Sequence[int] = self._call("seats_out", state)
        if not isinstance(seats, list | tuple) or any(
            type(seat) is not int or not 0 <= seat < self.players for seat in seats
        ):
            raise self._wrong("seats_out", f"returned no tuple of seats from 0 to {self.players - 1}", seats)
        return seats

    def observation(self, state: Any) -> dict[str, Any]:
        try:
            observation = self._observation(state)
        except BaseException as error:
            raise self._raised("observation", error) from error
        if type(observation) is not dict:
            raise self._wrong("observation", "returned no dictionary", observation)
        return observation

    def rulebook(self) -> str:
        return self._text("rulebook")

    def format_action(self, action: Any) -> str:
        return self._text("format_action", action)

    def render(self, state: Any) -> str:
        return self._text("render", state)

    def render_after(self, state: Any, actions: Sequence[Any]) -> str:
        return self._text("render_after", state, actions)

    def drawing(self, state: Any) -> Drawing:
        drawing = self._call("drawing", state)
        if not isinstance(drawing, Drawing):
            raise self._wrong("drawing", "returned no Drawing", drawing)
        return drawing

    def _text(self, method: str, *arguments: Any) -> str:
        text = self._call(method, *arguments)
        if not isinstance(text, str):
            raise self._wrong(method, "returned no text", text)
        return text

    def _numbers(self, method: str, state: Any) -> Sequence[Any]:
        values: Sequence[Any] = self._call(method, state)
        if not isinstance(values, list | tuple):
            raise self._wrong(method, "returned no tuple", values)
        if len(values) != self.players:
            raise self._wrong(method, f"returned {len(values)} numbers for {self.players} seats", values)
        return values

    def _state(self, method: str, state: Any) -> Any:
        if state is None:
            raise GameError(self.path, method, NO_STATE)
        return state

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._game, name)(*arguments)
        except BaseException as error:
            raise self._raised(name, error) from error

    def _check_refusal(self, state: Any, action: Any, refusal: IllegalActionError) -> None:
        if _plain(action) in map(_plain, self.legal_actions(state)):
            raise self._wrong("apply", "refuses what legal_actions lists", refusal) from refusal

    def _raised(self, method: str, error: BaseException) -> BaseException:
        """Return the exception to raise in place of one of the rules."""
        if isinstance(error, _NOT_OF_RULES):
            return error
        if isinstance(error, IllegalActionError) and method in ("apply", "parse_action"):
            return error
        return GameError.raised(self.path, method, error, type(self._game).__module__)

    def _wrong(self, method: str, problem: str, value: Any) -> GameError:
        return GameError(self.path, method, f"{problem}: {shown(value)}")


def check_position(game: Game[Any], state: Any, max_message_bytes: int, max_action_levels: int) -> None:
    """Check what a bot is shown of a position in which a seat is to act, and what it meets when it looks one ply ahead.

    Raises:
        GameError: if the legal actions or the observation are wrong or don't fit into a message, an action is nested
            too deeply, or a legal action leads to a wrong position.
    """
    path = cast(_CheckedGame, game).path
    legal, observation = game.legal_actions(state), game.observation(state)
    for method, value in (("legal_actions", legal), ("observation", observation)):
        problem = message_problem(value)
        if problem:
            raise GameError(path, method, f"{UNSENDABLE}: {problem}")
    if any(_is_deeper(action, max_action_levels) for action in legal):
        raise GameError(path, "legal_actions", f"returned an action of more than {max_action_levels} nested levels")
    size_bytes = _packed_bytes(path, "observation", observation) + _packed_bytes(path, "legal_actions", legal)
    if size_bytes > max_message_bytes:
        raise GameError(
            path,
            "observation",
            f"and legal_actions are too large for a message of {max_message_bytes:,} bytes: {size_bytes:,} bytes",
        )
    for action in legal[:MAX_FOLLOWING]:
        after = game.apply(state, action)
        if game.is_over(after):
            game.ranks(after)
        game.scores(after)


def check_action(game: Game[Any], action: Any) -> None:
    """Raise GameError if a message can't carry a legal action; ``game`` is from ``checked_game``."""
    problem = message_problem(action)
    if problem:
        raise GameError(cast(_CheckedGame, game).path, "legal_actions", f"{UNSENDABLE}: {problem}")


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        level = [part for part in level if isinstance(part, list | tuple | dict)]
        if not level:
            return False
        level = [inner for part in level for inner in (part.values() if isinstance(part, dict) else part)]
    return True


def _packed_bytes(path: str, method: str, value: Any) -> int:
    try:
        return len(msgpack.packb(value))
    except ValueError as error:  # the values themselves are right
        raise GameError(path, method, f"{UNSENDABLE}: what is nested too deeply") from error


def message_problem(value: Any) -> str:
    """Return why a message can't carry a value; empty if it can."""
    waiting = [value]
    for _ in range(MAX_VALUES):
        if not waiting:
            return ""
        problem, inner = _value_problem(waiting.pop())
        if problem:
            return problem
        waiting += inner
    return f"more than {MAX_VALUES:,} values"


def _value_problem(value: Any) -> tuple[str, Iterable[Any]]:
    """Return why a message can't carry a value itself, and the values in it."""
    if value is None or isinstance(value, bool):
        return "", ()
    if isinstance(value, str):
        return ("" if value.isascii() or _is_unicode(value) else f"the text {shown(value)}"), ()
    if isinstance(value, int):
        return ("" if -MAX_INTEGER - 1 <= value <= 2 * MAX_INTEGER + 1 else "an integer of more than 64 bits"), ()
    if isinstance(value, float):
        return ("" if math.isfinite(value) else f"the number {value}"), ()
    if isinstance(value, list | tuple):
        return "", value
    if type(value) is dict:
        key = next((key for key in value if not isinstance(key, str)), None)
        return ("" if key is None else f"the key {shown(key)}; expected texts as keys"), value.values()
    return f"{shown(value)}, of the type {type(value).__name__}", ()


def _is_unicode(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def shown(value: Any) -> str:
    """Return a value as a short text in one line."""
    text = " ".join((str(value) if isinstance(value, IllegalActionError) else repr_of(value)).split())
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"


def _plain(value: Any) -> Any:
    """Return a value in which equal numbers of different types differ, and lists and tuples do not."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return type(value).__name__, repr_of(value)
