"""How matches begin: what openings are worth, and the tree of first actions with its results and worths."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count, takewhile
from math import hypot
from typing import Any

from arena.base.definition import Definition
from arena.base.enums import OpeningChoice
from arena.base.errors import KernelError, UsageError
from arena.base.text import counted, short_size_text
from arena.games.game import Game
from arena.games.kernels.loading import has_kernel, has_solver, is_built, solver_of
from arena.games.kernels.playouts import BATCHES, PLAYOUTS, PlayoutMargin, playout_margin
from arena.games.kernels.slips import MOST_STATES, least_states, slip_encounters
from arena.games.plusminus import Plusminus
from arena.lab.oracle import Oracle
from arena.lab.solving.kernel_values import MAX_TABLE_BYTES
from arena.lab.solving.limits import FEW_STATES, Limits, count_states, free_memory_bytes, memory_text, states_text
from arena.lab.solving.positions import symmetries_of
from arena.lab.solving.proofs import proof_of
from arena.lab.solving.worth import OUTCOMES, Outcome, Worth
from arena.ratings.distributions import t_quantile
from arena.store.results.rows import as_json

# What openings are worth before the bots begin: how many are won by either seat with best play, and how many drawn.

_MOST_STATES_BY_RULES = 5_000
"""The most states after an opening to solve without a kernel, which takes less than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningBalance:
    """How many openings seat 0 wins, draws and loses with best play."""

    openings: int
    won: int
    drawn: int
    lost: int

    @property
    def known(self) -> int:
        """Of how many openings it is known who wins."""
        return self.won + self.drawn + self.lost


def opening_balance(game: Game[Any], path: str, openings: Iterable[Sequence[Any]], deadline: float) -> OpeningBalance:
    """Return what openings of a game for two are worth, by a deadline of ``time.monotonic``."""
    outcomes = list(_outcomes(game, path, openings, deadline))
    counts = Counter(outcomes)
    return OpeningBalance(
        openings=len(outcomes), won=counts[Outcome.WIN], drawn=counts[Outcome.DRAW], lost=counts[Outcome.LOSS]
    )


def _outcomes(
    game: Game[Any], path: str, openings: Iterable[Sequence[Any]], deadline: float
) -> Iterator[Outcome | None]:
    """Yield how matches end from each opening on; None where that is not known in time."""
    is_fast = isinstance(game, Game) and has_kernel(game) and is_built(game)
    most_states = MOST_STATES if is_fast else _MOST_STATES_BY_RULES
    oracle = Oracle(game, path, Limits(deadline=deadline))
    for opening in openings:
        if time.monotonic() >= deadline:
            yield None
            continue
        solved = None
        if most_states:
            solved = slip_encounters(game, opening, seed=0, count=0, slips_permille=(0, 0), most_states=most_states)
        if solved is not None:
            yield OUTCOMES[solved.outcome]
        else:
            most_states = 0
            yield oracle.worth(reduce(game.apply, opening, game.initial_state())).outcome


def judged_margins(game: Game[Any], openings: Iterable[Sequence[Any]], deadline: float) -> list[PlayoutMargin]:
    """Return the margin of random playouts from each opening, until a deadline of ``time.monotonic``.

    Without a kernel the list is empty: by the rules in Python it would take minutes.
    """
    if not (has_kernel(game) and is_built(game)):
        return []
    in_time = takewhile(lambda _: time.monotonic() < deadline, enumerate(openings))
    return [playout_margin(game, opening, number) for number, opening in in_time]


# What the openings of a tournament are worth, as text.

_CHOSEN = {OpeningChoice.INFORMATION: " of those that tell most", OpeningChoice.BOOK: " of the book"}


def opening_sentence(definition: Definition, game: int, balance: OpeningBalance) -> str:
    """Return how many of the openings of a game are decided before the bots begin."""
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    if not balance.known:
        return f"openings{where}: who wins {counted(balance.openings, 'opening')} is not found out in time (--within)"
    chosen = _CHOSEN[definition.openings[game].choose] if definition.openings else ""
    share = (balance.won + balance.lost) / balance.known
    of_all = f" of {balance.openings:,}" if balance.known < balance.openings else ""
    drawn = "1 is a draw" if balance.drawn == 1 else f"{balance.drawn:,} are draws"
    return (
        f"openings{where}: {100 * share:.0f} %{chosen} are won before the bots begin (n = {balance.known:,}{of_all}:"
        f" {balance.won:,} by seat 0, {balance.lost:,} by seat 1; {drawn})"
    )


