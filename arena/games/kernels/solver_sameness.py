"""Whether a kernel finds the same values and shares in small games as best play by the rules."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import product
from math import comb
from operator import itemgetter
from typing import Any, TypeVar

from arena.base.errors import KernelError
from arena.base.results import double_points_of as points_of
from arena.games import Game
from arena.games.kernels.option_sets import games_with, solved_games
from arena.games.kernels.playouts import Generator
from arena.games.kernels.solver import FirstState, KernelSolver, Needs, Points, ShareSolver, parts_of
from arena.games.multiplication import Multiplication
from arena.games.permutation import partial_permutations
from arena.games.plaid import Plaid
from arena.games.plusminus import Plusminus

# Best play by the rules in Python, in the small games with which kernels are compared.

AnyValue = TypeVar("AnyValue")


def value_states(
    game: Game[Any], at_end: Callable[[Any], AnyValue], after_best: Callable[[int, list[AnyValue]], AnyValue]
) -> dict[Any, AnyValue]:
    """Return the values of the first state and all that follow; matches of small games are short.

    ``after_best`` receives the seat to act and the values after its legal actions in turn.
    """
    values: dict[Any, AnyValue] = {}

    def value(state: Any) -> AnyValue:
        known = values.get(state)
        if known is not None:
            return known
        seat = game.seat_to_act(state)
        if seat is None:
            found = at_end(state)
        else:
            found = after_best(seat, [value(game.apply(state, action)) for action in game.legal_actions(state)])
        values[state] = found
        return found

    value(game.initial_state())
    return values


# Whether a kernel finds the same worth of small games and all their states as best play by the rules in Python.

Value = tuple[int, float]
"""The outcome for seat 0, and the margin, which decides between equal outcomes."""

_OWN_TABLES = 300
"""Of a game with more states, about this number of them have a table of their own."""

_FOREIGN = 3
"""States that are looked for in each of these tables in vain."""

_LONG_LISTS = (5, 7)
"""Sizes of plusminus with too many states to compare: which lists of a seat reach a margin is less than a word of bits,
and then a whole one."""

_LONG_NUMBERING = 19
"""A size of multiplication where all marks but three are as many as a numbering is looked up for."""

_PAIRS = 20
"""Pairs of lists that are compared there."""

_Table = tuple[KernelSolver, ctypes.Array[ctypes.c_int64]]

_ERROR = 0.51e-9
"""Of a margin in plaid, which the kernel rounds to nine decimals: half of the last one, and what adding rounds."""


def compare_solutions(name: str, library: ctypes.CDLL) -> int:
    """Solve the small games for two with both; return how many were compared."""
    games = solved_games(name)
    for game in games:
        kernel = KernelSolver(library, game)
        needs, found = kernel.needs(), kernel.solve()
        values = _compare(game, found, parts_of(game))
        if needs is None or found is None:
            raise KernelError(f"the kernel of {name} does not solve {game.options}")
        _compare_counts(game, needs, found, values)
        _compare_states(kernel, library, values)
    if name == Plusminus.name:
        _compare_long_lists(library)
    if name == Multiplication.name:
        _compare_long_numbering(library)
    return len(games)


def _compare_counts(game: Game[Any], needs: Needs, found: FirstState, values: dict[Any, Value]) -> None:
    actions = {_without_order(state): len(game.legal_actions(state)) for state in values}
    expected = _looked_at(game, actions) if needs.states else (found.states, found.edges)
    if needs.states not in (0, len(actions)) or (found.states, found.edges) != expected or min(expected) <= 0:
        raise KernelError(f"the kernel of {game.name} counts {needs} and {found} with {game.options}, not {expected}")


def _looked_at(game: Game[Any], actions: dict[Any, int]) -> tuple[int, int]:
    """Return how many states and actions are visited: each once, in plusminus those of marking for two margins.

    The lists of seat 0 are the smallest of those that are the same when the grid is turned over.
    """
    if not isinstance(game, Plusminus):
        return len(actions), sum(actions.values())
    marking = [count for state, count in actions.items() if not game.is_predicting(state)]
    lists = {"".join(signs) for signs in product("01", repeat=game.size - 1)}
    turned_over = {one: "".join("10"[int(sign)] for sign in one) for one in lists}
    smallest = {min(one, one[::-1], turned_over[one], turned_over[one][::-1]) for one in lists}
    times, pairs = 2 * len(smallest) * len(lists), len(lists) ** 2
    return len(marking) * times // pairs, sum(marking) * times // pairs


def _without_order(state: Any) -> Any:
    """Return a state without the order of numbers before the last one, which does not matter in multiplication."""
    numbered = getattr(state, "numbered", None)
    return (state.heights, frozenset(numbered), numbered[-1]) if numbered else state


def _compare(game: Game[Any], found: FirstState | None, parts: int) -> dict[Any, Value]:
    """Compare the solution of the first state; return the values of all states by the rules."""
    first = game.initial_state()
    values = value_states(game, partial(_at_end, game), lambda seat, after: max(after) if seat == 0 else min(after))
    expected = values[first]
    best = tuple(action for action in game.legal_actions(first) if _near(values[game.apply(first, action)], expected))
    if found is None or not _near((found.outcome, found.margin / parts), expected) or found.best != best:
        options = ", ".join(f"{name} = {value}" for name, value in game.options.items())
        raise KernelError(
            f"the kernel of {game.name} ({options}) solves it otherwise than the rules: {found}, not {expected} {best}"
        )
    return values


def _compare_states(kernel: KernelSolver, library: ctypes.CDLL, values: dict[Any, Value]) -> None:
    """Compare the tables for each state: that of the first state, and of some states one of their own."""
    game = kernel.game
    in_turn = [state for state in values if not game.is_over(state)]  # each before those that it can follow from
    tables = {root: _table(game, library, root) for root in {_root_of(game, state) for state in values}}
    every = max(1, len(in_turn) // _OWN_TABLES)
    for number, state in enumerate(in_turn):
        root = _root_of(game, state)
        kernel.set_state(state)
        expected = [values[game.apply(state, action)] for action in game.legal_actions(state)]
        _compare_actions(kernel, state, _looked_up(kernel, tables[root]), expected)
        if number % every:
            continue
        first = tables[game.initial_state()]
        if first is not None and root != game.initial_state():
            _compare_foreign(kernel, game.initial_state(), first, [state])
        own = _table(game, library, state)
        if own is not None:
            _compare_actions(kernel, state, _looked_up(kernel, own), expected)
            _compare_foreign(kernel, state, own, in_turn[number + 1 : number + 1 + _FOREIGN])


def _compare_long_lists(library: ctypes.CDLL) -> None:
    """Compare the worth of pairs of lists of plusminus with the best mark in a table of what follows from them."""
    for size in _LONG_LISTS:
        game = Plusminus(size=size, grid_first=2)
        table = _table(game, library, game.initial_state())
        kernel = KernelSolver(library, game)
        for index in range(_PAIRS):
            generator, state = Generator(size, index), game.initial_state()
            while len(state.predictions[1]) < size - 2 or len(state.predictions[0]) < size - 1:
                state = game.apply(state, "+-"[generator.below(2)])
            expected = [_best_mark(library, game, game.apply(state, sign)) for sign in game.legal_actions(state)]
            kernel.set_state(state)
            _compare_actions(kernel, state, _looked_up(kernel, table), expected)


def _best_mark(library: ctypes.CDLL, game: Plusminus, state: Any) -> Value:
    kernel = KernelSolver(library, game)
    kernel.set_state(state)
    choose = max if game.seat_to_act(state) == 0 else min
    outcome, margin = choose(_looked_up(kernel, _table(game, library, state)) or [])
    return outcome, float(margin)


def _compare_long_numbering(library: ctypes.CDLL) -> None:
    """Compare what each mark of a large grid is worth with the best of those after it; with one more, none is known."""
    game = Multiplication(size=_LONG_NUMBERING)
    heights = sorted(range(1, game.size + 1), key=lambda row: Generator(game.size, row).next())
    state = game.initial_state()._replace(heights=tuple(heights), numbered=(1, 2, 3))
    kernel = KernelSolver(library, game)
    expected = []
    for action in game.legal_actions(state):
        after = game.apply(state, action)
        kernel.set_state(after)
        choose = max if game.seat_to_act(after) == 0 else min
        outcome, margin = choose(kernel.look_up(None, None) or [(0, 0)], key=itemgetter(1))
        expected.append((outcome, float(margin)))
    kernel.set_state(state)
    _compare_actions(kernel, state, kernel.look_up(None, None), expected)
    kernel.set_state(state._replace(numbered=(1, 2)))
    if kernel.look_up(None, None) is not None:
        raise KernelError(f"the kernel of {game.name} numbers {game.size - 2} marks, for which it has no room")


def _compare_foreign(kernel: KernelSolver, root: Any, table: _Table, states: Iterable[Any]) -> None:
    """Check that the table of a state knows nothing about states that can't follow from it."""
    for state in states:
        kernel.set_state(state)
        if kernel.look_up(None, None) is None and _looked_up(kernel, table) is not None:
            raise KernelError(f"the kernel of {kernel.game.name} says something of {state} by a table of {root}")


