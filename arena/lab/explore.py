"""The tree of a game's first actions: what each line is worth, and what came of it in the matches of a tournament."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.errors import UsageError
from arena.games.game import Game
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits, free_memory_bytes
from arena.lab.solving.positions import symmetries_of
from arena.lab.solving.worth import Worth

MAX_PLIES = 10
MAX_LINES = 20_000
"""Of a tree."""

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
    """A line of play, one for all that are the same by symmetry.

    ``seat`` made the last action, ``worth`` is that of the state after it, and ``is_best`` tells whether the last
    action keeps the value; both are None where unknown. ``results`` are those of the matches that began with the line.
    """

    actions: Line
    seat: int
    worth: Worth | None
    is_best: bool | None
    results: Results


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
        self._results = self._counted(matches)

    def _counted(self, matches: Iterable[PlayedMatch]) -> Mapping[str, Results]:
        counted: dict[str, Results] = {}
        for match in matches:
            self.matches += 1
            for ply in range(1, min(self._plies, len(match.actions)) + 1):
                key = self._key(tuple(match.actions[:ply]))
                counted[key] = counted.get(key, Results()).plus(match.ranks)
        return counted

    def _key(self, line: Line) -> str:
        return min(map(repr, (line, *(tuple(map(one, line)) for one in self._maps))))

    def lines(self) -> list[ExploredLine]:
        """Return the tree, each line before those that continue it; UsageError if it is too large.

        With matches it has what they played and the best actions, else all actions. Of a state, the most played come
        first, then the best.
        """
        if not self.matches:
            self._tree(lambda _state: {})  # whether it is too large is known before anything is solved
        return list(self._in_order(self._tree(self._worths)))

    def _tree(self, worths_of: Callable[[Any], Mapping[Any, Worth]]) -> list[ExploredLine]:
        found: list[ExploredLine] = []
        waiting: list[tuple[Line, Any]] = [((), self._game.initial_state())]
        while waiting:
            line, state = waiting.pop()
            after = self._after(line, state, worths_of)
            found.extend(after)
            if len(found) > MAX_LINES:
                raise UsageError(
                    f"--plies {self._plies}: the tree has more than {MAX_LINES:,} lines; expected fewer plies"
                )
            if len(line) + 1 < self._plies:
                waiting += [(one.actions, self._game.apply(state, one.actions[-1])) for one in after]
        return found

    def _after(self, line: Line, state: Any, worths_of: Callable[[Any], Mapping[Any, Worth]]) -> list[ExploredLine]:
        seat = self._game.seat_to_act(state)
        if seat is None:
            return []
        worths = worths_of(state)
        best = _best(seat, list(worths.values()))
        kept: dict[str, ExploredLine] = {}
        for action in self._game.legal_actions(state):
            longer, worth = (*line, action), worths.get(action)
            key = self._key(longer)
            results = self._results.get(key, Results())
            is_best = None if best is None or worth is None else best(worth)
            if key not in kept and (not self.matches or results.played or is_best):
                kept[key] = ExploredLine(actions=longer, seat=seat, worth=worth, is_best=is_best, results=results)
        return list(kept.values())

    def _worths(self, state: Any) -> dict[Any, Worth]:
        if time.monotonic() >= self._deadline:
            return {}
        return {one.action: one.worth for one in self._oracle.actions(state)}

    @staticmethod
    def _in_order(found: Sequence[ExploredLine]) -> Iterator[ExploredLine]:
        after: dict[Line, list[ExploredLine]] = {}
        for one in found:
            after.setdefault(one.actions[:-1], []).append(one)
        for lines in after.values():
            lines.sort(key=lambda one: (-one.results.played, not one.is_best))
        waiting = after.get((), [])[::-1]
        while waiting:
            one = waiting.pop()
            yield one
            waiting += after.get(one.actions, [])[::-1]


def _best(seat: int, worths: Sequence[Worth]) -> Callable[[Worth], bool] | None:
    if not worths or not all(worth.is_exact for worth in worths):
        return None
    sign = 1 if seat == 0 else -1
    rank = {"win": 1, "draw": 0, "loss": -1}

    def value(worth: Worth) -> tuple[float, float]:
        return sign * rank[str(worth.outcome)], sign * (worth.margin or 0)

    top = max(map(value, worths))
    return lambda worth: value(worth) == top


def first_of_each_state(lines: Sequence[ExploredLine], most: int) -> Iterator[tuple[ExploredLine, int]]:
    """Yield ``most`` lines that continue each one, with 0, and then the first of the others, with their number."""
    siblings = Counter(one.actions[:-1] for one in lines)
    passed: Counter[Line] = Counter()
    hidden: set[Line] = set()
    for one in lines:
        before = one.actions[:-1]
        if before in hidden:
            hidden.add(one.actions)
            continue
        place = passed[before]
        passed[before] += 1
        if place >= most:
            hidden.add(one.actions)
        if place <= most:
            yield one, siblings[before] - most if place == most else 0
