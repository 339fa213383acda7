"""Principal variation search with a transposition table: proved bounds of a value, better the deeper it looks.

Every state has a lower and an upper bound of its value, which are true whatever the depth: where the search stops, they
are what the rules still allow. So nothing is estimated, and a search that is interrupted has bounds, not a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.games.game import Game
from arena.lab.solving.limits import Limits, TimeIsUpError
from arena.lab.solving.score_range import Range, range_of
from arena.lab.solving.state_count import bytes_per_state
from arena.lab.solving.worth import HIGHEST, LOWEST, value_of

MAX_DEPTH = 200
"""Actions looked ahead, each of which takes three calls. A match that can be longer has bounds."""

_DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, MAX_DEPTH)
"""How deep to look, one after the other; each look is ordered by what the one before has found."""

_CHECK_EVERY = 16
_MAX_FOLLOWED = 1000
"""Actions whose states are looked up when the time is up."""

_BYTES_OF_BOUNDS = 320


class Entry(NamedTuple):
    """What is known of a state.

    Attributes:
        low: its value is at least this.
        high: its value is at most this.
        depth: how deep it was searched.
        alpha: searched for values above this ...
        beta: ... and below this.
    """

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
    """What a search has found.

    Attributes:
        low: the value is at least this.
        high: the value is at most this.
        depth: how many actions were looked ahead completely.
        states: how many states were looked at, repetitions included.
    """

    low: int
    high: int
    depth: int
    states: int


class Search:
    """Searches one game for two; what it learns about a state stays for the next question.

    Attributes:
        limits: the time, and the memory for the table.
        states: how many states were looked at, repetitions included.
    """

    def __init__(self, game: Game[Any], limits: Limits, range_from: Callable[[Any], Range] | None = None) -> None:
        """Prepare a search.

        Args:
            game: the rules; one from outside comes from ``checked_game``.
            limits: the time, and the memory for the table; when it is full, new states are not kept.
            range_from: the range of a state's value by the rules alone; by default that of ``score_range``.
        """
        self._game = game
        self.limits = limits
        self._range = range_from or range_of(game)
        self._table: dict[Any, Entry] = {}
        self._bytes_each = bytes_per_state(game) + _BYTES_OF_BOUNDS
        self._max_entries = limits.memory_bytes // self._bytes_each
        self.states = 0

    @property
    def memory_bytes(self) -> int:
        """About how much memory its table takes."""
        return len(self._table) * self._bytes_each

    def bounds(self, state: Any, alpha: int = LOWEST, beta: int = HIGHEST) -> Found:
        """Return bounds of a state's value: exact ones, or what was found when the time was up.

        Args:
            state: the state.
            alpha: it is enough to know that the value is at most this, ...
            beta: ... or at least this.
        """
        low, high, done = LOWEST, HIGHEST, 0
        try:
            for depth in _DEPTHS:
                low, high = self._search(state, depth, alpha, beta)
                done = depth
                if low == high or low >= beta or high <= alpha:
                    break
        except TimeIsUpError:
            found = self._from_table(state)
            low, high = max(low, found[0]), min(high, found[1])
        return Found(low=low, high=high, depth=done, states=self.states)

    def _from_table(self, state: Any) -> Range:
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
        self._tick()
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
        """Return the bounds of the best of several states, by what they are worth to seat 0 times ``sign``.

        Between ``alpha`` and ``beta`` as far as the depth allows; outside of them only on which side.
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
                return best_low, HIGHEST  # those that were not looked at may be better
        return best_low, best_high

    def _signed(self, state: Any, depth: int, alpha: int, beta: int, sign: int) -> Range:
        if sign > 0:
            return self._search(state, depth, alpha, beta)
        low, high = self._search(state, depth, -beta, -alpha)
        return -high, -low

    def _ordered(self, state: Any, seat: int) -> list[Any]:
        """Return the states after each action, what is known to be good for the seat first."""
        game = self._game
        states = []
        for number, action in enumerate(game.legal_actions(state)):
            if number % _CHECK_EVERY == _CHECK_EVERY - 1:  # there may be thousands
                self.limits.check_time()
            states.append(game.apply(state, action))
        entries = [self._table.get(after) for after in states]
        if not any(entries):
            return states
        middles = [0 if entry is None else entry.low + entry.high for entry in entries]
        order = sorted(range(len(states)), key=middles.__getitem__, reverse=seat == 0)
        return [states[place] for place in order]

    def _tick(self) -> None:
        if self.states % _CHECK_EVERY == 0:
            self.limits.check_time()
        self.states += 1

    def _keep(self, state: Any, entry: Entry) -> None:
        if state in self._table or len(self._table) < self._max_entries:
            self._table[state] = entry