def _compare_actions(
    kernel: KernelSolver, state: Any, found: list[tuple[int, int]] | None, expected: list[Value]
) -> None:
    parts = parts_of(kernel.game)
    shown = [(outcome, margin / parts) for outcome, margin in found or ()]
    if len(shown) != len(expected) or not all(map(_near, shown, expected)):
        raise KernelError(f"the kernel of {kernel.game.name} says of {state}: {found}, not {expected}")


def _looked_up(kernel: KernelSolver, table: _Table | None) -> list[tuple[int, int]] | None:
    if table is None:
        return kernel.look_up(None, None)
    root, values = table
    return kernel.look_up(root, ctypes.addressof(values))


def _root_of(game: Game[Any], state: Any) -> Any:
    first = game.initial_state()
    is_marking = isinstance(game, Plusminus) and not game.is_predicting(state)
    return state._replace(heights=first.heights) if is_marking else first


def _table(game: Game[Any], library: ctypes.CDLL, root: Any) -> _Table | None:
    """Return the kernel in a root, and the values of all that can follow; None if it makes no table of them."""
    kernel = KernelSolver(library, game)
    kernel.set_state(root)
    plan = kernel.table_plan()
    if plan is None:
        return None
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    kernel.fill(values)
    if plan.states != _table_states(game, root):
        raise KernelError(f"the kernel of {game.name} counts {plan.states} states from {root} on")
    return kernel, values