def judged_sentence(definition: Definition, game: int, openings: int, margins: Sequence[PlayoutMargin]) -> str:
    """Describe openings that random playouts have chosen, from the margins that there was time for."""
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    chosen = f"openings{where}: chosen by random playouts, as too many states follow them to be solved"
    if not margins:
        return f"{chosen}; how far those end apart is not found out in time (--within)"
    mean = sum(margin.mean for margin in margins) / len(margins)
    error = hypot(*(margin.error for margin in margins)) / len(margins)
    lowest, highest = (find(margins, key=lambda margin: margin.mean) for find in (min, max))
    of_all = f" of {openings:,}" if len(margins) < openings else ""
    return (
        f"{chosen}; in {PLAYOUTS:,} playouts from each (n = {len(margins):,}{of_all}) seat 0 is ahead by"
        f" {_margin(mean, error)} points in the mean, from single openings by {_margin(lowest.mean, lowest.error)} to"
        f" {_margin(highest.mean, highest.error)}; this is judged, and not what they are worth with best play"
    )


def _margin(mean: float, error: float) -> str:
    return f"{mean:+z.2f} (± {t_quantile(BATCHES - 1, 0.975) * error:.2f})"


# The tree of a game's first actions: what each line is worth, and what came of it in the matches of a tournament.

MAX_PLIES = 10
MAX_LINES = 20_000
"""The most lines of a tree."""

Line = tuple[Any, ...]

