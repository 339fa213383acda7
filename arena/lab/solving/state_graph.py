"""All states of a game that can be reached, and their values from the ends of matches back to its start."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.base.errors import GameError
from arena.base.results import double_points_of as points_of
from arena.base.text import counted
from arena.games import GAMES
from arena.games.checked_game import shown
from arena.games.game import Game
from arena.lab.solving.limits import Limits, bytes_per_state
from arena.lab.solving.worth import Shares, value_of

# Whether the states of a game from outside are values: equal states mean the same, and no call changes one.


class StateCheck:
    """Checks the states of one game while they are explored; those of the arena's own games have tests for that."""

    def __init__(self, game: Game[Any], path: str) -> None:
        self._game = game
        self._path = path
        self._is_trusted = path in GAMES

    def check_start(self) -> None:
        """Raise GameError unless two calls return the same initial state."""
        if not self._is_trusted and not self._are_equal(self._game.initial_state(), self._game.initial_state()):
            raise self.no_value("those of two calls are not equal", "initial_state")

    def following(self, state: Any) -> Iterator[Any]:
        """Yield the states after each legal action; GameError if a call changes ``state``, or depends on more."""
        game = self._game
        if self._is_trusted:
            yield from (game.apply(state, action) for action in game.legal_actions(state))
            return
        before = repr(game.observation(state))
        actions = list(game.legal_actions(state))
        for action in actions:
            after = game.apply(state, action)
            if repr(game.observation(state)) != before:
                raise self.no_value(f"{game.format_action(action)} changed the state that it was applied to")
            if not self._are_equal(after, game.apply(state, action)):
                raise self.no_value(f"{game.format_action(action)} led to two states that are not equal")
            yield after

    def check_end(self, state: Any) -> None:
        """Raise GameError unless a match that is over has no actions, and keeps its scores."""
        if self._is_trusted:
            return
        actions = self._game.legal_actions(state)
        if actions:
            raise GameError(self._path, "legal_actions", f"returned actions after the end of a match: {shown(actions)}")
        scores, again = tuple(self._game.scores(state)), tuple(self._game.scores(state))
        if scores != again:
            raise GameError(self._path, "scores", f"changed after the end of a match: {shown(scores)}, {shown(again)}")

    def check_equal(self, earlier: Any, state: Any) -> None:
        """Raise GameError unless two equal states have the same seat to act, actions and scores."""
        if self._is_trusted:
            return
        for method in ("seat_to_act", "legal_actions", "scores"):
            call = getattr(self._game, method)
            first, second = call(earlier), call(state)
            if (first if method == "seat_to_act" else list(first)) != (
                second if method == "seat_to_act" else list(second)
            ):
                if method == "scores" and self._game.is_over(state):
                    problem = f"changed after the end of a match: {shown(first)}, {shown(second)} in an equal state"
                    raise GameError(self._path, method, problem)
                raise GameError(self._path, method, f"differs between equal states: {shown(first)}, {shown(second)}")

    def no_value(self, reason: str, method: str = "apply") -> GameError:
        """Return the mistake of a state that is no value."""
        return GameError(self._path, method, f"returned a state that is no value: {reason}")

    def _are_equal(self, first: Any, second: Any) -> bool:
        try:
            return bool(first == second) and hash(first) == hash(second)
        except TypeError as error:
            raise self.no_value(f"{type(first).__name__} can't be hashed") from error


# All states of a game that can be reached, found level by level through the public interface of a game.
#
# A game from outside is not trusted: a cycle, a match that never ends, a state that is no value, and scores that are
# not those of the state are named as mistakes of the game, and no value is computed.

MAX_PLIES = 10_000
"""The referee ends a match after this many actions, too."""

IS_OVER = -1
_CHECK_EVERY = 1024


class End(NamedTuple):
    """How a match ends in a state."""

    scores: tuple[int | float, ...]
    ranks: tuple[int, ...]


class StateGraph:
    """States by number, 0 being the first, and what follows each, in the order of its legal actions.

    ``seats`` has ``IS_OVER`` where the match has ended; ``order`` has all numbers, each after those that follow it.
    """

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.seats = array("b")
        self.ends: dict[int, End] = {}
        self.order: Sequence[int] = ()
        self._offsets = array("q", [0])
        self._following = array("q")

    def __len__(self) -> int:
        return len(self.seats)

    @property
    def edges(self) -> int:
        """How many actions there are in all states together."""
        return len(self._following)

    def following(self, number: int) -> Sequence[int]:
        """Return the numbers of the states after each legal action."""
        return self._following[self._offsets[number] : self._offsets[number + 1]]

    def add(self, seat: int, following: Sequence[int]) -> None:
        """Add what follows the next state."""
        self.seats.append(seat)
        self._following.extend(following)
        self._offsets.append(len(self._following))


def explore(game: Game[Any], path: str, limits: Limits, start: Any = None) -> StateGraph:
    """Return all states that can be reached from a state, by default the initial one.

    GameError if the rules contradict themselves; TimeIsUpError and TooLargeError by the limits.
    """
    return _Explorer(game, path, limits).explored(start)


