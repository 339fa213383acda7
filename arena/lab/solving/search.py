"""Principal variation search with a transposition table: proved bounds of a value, better the deeper it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from arena.games.differences import Differences
from arena.games.game import Game
from arena.games.multiplication import Multiplication
from arena.games.plusminus import Plusminus
from arena.lab.solving.limits import Limits, TimeIsUpError, bytes_per_state
from arena.lab.solving.positions import up_to_symmetry
from arena.lab.solving.proofs import Proof
from arena.lab.solving.worth import (
    HIGHEST,
    LOWEST,
    OUTCOME_UNIT,
    Known,
    Solution,
    ranks_follow_scores,
    value_of,
    value_of_margin,
    worth_between,
)

# How far apart the final scores of the five games can still be, from a state: bounds for a search that stops early.

Range = tuple[int, int]
"""The lowest and the highest value."""


def range_of(game: Game[Any]) -> Callable[[Any], Range]:
    """Return a function from a state in which a seat is to act to its range of values; foreign games have no bounds."""
    if isinstance(game, Multiplication):
        return lambda state: _multiplication(game, state)
    if isinstance(game, Differences | Plusminus):
        return lambda state: _between(*game.score_bounds(state))
    return lambda _state: (LOWEST, HIGHEST)


def _between(scores: Range, rivals: Range) -> Range:
    """Return the range of values where the final score of each seat lies between two numbers."""
    return value_of_margin(scores[0] - rivals[1]), value_of_margin(scores[1] - rivals[0])


def _multiplication(game: Multiplication, state: Any) -> Range:
    """Each jump that is left covers from 1 to (size - 1)² squares."""
    jumps, jumped = (game.size - 1) // game.players, max(0, len(state.numbered) - 1)
    left = [jumps - len(range((seat - game.starter) % game.players, jumped, game.players)) for seat in range(2)]
    largest = (game.size - 1) ** 2
    first, second = (
        (score + more, score + largest * more) for score, more in zip(game.scores(state), left, strict=True)
    )
    return _between(first, second)


# Every state has a lower and an upper bound of its value, which are true whatever the depth: where the search stops,
# they are what the rules still allow. So nothing is estimated, and a search that is interrupted has bounds, not a
# guess.

MAX_DEPTH = 200
"""Actions looked ahead, each of which takes three calls. A match that can be longer has bounds."""

_DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, MAX_DEPTH)
"""How deep to look, one after the other; each look is ordered by what the one before has found."""

_CHECK_EVERY = 16
_MAX_FOLLOWED = 1000
"""The most actions whose states are looked up when the time is up."""

_BYTES_OF_BOUNDS = 320


class Entry(NamedTuple):
    """What is known of a state: bounds, from a search of this depth for values between ``alpha`` and ``beta``."""

    low: int
    high: int
    depth: int
    alpha: int
    beta: int

    def settles(self, depth: int, alpha: int, beta: int) -> bool:
        """Return whether another search can't say more than this one, or need not."""
        if self.low == self.high or self.low >= beta or self.high <= alpha:
            return True
        return self.depth >= depth and self.alpha <= alpha and beta <= self.beta


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Bounds of a value, how deep the search was complete, and how many states it visited, repetitions included."""

    low: int
    high: int
    depth: int
    states: int


class Search:
    """Searches one game for two; what it learns about a state stays for the next question.

    ``states`` counts visits, repetitions included.
    """

    def __init__(self, game: Game[Any], limits: Limits) -> None:
        """Search within ``limits``; when the table is full, new states are not kept."""
        self._game = game
        self.limits = limits
        self._range = range_of(game)
        self._table: dict[Any, Entry] = {}
        self._bytes_each = bytes_per_state(game) + _BYTES_OF_BOUNDS
        self._max_entries = limits.memory_bytes // self._bytes_each
        self.states = 0

    @property
    def memory_bytes(self) -> int:
        """About how much memory its table takes."""
        return len(self._table) * self._bytes_each

    def bounds(self, state: Any, alpha: int = LOWEST, beta: int = HIGHEST) -> Found:
        """Return bounds of a state's value: exact ones, or those found when the time was up.

        It is enough to know that the value is at most ``alpha`` or at least ``beta``.
        """
        low, high, complete_depth = LOWEST, HIGHEST, 0
        try:
            for depth in _DEPTHS:
                low, high = self._search(state, depth, alpha, beta)
                complete_depth = depth
                if low == high or low >= beta or high <= alpha:
                    break
        except TimeIsUpError:
            known = self.from_table(state)
            low, high = max(low, known[0]), min(high, known[1])
        return Found(low=low, high=high, depth=complete_depth, states=self.states)

    def from_table(self, state: Any) -> Range:
        """Return what is known of a state and of those after it, without searching."""
        low, high = self._known(state)
        seat = self._game.seat_to_act(state)
        actions = self._game.legal_actions(state) if seat is not None else ()
        if not 0 < len(actions) <= _MAX_FOLLOWED:
            return low, high
        after = [self._known(self._game.apply(state, action)) for action in actions]
        best = max if seat == 0 else min
        return max(low, best(one for one, _ in after)), min(high, best(one for _, one in after))

    def _known(self, state: Any) -> Range:
        entry = self._table.get(state)
        return (LOWEST, HIGHEST) if entry is None else (entry.low, entry.high)

    def _search(self, state: Any, depth: int, alpha: int, beta: int) -> Range:
        entry = self._table.get(state)
        if entry is not None and entry.settles(depth, alpha, beta):
            return entry.low, entry.high
        if self.states % _CHECK_EVERY == 0:
            self.limits.check_time(self.states)
        self.states += 1
        seat = self._game.seat_to_act(state)
        if seat is None:
            value = value_of(self._game.scores(state), self._game.ranks(state))
            return value, value
        low, high = self._range(state) if entry is None else (entry.low, entry.high)
        if depth == 0 or low >= beta or high <= alpha:
            return low, high
        after = self._ordered(state, seat)
        if seat == 0:
            best = self._best(after, depth, max(alpha, low), beta)
        else:
            negated = self._best(after, depth, max(-beta, -high), -alpha, sign=-1)
            best = -negated[1], -negated[0]
        low, high = max(low, best[0]), min(high, best[1])
        self._keep(state, Entry(low, high, depth, alpha, beta))
        return low, high

    def _best(self, states: Sequence[Any], depth: int, alpha: int, beta: int, sign: int = 1) -> Range:
        """Return the bounds of the best of several states, by their worth to seat 0 times ``sign``.

        Exact between ``alpha`` and ``beta`` if the depth allows; outside only on which side.
        """
        best_low = best_high = LOWEST
        for number, state in enumerate(states):
            floor = max(alpha, best_low)
            low, high = LOWEST, HIGHEST
            if number and floor + 1 < beta:
                low, high = self._signed(state, depth - 1, floor, floor + 1, sign)
            if high > floor and low < beta and low != high:
                low, high = self._signed(state, depth - 1, floor, beta, sign)
            best_low, best_high = max(best_low, low), max(best_high, high)
            if best_low >= beta:
                return best_low, HIGHEST  # unvisited ones may be better
        return best_low, best_high

    def _signed(self, state: Any, depth: int, alpha: int, beta: int, sign: int) -> Range:
        if sign > 0:
            return self._search(state, depth, alpha, beta)
        low, high = self._search(state, depth, -beta, -alpha)
        return -high, -low

    def _ordered(self, state: Any, seat: int) -> list[Any]:
        game = self._game
        states = []
        for number, action in enumerate(game.legal_actions(state)):
            if number % _CHECK_EVERY == _CHECK_EVERY - 1:  # there may be thousands
                self.limits.check_time(self.states)
            states.append(game.apply(state, action))
        entries = [self._table.get(after) for after in states]
        if not any(entries):
            return states
        middles = [0 if entry is None else entry.low + entry.high for entry in entries]
        order = sorted(range(len(states)), key=middles.__getitem__, reverse=seat == 0)
        return [states[index] for index in order]

    def _keep(self, state: Any, entry: Entry) -> None:
        if state in self._table or len(self._table) < self._max_entries:
            self._table[state] = entry


# Solves a game by search until the deadline: first who wins, then by how much, then which actions are best.

_OUTCOME_WINDOW = -OUTCOME_UNIT // 2, OUTCOME_UNIT // 2


def search_solution(game: Game[Any], limits: Limits, proof: Proof, bare: Solution) -> Solution:
    """Complete a bare solution by a proof, and by what a search finds until the deadline or Ctrl-C."""
    start = game.initial_state()
    search = Search(game, limits)
    low, high = proof.low, proof.high
    depth, is_interrupted = 0, False
    try:
        for alpha, beta in (_OUTCOME_WINDOW, (LOWEST, HIGHEST)):
            if low < high:
                found = search.bounds(start, max(alpha, low), min(beta, high))
                low, high, depth = max(low, found.low), min(high, found.high), max(depth, found.depth)
    except KeyboardInterrupt:
        is_interrupted, known = True, search.from_table(start)
        low, high = max(low, known[0]), min(high, known[1])
    is_proof = (low, high) == (proof.low, proof.high) and bool(proof.names)
    worth = worth_between(low, high, Known.PROVED if is_proof else Known.SEARCH, ranks_follow_scores(game))
    best, has_all = (
        _best_actions(game, bare.game, search, low) if worth.is_exact and not is_interrupted else ((), False)
    )
    return replace(
        bare,
        worth=worth,
        best=best,
        has_all_best=has_all,
        states=search.states,
        memory_bytes=search.memory_bytes,
        depth=depth,
        is_interrupted=is_interrupted,
    )


def _best_actions(game: Game[Any], path: str, search: Search, value: int) -> tuple[tuple[Any, ...], bool]:
    """Return the first actions that keep the value, and whether the others are shown not to."""
    start = game.initial_state()
    best, has_all = [], True
    is_first = game.seat_to_act(start) == 0
    firsts = dict(actions_and_states(game, start))
    for action in up_to_symmetry(game, path, tuple(firsts)):
        if is_first:
            found = search.bounds(firsts[action], value - 1, value)
            keeps, loses = found.low >= value, found.high < value
        else:
            found = search.bounds(firsts[action], value, value + 1)
            keeps, loses = found.high <= value, found.low > value
        if keeps:
            best.append(action)
        has_all = has_all and (keeps or loses)
    return tuple(best), has_all


def actions_and_states(game: Game[Any], state: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the legal actions of a state, and the states after them."""
    if not game.is_over(state):
        for action in game.legal_actions(state):
            yield action, game.apply(state, action)
