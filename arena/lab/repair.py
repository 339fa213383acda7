"""The fairest form of a game: what it is worth under other rules and with repairs that fit every game for two."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, zip_longest
from typing import Any

import numpy as np

from arena.base.errors import KernelError, OptionError, UsageError
from arena.base.seeds import pick_below
from arena.games import make_game
from arena.games.game import Game
from arena.games.kernels.loading import solver_of
from arena.games.pie import Pie
from arena.games.plaid import Plaid
from arena.games.plusminus import Plusminus
from arena.lab.oracle import ActionWorth, Oracle
from arena.lab.solving.limits import FEW_STATES, Limits, TimeIsUpError, TooLargeError, count_states
from arena.lab.solving.state_graph import Retrograde, explore
from arena.lab.solving.tables import values_of
from arena.lab.solving.worth import Known, Outcome, Worth, worth_between

# A repair is tried by the values of the states after the first actions alone, so it costs hardly more than a solution.
#
# With a pie one player makes the first actions, and the other chooses a seat then. So the first player looks for a
# state that is worth as little as can be to either seat, and the other takes the better seat of it.

VARIATIONS: Mapping[str, Mapping[str, tuple[int | str, ...]]] = {
    "plusminus": {"grid_first": (1, 2)},
    "differences": {"scoring": ("distinct", "once")},
    "multiplication": {"second_starts": (0, 1)},
}
"""The rule options that a repair can change, with their values; the size of a board is the designer's."""

_BEGIN_SECOND = {"grid_first": 2, "second_starts": 1}
"""The options, and the value of each, by which seat 1 begins the second part."""

PIES = (1, 2)
MATCHES = 100
"""How many matches with mistakes estimate the share of draws and the ply at which a match is decided."""

MISTAKE_OF = 4
"""One action in this many is random in these matches, the others are best."""

_IN_PAIRS = ("plusminus", "plaid", "differences", "multiplication")
"""The games whose seats make marks or lines in turn; of these the first seat makes one, then each seat two in turn."""

_BY_POINTS = ("plusminus", "differences", "multiplication")
"""The games whose margins are whole points, of which a komi is made."""


