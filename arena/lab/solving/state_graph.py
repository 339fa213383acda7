"""All states of a game that can be reached, found level by level through the public interface of a game.

A game from outside is not trusted: a cycle, a match that never ends, a state that is no value, and scores that are not
those of the state are named as mistakes of the game, and no value is computed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.base.errors import GameError
from arena.base.text import counted
from arena.games.game import Game
from arena.lab.solving.limits import Limits
from arena.lab.solving.state_check import StateCheck
from arena.lab.solving.state_count import bytes_per_state

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

    Attributes:
        numbers: the number of each state.
        seats: by number, the seat to act; ``IS_OVER`` where the match has ended.
        ends: by number, how a match ends there.
        order: all numbers, each after those that follow it.
    """

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.seats = array("b")
        self.ends: dict[int, End] = {}
        self.order: Sequence[int] = ()
        self._first = array("q", [0])
        self._following = array("q")

    def __len__(self) -> int:
        return len(self.seats)

    @property
    def edges(self) -> int:
        """How many actions there are in all states together."""
        return len(self._following)

    def following(self, number: int) -> Sequence[int]:
        """Return the numbers of the states after each legal action."""
        return self._following[self._first[number] : self._first[number + 1]]

    def add(self, seat: int, following: Sequence[int]) -> None:
        """Add what follows the next state."""
        self.seats.append(seat)
        self._following.extend(following)
        self._first.append(len(self._following))


def explore(game: Game[Any], path: str, limits: Limits, start: Any = None) -> StateGraph:
    """Return all states that can be reached.

    Args:
        game: the rules; one from outside comes from ``checked_game``.
        path: its name or dotted path.
        limits: the time and the memory.
        start: from where; by default the initial state.

    Raises:
        GameError: if the rules contradict themselves.
        TimeIsUpError: at the deadline.
        TooLargeError: when the states fill the memory.
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
        self._limits.check_time()
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
        """Return the number of a state, which is the next one for a state that is new."""
        known = len(self._states)
        try:
            number = self._graph.numbers.setdefault(state, known)
        except TypeError as error:
            raise self._check.no_value(f"{type(state).__name__} can't be hashed") from error
        if number == known:
            self._states.append(state)
        else:
            self._check.check_equal(self._states[number], state)
        return number

    def _sorted(self) -> Sequence[int]:
        """Return all numbers, each after those that follow it, where states are reached by matches of unequal length.

        Raises:
            GameError: if a state follows itself.
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
                raise self._cycle([place for place, _ in path], after)
            elif marks[after] == unseen:
                marks[after] = open_
                path.append((after, iter(self._graph.following(after))))
        return order

    def _cycle(self, path: list[int], again: int) -> GameError:
        """Return the mistake of a state that follows itself; ``path`` ends with the state before it."""
        loop = path[path.index(again) :]
        texts = []
        for number, after in zip(loop, [*loop[1:], again], strict=True):
            state = self._states[number]
            place = list(self._graph.following(number)).index(after)
            texts.append(self._game.format_action(self._game.legal_actions(state)[place]))
        shown = " ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
        return GameError(
            self._path, "apply", f"leads back to an earlier state after {counted(len(loop), 'action')}: {shown}"
        )
