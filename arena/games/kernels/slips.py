"""Encounters of two bots that slip: by the kernel where there is one, else the same by the rules.

A bot that slips plays one of the best actions, each as often, except that with a certain rate it plays any legal
action. The best actions are exact: all states after the opening are solved first. So the number of encounters that
tell two such bots apart depends on the opening alone, and ``slips.h`` and this module play the same ones from a seed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.differences import Differences
from arena.games.kernels.kernel import Kernel
from arena.games.kernels.loading import has_kernel, load
from arena.games.kernels.playouts import Generator
from arena.games.multiplication import Multiplication, MultiplicationState
from arena.games.permutation import partial_permutations
from arena.games.plaid import Plaid
from arena.games.plusminus import Plusminus

MOST_STATES = 1_000_000
"""The most states after an opening; the table of a kernel then takes 50 MiB."""

ACTIONS_PER_STATE = 16
"""With more actions than this for each possible state, there is also too much to solve."""

_PERMILLE = 1000
_PARTS = 10**9
_OUTCOME = 2**100
_TOO_MANY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SlipEncounters:
    """Encounters of two bots that slip.

    ``outcome`` and ``margin`` are seat 0's with best play from the opening on; ``counts`` has the encounters that the
    first bot ended with 0, 1, 2, 3 and 4 half points.
    """

    outcome: int
    margin: int | float
    states: int
    counts: tuple[int, ...]

    @property
    def lead(self) -> float:
        """The mean of the first bot's points in an encounter, less those of the other one, halved."""
        return sum(count * (halves - 2) / 2 for halves, count in enumerate(self.counts)) / sum(self.counts)

    @property
    def square(self) -> float:
        """The mean square of the same."""
        return sum(count * ((halves - 2) / 2) ** 2 for halves, count in enumerate(self.counts)) / sum(self.counts)


def slip_encounters(
    game: Game[Any],
    opening: Sequence[Any],
    *,
    seed: int,
    count: int,
    slips_permille: tuple[int, int],
    most_states: int = MOST_STATES,
) -> SlipEncounters | None:
    """Play ``count`` encounters of two bots from an opening that does not end the match; None above ``most_states``.

    Of 1,000 actions of each bot ``slips_permille`` are slips. A game of the package must be unchecked, to find its
    kernel.
    """
    library = load(game.name) if isinstance(game, Game) and has_kernel(game) else KernelError("no kernel")
    if isinstance(library, KernelError):
        return encounters_by_rules(game, opening, seed, count, slips_permille, most_states)
    return SlipKernel(library, game).encounters(opening, seed, count, slips_permille, most_states)


class SlipKernel(Kernel):
    """A kernel that plays the bots."""

    def encounters(
        self, opening: Sequence[Any], seed: int, count: int, slips_permille: tuple[int, int], most_states: int
    ) -> SlipEncounters | None:
        """Do what ``slip_encounters`` does; KernelError if there is no memory."""
        self._begin(opening)
        counts, margin = (ctypes.c_int64 * 5)(), ctypes.c_int64()
        states = self._library.slip_encounters(
            self._handle, most_states, seed, 0, count, *slips_permille, counts, ctypes.byref(margin)
        )
        if states == _TOO_MANY:
            return None
        if states < 0:
            raise KernelError(f"the kernel of {self.game.name} has not enough memory")
        outcome = (margin.value > 0) - (margin.value < 0)
        return SlipEncounters(outcome=outcome, margin=_points(margin.value), states=states, counts=tuple(counts))


def encounters_by_rules(
    game: Game[Any],
    opening: Sequence[Any],
    seed: int,
    count: int,
    slips_permille: tuple[int, int],
    most_states: int = MOST_STATES,
) -> SlipEncounters | None:
    """Do the same as ``slip_encounters`` by the rules in Python."""
    state = game.initial_state()
    for action in opening:
        state = game.apply(state, action)
    solved = _Solved.of(game, state, most_states)
    if solved is None:
        return None
    counts = [0] * 5
    for index in range(count):
        generator = Generator(seed, index)
        own = solved.half_points(state, slips_permille, generator)
        counts[own + 2 - solved.half_points(state, slips_permille[::-1], generator)] += 1
    value = solved.value(state)
    beyond = round(value / _OUTCOME)
    margin = value - beyond * _OUTCOME
    outcome = (margin > 0) - (margin < 0) if solved.is_by_margin else beyond
    return SlipEncounters(outcome=outcome, margin=_points(margin), states=len(solved.to_come), counts=tuple(counts))


def _points(parts: int) -> int | float:
    return parts // _PARTS if parts % _PARTS == 0 else parts / _PARTS