_EVEN: Mapping[str, Any] = {"margin": 0, "outcome": Outcome.DRAW, "decided_at": None, "draws": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A game with options and a repair, in words of the command line; what is not known is None.

    Attributes:
        margin, outcome: of seat 0 with best play. With a pie, that is the seat that the other player may take.
        keeping_first, first: how many first actions keep this, of how many. With a pie, whichever seat it favours.
        decided_at: after how many plies no outcome changed any more, on average of matches with mistakes.
        draws: the share of draws in the same matches.
    """

    options: dict[str, Any]
    repair: str
    margin: int | float | None = None
    outcome: Outcome | None = None
    known: Known | None = None
    keeping_first: int | None = None
    first: int | None = None
    decided_at: float | None = None
    draws: float | None = None

    def order(self) -> tuple[Any, ...]:
        """Return what to sort by: what is known first, then by fairness, choice and depth."""
        if self.outcome is None or self.margin is None:
            return (True,)
        share = (self.keeping_first or 0) / max(1, self.first or 0)
        is_trivial = self.repair.startswith(("komi", "both_seats"))
        return (
            False,
            self.outcome is not Outcome.DRAW,
            abs(self.margin),
            is_trivial,
            -share,
            -(self.decided_at or 0.0),
        )


def repairs_of(game: Game[Any], path: str, within_seconds: float, memory_bytes: int) -> Iterator[Repaired]:
    """Yield the forms of a game for two with its options, as soon as each is known.

    UsageError unless it is for two. Each form has its share of the time; what is not known by then stays None.
    """
    if game.players != 2:
        raise UsageError(f"players = {game.players}: only games for two have one value that can be made fair")
    if isinstance(game, Pie):
        raise OptionError("pie", game.options["pie"], "repair tries the pie rule by itself; expected 0")
    forms = list(_forms(game, path))
    deadline = time.monotonic() + within_seconds
    for number, (form, word) in enumerate(forms):
        now = time.monotonic()
        limits = Limits(deadline=now + max(0.0, deadline - now) / (len(forms) - number), memory_bytes=memory_bytes)
        yield from _Form(form, path, word, limits).rows()


def _forms(game: Game[Any], path: str) -> Iterator[tuple[Game[Any], str]]:
    """Yield the game with its options, then with each other value of a rule option; each with the word for it."""
    yield game, ""
    for name, values in VARIATIONS.get(path, {}).items():
        current = game.options.get(name, values[0])
        for value in values:
            if value == current:
                continue
            try:
                word = "begin_second=1" if _BEGIN_SECOND.get(name) == value else f"{name}={value}"
                yield make_game(path, **{**game.options, name: value}), word
            except OptionError:
                continue


class _Form:
    """One set of rules, and the repairs of it."""

    def __init__(self, game: Game[Any], path: str, word: str, limits: Limits) -> None:
        self._game = game
        self._path = path
        self._word = word
        self._limits = limits
        without_deadline = replace(limits, deadline=float("inf"))  # else no kernel is built
        self._oracle = Oracle(game, path, without_deadline, within_seconds=max(0.0, self._left_seconds()))
        self._start = game.initial_state()

    def rows(self) -> Iterator[Repaired]:
        """Yield the form as it is, with seats exchanged in a second match, a komi, a pie, and another order."""
        worth = self._worth()
        plain = replace(self._row(""), first=len(self._game.legal_actions(self._start)))
        plain = plain if worth is None else self._valued(plain, worth)
        yield plain
        if worth is not None and worth.margin and self._path in _BY_POINTS:
            yield replace(plain, repair=self._words(f"komi={worth.margin}"), **_EVEN)
        yield replace(plain, repair=self._words("both_seats=1"), known=Known.PROVED, **_EVEN)
        for plies in PIES:
            yield self._with_pie(plain, worth, plies)
        if self._path in _IN_PAIRS:
            yield self._in_pairs()
        if self._path == "plusminus":
            yield self._row("unseen=1") if worth is None else self._unseen(plain)

    def _valued(self, plain: Repaired, worth: Worth) -> Repaired:
        """Return the form as it is with what follows from the values of the states after the first actions."""
        actions = self._exact_actions(self._start)
        if actions is None:
            return replace(plain, **_worth_fields(worth))
        keeping = sum(choice.worth.margin == worth.margin for choice in actions)
        decided_at, draws = self._play_with_mistakes([self._start])
        return replace(plain, keeping_first=keeping, decided_at=decided_at, draws=draws, **_worth_fields(worth))

    def _worth(self) -> Worth | None:
        if self._left_seconds() <= 0:
            return None
        self._oracle.prepare(self._left_seconds())
        worth = self._oracle.worth(self._start)
        return worth if worth.is_exact else None

    def _with_pie(self, plain: Repaired, worth: Worth | None, plies: int) -> Repaired:
        firsts = self._cuts(plies) if worth is not None else None
        row = replace(plain, repair=self._words(f"pie={plies}"), keeping_first=None, decided_at=None, draws=None)
        if firsts is None:
            is_even = worth is not None and worth.outcome is Outcome.DRAW and not worth.margin
            return row if is_even else self._row(f"pie={plies}")  # best play leads to such a state
        fairest = min((each for _, each in firsts), key=lambda each: (_unfairness(each), -each.order_for(0)[1]))
        # whichever seat they are good for: the other player takes that one
        cuts = [state for state, each in firsts if _unfairness(each) == _unfairness(fairest)]
        decided_at, draws = self._play_with_mistakes(cuts, plies)
        return replace(
            row,
            keeping_first=len(cuts),
            first=len(firsts),
            decided_at=decided_at,
            draws=draws,
            **_worth_fields(fairest),
        )

    def _in_pairs(self) -> Repaired:
        row = self._row("order=1221")
        try:
            value, keeping = self._solved_in_pairs()
        except (KernelError, TimeIsUpError, TooLargeError):
            return row
        worth = worth_between(value, value, Known.TABLE)
        first = len(self._game.legal_actions(self._start))
        return replace(row, keeping_first=keeping, first=first, **_worth_fields(worth))

    def _solved_in_pairs(self) -> tuple[int, int]:
        """Return the value, and how many first actions keep it; the errors are those of tables and kernels."""
        states = count_states(self._game, self._path)
        if states is not None and states <= FEW_STATES:
            table = Retrograde(explore(in_pairs(self._game), self._path, self._limits))
            value = table.value(self._start)
            assert value is not None
            after = (self._game.apply(self._start, action) for action in self._game.legal_actions(self._start))
            return value, sum(table.value(state) == value for state in after)
        kernel = solver_of(self._game)
        needs = kernel.needs()
        if needs is None:
            raise KernelError(f"the kernel of {self._path} does not solve it")
        self._limits.check_memory(needs.memory_bytes, f"{self._path} in another order")
        solved = kernel.solve(self._limits.deadline, in_pairs=True)
        if solved is None:
            raise TimeIsUpError("the time is up")
        (value,) = values_of(self._game, [(solved.outcome, solved.margin)])
        return value, len(solved.best)

    def _unseen(self, plain: Repaired) -> Repaired:
        """Return what plusminus is worth, on average, if each writes its list unseen, at random where that is best."""
        margins = self._margins_of_lists()
        if margins is None:
            return self._row("unseen=1")
        mean = matrix_value(margins)
        outcome = Outcome.WIN if mean > 0 else Outcome.LOSS if mean < 0 else Outcome.DRAW
        fields: dict[str, Any] = {"margin": round(float(mean), 4), "outcome": outcome, "keeping_first": None}
        return replace(plain, repair=self._words("unseen=1"), decided_at=None, draws=None, **fields)

    def _margins_of_lists(self) -> list[list[int]] | None:
        """Return the margin of the grid for each list of seat 0, by each list of seat 1; None without time."""
        signs, length, rows = ("+", "-"), self._game.options["size"] - 1, []
        for own in product(signs, repeat=length):
            row: list[int] = []
            for other in product(signs, repeat=length - 1):
                state = self._start
                for sign in (sign for pair in zip_longest(own, other) for sign in pair if sign is not None):
                    state = self._game.apply(state, sign)
                after = self._exact_actions(state)
                if after is None:
                    return None
                row += [int(choice.worth.margin or 0) for choice in after]
            rows.append(row)
        return rows

    def _cuts(self, plies: int) -> list[tuple[Any, Worth]] | None:
        """Return the states after that number of actions, each with its worth; None if one is not known."""
        states = [self._start]
        for ply in range(plies):
            cuts: list[tuple[Any, Worth]] = []
            for state in states:
                after = self._exact_actions(state)
                if after is None:
                    return None
                cuts += [(self._game.apply(state, choice.action), choice.worth) for choice in after]
            cuts = list({state: (state, worth) for state, worth in cuts}.values()) if ply else cuts
            states = [state for state, _ in cuts if not self._game.is_over(state)]
        return cuts or None

    def _play_with_mistakes(self, starts: Sequence[Any], opening: int = 0) -> tuple[float | None, float | None]:
        """Return when matches with mistakes are decided, on average, and the share of draws; None without time."""
        game, decided, draws = self._game, 0, 0
        for match in range(MATCHES):
            state, plies, last_mistake = starts[match % len(starts)], opening, opening
            while not game.is_over(state):
                after = self._exact_actions(state)
                if after is None:
                    return None, None
                seat = game.seat_to_act(state) or 0
                choice = best = max(after, key=lambda option: option.worth.order_for(seat))
                if pick_below(MISTAKE_OF, "repair", match, plies) == 0:
                    choice = after[pick_below(len(after), "repair mistake", match, plies)]
                state, plies = game.apply(state, choice.action), plies + 1
                if choice.worth.outcome is not best.worth.outcome:
                    last_mistake = plies
            decided += last_mistake
            draws += len(set(game.ranks(state))) == 1
        return round(decided / MATCHES, 2), draws / MATCHES

    def _exact_actions(self, state: Any) -> list[ActionWorth] | None:
        return self._oracle.exact_actions(state) if self._left_seconds() > 0 else None

    def _left_seconds(self) -> float:
        return self._limits.deadline - time.monotonic()

    def _words(self, repair: str) -> str:
        return " ".join(filter(None, (self._word, repair))) or "none"

    def _row(self, repair: str) -> Repaired:
        return Repaired(options=dict(self._game.options), repair=self._words(repair))


def in_pairs(game: Game[Any]) -> Game[Any]:
    """Return the rules of a game of ``_IN_PAIRS`` with that order of marks or lines; other turns stay as they are."""
    kind = type(game)

    def seat_to_act(self: Game[Any], state: Any) -> int | None:
        seat, before = kind.seat_to_act(self, state), _marks_or_lines(self, state)
        return seat if seat is None or before is None else (seat + before + (before + 1) // 2) % 2

    reordered: Game[Any] = type(kind.__name__, (kind,), {"seat_to_act": seat_to_act})(**game.options)
    return reordered


def _marks_or_lines(game: Game[Any], state: Any) -> int | None:
    """Return how many there are; None while seats do something else."""
    if isinstance(game, Plaid):
        return len(state.vertical) + len(state.horizontal)
    is_other_part = game.is_predicting(state) if isinstance(game, Plusminus) else getattr(state, "numbered", ())
    return None if is_other_part else sum(map(bool, state.heights))


def _worth_fields(worth: Worth) -> dict[str, Any]:
    return {"margin": worth.margin, "outcome": worth.outcome, "known": worth.known}


def _unfairness(worth: Worth) -> tuple[float, float]:
    """Return how far a state is from even, whichever seat it is good for."""
    sign, margin = worth.order_for(0)
    return abs(sign), abs(margin)


def matrix_value(margins: Sequence[Sequence[int]]) -> Fraction:
    """Return the mean margin of seat 0, which chooses the row, if both choose unseen and best: at random.

    The simplex method in whole numbers, which keeps the last pivot as the denominator of all others, with the rule of
    R. G. Bland (Mathematics of Operations Research 2, 1977), by which it ends.

    >>> matrix_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]), matrix_value([[3, 0], [0, 1]])
    (Fraction(0, 1), Fraction(3, 4))
    """
    game = np.array(margins, dtype=object)
    shift = game.min() - 1
    rows, columns = game.shape
    tableau = np.full((rows + 1, columns + 1), 1, dtype=object)
    tableau[:rows, :columns] = game - shift
    tableau[rows] = -1
    tableau[rows, columns] = 0
    basis, free, divisor = list(range(columns, columns + rows)), list(range(columns)), 1
    while entering := [column for column in range(columns) if tableau[rows, column] < 0]:
        column = min(entering, key=free.__getitem__)
        limiting = [row for row in range(rows) if tableau[row, column] > 0]
        ratios = {row: Fraction(int(tableau[row, columns]), int(tableau[row, column])) for row in limiting}
        row = min(limiting, key=lambda row: (ratios[row], basis[row]))
        pivot, in_row, in_column = tableau[row, column], tableau[row].copy(), tableau[:, column].copy()
        tableau = (tableau * pivot - np.outer(in_column, in_row)) // divisor
        tableau[row], tableau[:, column] = in_row, -in_column
        tableau[row, column], divisor = divisor, pivot
        basis[row], free[column] = free[column], basis[row]
    return Fraction(int(divisor), int(tableau[rows, columns])) + int(shift)