_QUESTIONS = 4
"""The first questions, for which tables may be made, take at most this part of the time each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMatch:
    """The actions of a match from the first one on, and the ranks of its seats."""

    actions: Sequence[Any]
    ranks: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What came of a line in matches, for seat 0."""

    played: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0

    def plus(self, ranks: Sequence[int]) -> Results:
        """Return it with another match."""
        rivals = [rank for seat, rank in enumerate(ranks) if seat]
        return Results(
            played=self.played + 1,
            won=self.won + (ranks[0] < min(rivals)),
            drawn=self.drawn + (ranks[0] == min(rivals)),
            lost=self.lost + (ranks[0] > min(rivals)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredLine:
    """A line of play, one for all that are the same by symmetry, and those that continue it.

    ``worth`` is that of the ``state`` after it, and ``is_best`` tells whether the last action keeps the value; both are
    None where unknown. ``results`` are those of the matches that began with the line.
    """

    actions: Line
    state: Any
    worth: Worth | None
    is_best: bool | None
    results: Results
    after: tuple[ExploredLine, ...] = ()

    def all_lines(self) -> Iterator[ExploredLine]:
        """Yield it, and after it those that continue it."""
        yield self
        for line in self.after:
            yield from line.all_lines()


class Explorer:
    """Explores the first actions of a game for two."""

    def __init__(self, game: Game[Any], path: str, matches: Iterable[PlayedMatch], plies: int, within_seconds: float):
        """Prepare the tree of a game for two (UsageError for others); ``within_seconds`` bounds the search."""
        self._game = game
        self._plies = plies
        self._maps = symmetries_of(game, path)
        self._deadline = time.monotonic() + within_seconds
        limits = Limits(deadline=self._deadline, memory_bytes=free_memory_bytes())
        self._oracle = Oracle(game, path, limits, within_seconds=within_seconds / _QUESTIONS)
        self.matches = 0
        self._results: dict[str, Results] = {}
        for match in matches:
            self.matches += 1
            for ply in range(1, min(plies, len(match.actions)) + 1):
                key = self._key(tuple(match.actions[:ply]))
                self._results[key] = self._results.get(key, Results()).plus(match.ranks)

    def _key(self, line: Line) -> str:
        return min(map(as_json, (line, *(tuple(map(action_map, line)) for action_map in self._maps))))

    def lines(self) -> tuple[ExploredLine, ...]:
        """Return the first actions, each with the lines that continue it; UsageError if the tree is too large.

        With matches it has what they played and the best actions, else all actions. Of a state, the most played come
        first, then the best.
        """
        start = self._game.initial_state()
        if not self.matches:
            self._tree((), start, count(1), lambda _state: {})  # too large is known before anything is solved
        return self._tree((), start, count(1), self._worths)

    def _tree(
        self, line: Line, state: Any, numbers: Iterator[int], worths_of: Callable[[Any], Mapping[Any, Worth]]
    ) -> tuple[ExploredLine, ...]:
        if len(line) == self._plies or self._game.is_over(state):
            return ()
        after = self._after(line, state, worths_of(state))
        for _, number in zip(after, numbers, strict=False):
            if number > MAX_LINES:
                raise UsageError(
                    f"--plies {self._plies}: the tree has more than {MAX_LINES:,} lines; expected fewer plies"
                )
        trees = (self._tree(following.actions, following.state, numbers, worths_of) for following in after)
        return tuple(replace(following, after=tree) for following, tree in zip(after, trees, strict=True))

    def _after(self, line: Line, state: Any, worths: Mapping[Any, Worth]) -> list[ExploredLine]:
        seat = self._game.seat_to_act(state) or 0
        is_known = all(worth.is_exact for worth in worths.values())
        best = max((worth.order_for(seat) for worth in worths.values()), default=None) if is_known else None
        lines: dict[str, ExploredLine] = {}
        for action in self._game.legal_actions(state):
            longer, worth = (*line, action), worths.get(action)
            key = self._key(longer)
            results = self._results.get(key, Results())
            is_best = None if best is None or worth is None else worth.order_for(seat) == best
            if key not in lines and (not self.matches or results.played or is_best):
                after = self._game.apply(state, action)
                lines[key] = ExploredLine(actions=longer, state=after, worth=worth, is_best=is_best, results=results)
        return sorted(lines.values(), key=lambda line: (-line.results.played, not line.is_best))

    def _worths(self, state: Any) -> dict[Any, Worth]:
        if time.monotonic() >= self._deadline:
            return {}
        return {choice.action: choice.worth for choice in self._oracle.actions(state)}


# Whether the first lines of a board can be solved at all, from numbers of states alone, before anything is solved.

_MOST_FOLLOWING = 10**9
"""With more, no search comes to its end in a time for which anybody waits."""


def beyond_reach_reason(game: Game[Any], path: str, plies: int, memory_bytes: int) -> str:
    """Return why nothing can be solved from ``plies`` actions on; empty if something may be.

    The kernel of a game with more than a few states is built if something may be: what solves the lines uses it.
    """
    states = count_states(game, path) if has_solver(game) else None
    if states is None or states <= FEW_STATES:
        return ""
    state = game.initial_state()
    for _ in range(plies):
        if game.is_over(state):
            return ""
        state = game.apply(state, game.legal_actions(state)[0])
    if game.is_over(state):
        return ""
    proof = proof_of(game, path, state)
    after = least_states(game, plies) or 0
    is_too_much = after > _MOST_FOLLOWING and proof.low != proof.high
    room = min(MAX_TABLE_BYTES, memory_bytes)
    has_byte_a_state = not isinstance(game, Plusminus)  # whose table before the signs stand has none of the grids
    needed_bytes = after if is_too_much and has_byte_a_state else _table_bytes(game, state) or after
    if not is_too_much or needed_bytes <= room:
        return ""
    options = ", ".join(f"{name} = {value!r}" for name, value in game.options.items())
    return (
        f"{path} with {options}: {states_text(after)} follow {counted(plies, 'action')}, a table of them takes"
        f" {memory_text(needed_bytes)}, and {short_size_text(room)} may be used"
    )


def _table_bytes(game: Game[Any], state: Any) -> int:
    try:
        kernel = solver_of(game)
    except KernelError:
        return 0
    kernel.set_state(state)
    plan = kernel.table_plan()
    return plan.memory_bytes if plan is not None else 0
