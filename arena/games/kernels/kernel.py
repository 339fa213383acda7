"""A kernel: a game's rules in C, called from Python with states and options as numbers."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

from arena.base.errors import KernelError
from arena.base.results import points_of
from arena.games import ChoiceOption, Game
from arena.games.coprimality import CoprimalityState
from arena.games.differences import DifferencesState
from arena.games.game import Space
from arena.games.multiplication import MultiplicationState
from arena.games.plaid import PlaidState
from arena.games.plusminus import SIGNS, PlusminusState

# States, options and actions as the numbers that kernels take.

_SIGN_NUMBERS = {" ": 0, **{sign: number for number, sign in enumerate(SIGNS, 1)}}


def option_numbers(game: Game[Any]) -> list[int]:
    """Return the options in the order of the game's table; of a choice, which one it is."""
    return [
        option.choices.index(game.options[option.name])
        if isinstance(option, ChoiceOption)
        else game.options.get(option.name, option.default)
        for option in game.OPTIONS
    ]


def state_numbers(game: Game[Any], state: Any) -> list[int]:
    """Return a state as ``pack`` in the game's C file does."""
    return _ENCODERS[game.name](game, state)


def plaid_state(game: Game[Any], lines: Sequence[int]) -> PlaidState:
    """Return the state of plaid in which these lines, as numbers, are drawn."""
    first_level = game.options["width"] - 1
    return PlaidState(
        tuple(line + 1 for line in lines if line < first_level),
        tuple(line - first_level + 1 for line in lines if line >= first_level),
    )


def _plusminus(game: Game[Any], state: PlusminusState) -> list[int]:
    lists = [signs.ljust(game.options["size"] - 1) for signs in state.predictions]
    return [*(_SIGN_NUMBERS[sign] for signs in lists for sign in signs), *state.heights]


def _plaid(game: Game[Any], state: PlaidState) -> list[int]:
    first_level = game.options["width"] - 1
    return [*(x - 1 for x in state.vertical), *(first_level + y - 1 for y in state.horizontal)]


def _coprimality(game: Game[Any], state: CoprimalityState) -> list[int]:
    size = game.options["size"]
    by_column = [number for x in range(size) for number in state.numbers[x::size]]
    y, x = divmod(state.here, size)
    return [*by_column, x * size + y, state.turn, state.seat, state.grids_used, *state.eliminated]


def _differences(_: Game[Any], state: DifferencesState) -> list[int]:
    return list(state.heights)


def _multiplication(_: Game[Any], state: MultiplicationState) -> list[int]:
    return [*state.heights, *state.numbered]


_ENCODERS: Mapping[str, Callable[[Game[Any], Any], list[int]]] = {
    "plusminus": _plusminus,
    "plaid": _plaid,
    "coprimality": _coprimality,
    "differences": _differences,
    "multiplication": _multiplication,
}

KERNEL_NAMES = tuple(_ENCODERS)
"""The games that have a kernel."""


# A kernel: a game's rules in C, with one state, called from Python.