def _table_states(game: Game[Any], root: Any) -> int:
    """Return how many states a table has: sets of lines, pairs of lists, or ways to put marks on the squares left."""
    if isinstance(game, Plaid):
        drawn = len(root.vertical) + len(root.horizontal)
        most = _most_lines(game.width, game.height, game.options["lines"])
        left = game.width + game.height - 2 - drawn
        return sum(comb(left, more) for more in range(most - drawn + 1))
    if isinstance(game, Plusminus) and game.is_predicting(root):
        return 1 << (2 * game.size - 2)
    free: int = root.heights.count(0)
    return partial_permutations(free) if free else 0


@cache
def _most_lines(width: int, height: int, lines: int) -> int:
    """Return how many lines stand at the end of the longest match, by the numbers of both kinds after each line."""
    standing, most = {(0, 0)}, 0
    while True:
        open_ = [(v, h) for v, h in standing if v + h < lines or (v + 1) * (h + 1) % 2]
        if not open_:
            return most
        more = [(v + dv, h + dh) for v, h in open_ for dv, dh in ((0, 1), (1, 0))]
        standing, most = {(v, h) for v, h in more if v < width and h < height}, most + 1


def _near(one: Value, other: Value) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < _ERROR


def _at_end(game: Game[Any], state: Any) -> Value:
    scores, ranks = game.scores(state), game.ranks(state)
    return (ranks[0] < ranks[1]) - (ranks[1] < ranks[0]), float(scores[0] - scores[1])


# Whether a kernel finds the same shares in small games for three and more as best play by the rules in Python.

Both = tuple[Points, Points]
"""The points of each seat: shared, and held against all others."""


def compare_shares(name: str, library: ctypes.CDLL) -> int:
    """Ask a kernel about all states of the small games for three and more; return in how many it knew the shares."""
    return sum(compare_game(ShareSolver(library, game)) for game in games_with(name, "small") if game.players > 2)


def compare_game(kernel: ShareSolver) -> int:
    """Ask a kernel about all states of its game; return in how many it knew the shares."""
    game = kernel.game
    values = value_states(game, partial(_shares_at_end, game), partial(_after_best, game.players))
    known = 0
    for state in values:
        kernel.set_state(state)
        needs = kernel.share_needs()
        if needs is None:
            continue
        known += 1
        expected = [values[game.apply(state, action)] for action in game.legal_actions(state)]
        found = kernel.after_actions()
        if found is None or list(zip(found.shared, found.held, strict=True)) != expected:
            raise KernelError(f"the kernel of {game.name} says of {state}: {found}, not {expected}")
    return known


def _shares_at_end(game: Game[Any], state: Any) -> Both:
    points = points_of(game.ranks(state))
    return points, points


def _after_best(players: int, seat: int, after: list[Both]) -> Both:
    held = tuple((max if mine == seat else min)(held[mine] for _, held in after) for mine in range(players))
    return max((shared for shared, _ in after), key=lambda shared: shared[seat]), held