class _Explorer:
    def __init__(self, game: Game[Any], path: str, limits: Limits) -> None:
        self._game = game
        self._path = path
        self._limits = limits
        self._check = StateCheck(game, path)
        self._graph = StateGraph()
        self._states: list[Any] = []
        self._is_by_level = True

    def explored(self, start: Any) -> StateGraph:
        self._check.check_start()
        self._bytes_each = bytes_per_state(self._game)
        self._number(self._game.initial_state() if start is None else start)
        begin, ply = 0, 0
        while begin < len(self._states):
            if ply > MAX_PLIES:
                raise GameError(self._path, "apply", f"leads to matches of more than {counted(MAX_PLIES, 'action')}")
            end = len(self._states)
            for number in range(begin, end):
                self._expand(number, end)
            begin, ply = end, ply + 1
        self._graph.order = range(len(self._states) - 1, -1, -1) if self._is_by_level else self._sorted()
        return self._graph

    def _expand(self, number: int, next_level: int) -> None:
        """Add what follows a state; ``next_level`` is the number of the first state of the next level."""
        self._limits.check_time(number)
        if number % _CHECK_EVERY == 0:
            self._limits.check_memory(len(self._states) * self._bytes_each, "a table of the states found so far")
        state = self._states[number]
        seat = self._game.seat_to_act(state)
        if seat is None:
            self._check.check_end(state)
            self._graph.ends[number] = End(tuple(self._game.scores(state)), tuple(self._game.ranks(state)))
            self._graph.add(IS_OVER, ())
            return
        following = [self._number(after) for after in self._check.following(state)]
        if min(following, default=next_level) < next_level:
            self._is_by_level = False
        self._graph.add(seat, following)

    def _number(self, state: Any) -> int:
        next_number = len(self._states)
        try:
            number = self._graph.numbers.setdefault(state, next_number)
        except TypeError as error:
            raise self._check.no_value(f"{type(state).__name__} can't be hashed") from error
        if number == next_number:
            self._states.append(state)
        else:
            self._check.check_equal(self._states[number], state)
        return number

    def _sorted(self) -> Sequence[int]:
        """Order numbers, each after those that follow it; GameError if a state follows itself.

        States here are reached by matches of unequal length.
        """
        order = array("q")
        unseen, open_, done = 0, 1, 2
        marks = bytearray(len(self._graph))
        path: list[tuple[int, Iterator[int]]] = [(0, iter(self._graph.following(0)))]
        marks[0] = open_
        while path:
            number, rest = path[-1]
            after = next(rest, None)
            if after is None:
                marks[number] = done
                order.append(number)
                path.pop()
            elif marks[after] == open_:
                raise self._cycle([number_on_path for number_on_path, _ in path], after)
            elif marks[after] == unseen:
                marks[after] = open_
                path.append((after, iter(self._graph.following(after))))
        return order

    def _cycle(self, path: list[int], again: int) -> GameError:
        loop = path[path.index(again) :]
        texts = []
        for number, after in zip(loop, [*loop[1:], again], strict=True):
            state = self._states[number]
            index = list(self._graph.following(number)).index(after)
            texts.append(self._game.format_action(self._game.legal_actions(state)[index]))
        actions = " ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
        return GameError(
            self._path, "apply", f"leads back to an earlier state after {counted(len(loop), 'action')}: {actions}"
        )


# Values of all states of a game, from the ends of matches back to its start.
#
# It uses nothing but the public interface of a game, so it is slow and general: the twin against which every fast
# solver is checked, and the way to solve a game from outside.


class Retrograde:
    """The value of every state of a game for two, by number."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self.values = [0] * len(graph)
        for number in graph.order:
            self.values[number] = self._value(number)

    def _value(self, number: int) -> int:
        seat = self.graph.seats[number]
        if seat == IS_OVER:
            end = self.graph.ends[number]
            return value_of(end.scores, end.ranks)
        values = (self.values[after] for after in self.graph.following(number))
        return max(values) if seat == 0 else min(values)

    def value(self, state: Any) -> int | None:
        """Return the value of a state; None for one that is not in the graph."""
        number = self.graph.numbers.get(state)
        return None if number is None else self.values[number]

    def items(self) -> Iterator[tuple[Any, int]]:
        """Yield the states with their values."""
        return ((state, self.values[number]) for state, number in self.graph.numbers.items())


def shares_of(graph: StateGraph, players: int) -> list[Shares]:
    """Return, by state, each seat's share of rivals beaten, a tie counting half, when every seat plays for its own.

    This is max^n with ``TIE_RULE``; with another rule for ties the shares may be others.
    """
    points: list[tuple[int, ...]] = [()] * len(graph)
    for number in graph.order:
        seat = graph.seats[number]
        if seat == IS_OVER:
            points[number] = points_of(graph.ends[number].ranks)
        else:
            following = [points[after] for after in graph.following(number)]
            points[number] = max(following, key=lambda after: after[seat])
    return [tuple(seat_points / (2 * (players - 1)) for seat_points in seats) for seats in points]


def paranoid_of(graph: StateGraph, players: int, numbers: Sequence[int] = (0,)) -> list[Shares]:
    """Return the share of rivals beaten that each seat can hold against all others together, in some of the states."""
    held = [_held_by(graph, seat) for seat in range(players)]
    return [tuple(of_seat[number] / (2 * (players - 1)) for of_seat in held) for number in numbers]


def _held_by(graph: StateGraph, mine: int) -> list[int]:
    held = [0] * len(graph)
    for number in graph.order:
        seat = graph.seats[number]
        if seat == IS_OVER:
            held[number] = points_of(graph.ends[number].ranks)[mine]
        else:
            values = (held[after] for after in graph.following(number))
            held[number] = max(values) if seat == mine else min(values)
    return held