class _Solved:
    """Values of all states below one for seat 0, first the outcome and then the margin.

    ``to_come`` has the part of a state's value still to come, by a key with all that decides it; with ``is_by_margin``,
    outcomes follow from margins.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.to_come: dict[Hashable, int] = {}
        self._game = game
        self.is_by_margin = has_kernel(game) and isinstance(game, Multiplication)
        self._key: Callable[[Any], Hashable] = _unordered if self.is_by_margin else lambda state: state
        self._settled: Callable[[Game[Any], Any], int] = _margin_parts if self.is_by_margin else lambda _game, _state: 0

    @classmethod
    def of(cls, game: Game[Any], state: Any, most_states: int) -> _Solved | None:
        solved = cls(game)
        waiting = [(state, solved._after(state))]
        actions = len(waiting[0][1])
        while waiting:
            if actions > ACTIONS_PER_STATE * most_states or len(solved.to_come) + len(waiting) > most_states:
                return None
            now, after = waiting[-1]
            missing = next((following for following in after if not solved.is_known(following)), None)
            if missing is not None:
                waiting.append((missing, solved._after(missing)))
                actions += len(waiting[-1][1])
                continue
            waiting.pop()
            if after:
                best = max if game.seat_to_act(now) == 0 else min
                solved.to_come[solved._key(now)] = best(map(solved.value, after)) - solved._settled(game, now)
        return solved

    def _after(self, state: Any) -> list[Any]:
        return [self._game.apply(state, action) for action in self._game.legal_actions(state)]

    def is_known(self, state: Any) -> bool:
        return self._game.is_over(state) or self._key(state) in self.to_come

    def value(self, state: Any) -> int:
        game = self._game
        if not game.is_over(state):
            return self._settled(game, state) + self.to_come[self._key(state)]
        parts = _margin_parts(game, state)
        return parts if self.is_by_margin else self._outcome(state) * _OUTCOME + parts

    def _outcome(self, state: Any) -> int:
        ranks = self._game.ranks(state)
        return (ranks[0] < ranks[1]) - (ranks[1] < ranks[0])

    def half_points(self, state: Any, slips_permille: tuple[int, ...], generator: Generator) -> int:
        """Return the half points of seat 0 in a match."""
        game = self._game
        while (seat := game.seat_to_act(state)) is not None:
            after = self._after(state)
            if generator.below(_PERMILLE) >= slips_permille[seat]:
                best = self.value(state)
                after = [following for following in after if self.value(following) == best]
            state = after[generator.below(len(after))]
        return 1 + self._outcome(state)


def _unordered(state: MultiplicationState) -> Hashable:
    return state.heights, frozenset(state.numbered), state.numbered[-1:]


def _margin_parts(game: Game[Any], state: Any) -> int:
    scores = game.scores(state)
    return round((scores[0] - scores[1]) * _PARTS)


# How many states must be solved after an opening before bots that slip can play from it: counted by formulas.


def least_states(game: Game[Any], plies: int) -> int | None:
    """Return how many states in which a seat is to act follow an opening of ``plies``; of plaid, at least how many.

    None if there is no formula (coprimality, external games).
    """
    size: int = game.options.get("size", 0)
    if isinstance(game, Differences):
        return _unfinished_grids(size - plies)
    if isinstance(game, Plusminus):
        signs = 2 * (size - 1) - plies
        if signs <= 0:
            return _unfinished_grids(size + signs)
        lists = 1 << signs
        return lists - 1 + lists * _unfinished_grids(size)
    if isinstance(game, Multiplication):
        free = size - plies
        if free < 0:
            return 1 + _numberings(-free + 1, size)
        return _unfinished_grids(free) + factorial(free) * (1 + _numberings(1, size))
    if isinstance(game, Plaid):
        return _sheets(game, plies)[0]
    return None


def may_be_solved(game: Game[Any], plies: int) -> bool:
    """Return whether states and actions after an opening may be few enough; True if their number is not known."""
    states = least_states(game, plies)
    if states is None:
        return True
    actions = _sheets(game, plies)[1] if isinstance(game, Plaid) else 0  # others have few in each state
    return states <= MOST_STATES and actions <= ACTIONS_PER_STATE * MOST_STATES


def _sheets(game: Plaid, plies: int) -> tuple[int, int]:
    """Return how many sheets with fewer lines than end a match follow, and how many actions there are in them."""
    places: int = max(0, game.options["width"] + game.options["height"] - 2 - plies)
    lines: int = game.options["lines"]
    states = actions = 0
    chosen = 1  # ways to draw that many more lines; each follows from the one before, as large sheets have thousands
    for more in range(max(1, lines - plies)):
        states += chosen
        actions += chosen * (places - more)
        chosen = chosen * (places - more) // (more + 1)
    return states, actions


def _unfinished_grids(free: int) -> int:
    return partial_permutations(free) - factorial(free) if free > 0 else 0


def _numberings(numbered: int, size: int) -> int:
    """Return how many sets of marks, with the last one, follow ``numbered`` of them before all are numbered."""
    free = size - numbered
    return sum(comb(free, more) * more for more in range(1, free))