_PLAYOUTS_A_CALL = 100_000
"""A call can't be interrupted: this many take a second at most, but for the largest boards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A random playout: of each ply seat, number of legal actions, and index of the action in the game's space."""

    plies: tuple[tuple[int, int, int], ...]
    scores: tuple[float, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutTotals:
    """Sums over random playouts; ``ranked[seat][rank - 1]`` is how often a seat had a rank."""

    played: int
    plies: int
    ranked: tuple[tuple[int, ...], ...]
    score_sums: tuple[float, ...]


DRAWN, LEAD, ACTIONS, LEGAL, FORCED = range(-5, 0)
"""The places of what ``observed`` returns after the points of the seats."""


def observed(scores: Sequence[float], ranks: Sequence[int], choices: Sequence[int]) -> tuple[float, ...]:
    """Return what a profile sums of a match, from its end and the number of legal actions before each action.

    The points of each seat; whether the first rank is shared; the lead of the first; actions; legal and forced ones.
    """
    top, second = sorted(scores, reverse=True)[:2]
    return (
        *(points_of(ranks, seat) for seat in range(len(ranks))),
        float(ranks.count(1) > 1),
        float(top - second),
        float(len(choices)),
        float(sum(choices)),
        float(choices.count(1)),
    )


@dataclass(slots=True)
class Profile:
    """Sums over ``n`` matches of what ``observed`` returns, of its squares, and of its products with the actions.

    ``added`` counts the matches that were added one by one, because the rules in Python had to judge them.
    """

    n: int
    sums: list[float]
    squares: list[float]
    products: list[float]
    added: int = 0

    @classmethod
    def of(cls, players: int, seen: Iterable[Sequence[float]] = ()) -> Profile:
        """Sum what was observed of each match."""
        sums, squares, products = ([0.0] * (players + 5) for _ in range(3))
        profile = cls(0, sums, squares, products)
        for values in seen:
            profile.add(values)
        return profile

    def add(self, values: Sequence[float]) -> None:
        """Add what was observed of a match."""
        self.n += 1
        self.added += 1
        for place, value in enumerate(values):
            self.sums[place] += value
            self.squares[place] += value * value
            self.products[place] += value * values[ACTIONS]

    def include(self, other: Profile) -> None:
        """Add the sums over other matches."""
        self.n += other.n
        self.added += other.added
        for mine, added in ((self.sums, other.sums), (self.squares, other.squares), (self.products, other.products)):
            mine[:] = map(add, mine, added)


class Kernel:
    """The rules of a game in C, and a state, at first the initial one; for one thread at a time.

    ``first_plies`` is the size of the buffer of a trace; longer playouts are traced again in a larger one.
    """

    def __init__(self, library: ctypes.CDLL, game: Game[Any]) -> None:
        space = game.space()
        assert isinstance(space, Space)  # each of the five games has one
        self.game = game
        self.first_plies = 4096
        self._library = library
        self._actions = space.actions
        self._index = {action: index for index, action in enumerate(space.actions)}
        options = option_numbers(game)
        self._handle = library.kernel_new((ctypes.c_int32 * len(options))(*options))
        if not self._handle:
            raise KernelError(f"the kernel of {game.name} does not take {game.options}, or there is no memory")
        weakref.finalize(self, library.kernel_delete, self._handle)
        self._numbers = (ctypes.c_int32 * library.kernel_max_packed())()
        self._codes = (ctypes.c_int32 * len(space.actions))()
        self._scores = (ctypes.c_double * game.players)()
        self._ranks = (ctypes.c_int32 * game.players)()

    def start(self) -> None:
        """Go to the initial state."""
        self._library.kernel_start(self._handle)

    def set_state(self, state: Any) -> None:
        """Go to a state of the rules in Python."""
        numbers = state_numbers(self.game, state)
        self._numbers[: len(numbers)] = numbers
        self._library.kernel_unpack(self._handle, self._numbers, len(numbers))

    def numbers(self) -> list[int]:
        """Return the state as numbers: the same as ``state_numbers`` of the rules' state."""
        count = self._library.kernel_pack(self._handle, self._numbers)
        return list(self._numbers[:count])

    def seat_to_act(self) -> int | None:
        """Return the seat to act, or None when the match is over."""
        seat: int = self._library.kernel_seat_to_act(self._handle)
        return None if seat < 0 else seat

    def legal_actions(self) -> list[Any]:
        """Return the legal actions, in the order of the rules."""
        count = self._library.kernel_count_actions(self._handle)
        if not 0 <= count <= len(self._actions):
            raise KernelError(f"the kernel of {self.game.name} has {count} legal actions of {len(self._actions)}")
        self._library.kernel_actions(self._handle, self._codes)
        return [self._actions[code] for code in self._codes[:count]]

    def make(self, action: Any) -> bool:
        """Make an action; return False, without a change, if it is not legal."""
        return bool(self._library.kernel_make(self._handle, self._index[action]))

    def unmake(self) -> None:
        """Take back the last action that was made; only once."""
        self._library.kernel_unmake(self._handle)

    def result(self) -> tuple[tuple[float, ...], tuple[int, ...] | None]:
        """Return scores and ranks; None for ranks that the rules in Python have to decide (near ties of plaid)."""
        is_decided = self._library.kernel_result(self._handle, self._scores, self._ranks)
        return tuple(self._scores), tuple(self._ranks) if is_decided else None

    def trace(self, seed: int, index: int, opening: Sequence[Any] = ()) -> Trace:
        """Play random playout number ``index`` of a seed from an opening on, and stay at its end."""
        limit = self.first_plies
        while True:
            plies = (ctypes.c_int32 * (3 * limit))()
            self._begin(opening)
            count = self._library.kernel_trace(self._handle, seed, index, plies, limit)
            if count <= limit:
                break
            limit = count
        numbers = plies[: 3 * count]
        triples = tuple(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
        scores, ranks = self.result()
        return Trace(plies=triples, scores=scores, ranks=ranks or self._ranks_after(opening, triples))

    def _begin(self, opening: Sequence[Any]) -> None:
        self.start()
        for action in opening:
            self.make(action)

    def _ranks_after(self, opening: Sequence[Any], plies: tuple[tuple[int, int, int], ...]) -> tuple[int, ...]:
        """Return the ranks by the rules, which compare sums of square roots exactly."""
        state = self.game.initial_state()
        for action in (*opening, *(self._actions[code] for _, _, code in plies)):
            state = self.game.apply(state, action)
        return self.game.ranks(state)

    def playouts(self, seed: int, first: int, count: int, opening: Sequence[Any] = ()) -> PlayoutTotals:
        """Play random playouts ``first``, ``first + 1``, … of a seed from an opening on, of legal actions."""
        players = self.game.players
        ranked = (ctypes.c_int64 * (players * players))()
        sums = (ctypes.c_double * players)()
        plies = ctypes.c_int64()
        play = self._library.kernel_playouts
        for undecided in self._undecided(play, seed, first, count, opening, ranked, sums, plies):
            played = self.trace(seed, undecided, opening)
            plies.value += len(played.plies)
            for seat, (score, rank) in enumerate(zip(played.scores, played.ranks, strict=True)):
                ranked[seat * players + rank - 1] += 1
                sums[seat] += score
        return PlayoutTotals(
            played=count,
            plies=plies.value,
            ranked=tuple(tuple(ranked[seat * players : (seat + 1) * players]) for seat in range(players)),
            score_sums=tuple(sums),
        )

    def profile(self, seed: int, first: int, count: int) -> Profile:
        """Play random playouts ``first``, ``first + 1``, … of a seed, and return what they are like."""
        profile = Profile.of(self.game.players)
        sums = [(ctypes.c_double * len(profile.sums))() for _ in range(3)]
        for undecided in self._undecided(self._library.kernel_profile, seed, first, count, (), *sums):
            played = self.trace(seed, undecided)
            profile.add(observed(played.scores, played.ranks, [choices for _, choices, _ in played.plies]))
        profile.include(Profile(count - profile.n, list(sums[0]), list(sums[1]), list(sums[2])))
        return profile

    def _undecided(
        self, play: Any, seed: int, first: int, count: int, opening: Sequence[Any], *totals: Any
    ) -> Iterator[int]:
        """Play, and yield each playout whose ranks the rules have to decide, which is not yet in the totals."""
        index, end = first, first + count
        while index < end:
            self._begin(opening)
            requested = min(end - index, _PLAYOUTS_A_CALL)
            played = play(self._handle, seed, index, requested, *totals)
            index += played
            if played < requested:
                yield index
                index += 1

    def lines(self, depth: int) -> int:
        """Return the number of sequences of ``depth`` legal actions from the state; of 1 or more."""
        count: int = self._library.kernel_lines(self._handle, depth)
        return count
