"""Whether a kernel is the same game as the rules, and refuses what it can't solve."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any

from arena.base.errors import KernelError
from arena.games import Game
from arena.games.game import Space
from arena.games.kernels.kernel import Kernel, Profile, Trace, observed, state_numbers
from arena.games.kernels.option_sets import OPTION_SETS, games_with, solved_games
from arena.games.kernels.playouts import lines_by_rules, playouts_by_rules, trace_by_rules
from arena.games.kernels.slips import MOST_STATES, SlipKernel, encounters_by_rules
from arena.games.kernels.solver import KernelSolver, ShareSolver

# Whether a kernel is the same game as the rules: states, traces, totals and counts of lines are compared.

_SCORE_ERROR = 1e-9
"""The largest relative error of a score in plaid, which the kernel rounds at every addition."""

_NEAR = 1e-6
"""The kernel itself must rank scores that differ by more."""

_MAX_DEPTH = 25

_OPENINGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to compare: traces, traces of each large option, and the highest count of lines."""

    playouts: int
    large_playouts: int
    lines: int


SELF_TEST = Effort(playouts=100, large_playouts=1, lines=1_000)
USUAL = Effort(playouts=10_000, large_playouts=2, lines=50_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How many states with all their legal actions, traces and lines were compared, and found to be the same."""

    states: int
    playouts: int
    lines: int


def compare(name: str, library: ctypes.CDLL, effort: Effort, seed: int = 1) -> Compared:
    """Compare the kernel of a game with the rules; KernelError with the first difference."""
    for numbers in OPTION_SETS[name].refused:
        if library.kernel_new((ctypes.c_int32 * len(numbers))(*numbers)):
            raise KernelError(f"the kernel of {name} takes the options {numbers}, for which it has no room")
    states = sum(compare_states(Kernel(library, game)) for game in games_with(name, "small"))
    usual = [Kernel(library, game) for game in games_with(name, "usual")]
    large = [Kernel(library, game) for game in games_with(name, "large")]
    lines = sum(compare_lines(kernel, effort.lines) for kernel in usual)
    playouts_each = -(-effort.playouts // len(usual))
    for kernel in usual:
        compare_traces(kernel, seed, playouts_each)
    for kernel in large:
        compare_traces(kernel, seed, effort.large_playouts)
    return Compared(
        states=states, playouts=playouts_each * len(usual) + effort.large_playouts * len(large), lines=lines
    )


def compare_states(kernel: Kernel) -> int:
    """Compare every state that can be reached, and every action there, made and taken back; return their number."""
    game = kernel.game
    kernel.start()
    initial = game.initial_state()
    _same(game, "the initial state", kernel.numbers(), state_numbers(game, initial))
    visited, waiting = {initial}, [initial]
    while waiting:
        state = waiting.pop()
        kernel.set_state(state)
        before = _compare_state(kernel, state)
        actions = list(game.legal_actions(state))
        for action in (*actions, *actions[:1]):  # the first once more: what others left behind would show
            after = game.apply(state, action)
            where = f"{action} in {state}"
            if not kernel.make(action):
                raise _difference(game, where, "not legal", "legal")
            _same(game, f"the state after {where}", kernel.numbers(), state_numbers(game, after))
            _compare_state(kernel, after)
            kernel.unmake()
            _same(game, f"{where}, made and taken back", _everything(kernel), before)
            if after not in visited:
                visited.add(after)
                waiting.append(after)
    return len(visited)


def _everything(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.numbers(), kernel.seat_to_act(), kernel.legal_actions(), kernel.result()


def _compare_state(kernel: Kernel, state: Any) -> tuple[Any, ...]:
    """Compare all that is known of a state; return what the kernel knows."""
    game = kernel.game
    numbers, seat, actions, (scores, ranks) = everything = _everything(kernel)
    _same(game, f"the numbers of {state}", numbers, state_numbers(game, state))
    _same(game, f"the seat to act in {state}", seat, game.seat_to_act(state))
    _same(game, f"the legal actions in {state}", actions, list(game.legal_actions(state)))
    _compare_scores(game, f"in {state}", scores, game.scores(state))
    if ranks is None:
        _must_be_near(game, f"in {state}", game.scores(state))
    else:
        _same(game, f"the ranks in {state}", ranks, game.ranks(state))
    return everything


def compare_traces(kernel: Kernel, seed: int, count: int, first: int = 0) -> None:
    """Compare random playouts action by action, and then their totals."""
    game = kernel.game
    traces = []
    for index in range(first, first + count):
        expected = trace_by_rules(game, seed, index)
        _compare_trace(game, f"playout {index} of seed {seed}", kernel.trace(seed, index), expected)
        traces.append(expected)
        if kernel.result()[1] is None:
            _must_be_near(game, f"of playout {index} of seed {seed}", expected.scores)
    _compare_totals(kernel, seed, first, traces)
    _compare_openings(kernel, seed, traces)


def _compare_trace(game: Game[Any], what: str, found: Trace, expected: Trace) -> None:
    if found.plies != expected.plies:
        _same(game, f"the plies of {what}", len(found.plies), len(expected.plies))
        for ply, (own_ply, expected_ply) in enumerate(zip(found.plies, expected.plies, strict=True)):
            _same(game, f"seat, legal actions and action at ply {ply} of {what}", own_ply, expected_ply)
    _compare_scores(game, f"of {what}", found.scores, expected.scores)
    _same(game, f"the ranks of {what}", found.ranks, expected.ranks)


def _compare_totals(kernel: Kernel, seed: int, first: int, traces: Sequence[Trace]) -> None:
    game, what = kernel.game, f"the playouts from {first} of seed {seed}"
    totals = kernel.playouts(seed, first, len(traces))
    ranked = [[0] * game.players for _ in range(game.players)]
    for trace in traces:
        for seat, rank in enumerate(trace.ranks):
            ranked[seat][rank - 1] += 1
    _same(game, f"the ranks of {what}", totals.ranked, tuple(map(tuple, ranked)))
    _same(game, f"the plies of {what}", totals.plies, sum(len(trace.plies) for trace in traces))
    sums = [fsum(of_seat) for of_seat in zip(*(trace.scores for trace in traces), strict=True)]
    _compare_scores(game, f"of {what}", totals.score_sums, sums)
    seen = (observed(trace.scores, trace.ranks, [choices for _, choices, _ in trace.plies]) for trace in traces)
    expected, found = Profile.of(game.players, seen), kernel.profile(seed, first, len(traces))
    for name in ("sums", "squares", "products"):
        _compare_scores(game, f"in the profile's {name} of {what}", getattr(found, name), getattr(expected, name))


def _compare_openings(kernel: Kernel, seed: int, traces: Sequence[Trace]) -> None:
    """Compare playouts from the states in which the first of the traces are after a part of their plies."""
    game = kernel.game
    space = game.space()
    assert isinstance(space, Space)  # a game with a kernel has one
    for number, trace in enumerate(traces[:_OPENINGS]):
        plies = len(trace.plies) * number // (_OPENINGS - 1)
        opening = [space.actions[code] for _, _, code in trace.plies[:plies]]
        found = kernel.playouts(seed, 0, _OPENINGS, opening)
        expected = playouts_by_rules(game, seed, 0, _OPENINGS, opening)
        what = f"the playouts of seed {seed} from {opening}"
        _same(game, f"ranks and plies of {what}", (found.ranked, found.plies), (expected.ranked, expected.plies))
        _compare_scores(game, f"of {what}", found.score_sums, expected.score_sums)


def compare_lines(kernel: Kernel, limit: int) -> int:
    """Compare counts of legal lines, one action deeper each time, and return the largest count."""
    game = kernel.game
    compared = 0
    kernel.start()
    for depth in range(1, _MAX_DEPTH + 1):
        kernel_lines = kernel.lines(depth)
        if kernel_lines > limit:
            break
        lines = lines_by_rules(game, game.initial_state(), depth)
        _same(game, f"the lines of {depth} actions", kernel_lines, lines)
        compared = max(compared, lines)
    return compared


def _compare_scores(game: Game[Any], where: str, found: Sequence[float], expected: Sequence[float]) -> None:
    errors = [
        abs(own_score - expected_score) / max(1, abs(expected_score))
        for own_score, expected_score in zip(found, expected, strict=True)
    ]
    if not max(errors) <= (_SCORE_ERROR if isinstance(expected[0], float) else 0):
        raise _difference(game, f"the scores {where}", found, expected)


def _must_be_near(game: Game[Any], where: str, scores: Sequence[float]) -> None:
    """Refuse that a kernel leaves ranks to the rules without need."""
    ordered = sorted(scores)
    if all(high - low > _NEAR for low, high in pairwise(ordered)):
        raise _difference(game, f"the ranks {where}", "undecided", scores)


def _same(game: Game[Any], what: str, found: object, expected: object) -> None:
    if found != expected:
        raise _difference(game, what, found, expected)


def _difference(game: Game[Any], what: str, found: object, expected: object) -> KernelError:
    options = ", ".join(f"{name} = {value}" for name, value in game.options.items())
    return KernelError(f"the kernel of {game.name} ({options}) differs from the rules: {what}: {found}, not {expected}")


# Whether a kernel plays the same encounters of bots that slip as the rules in Python.

_SEED, _COUNT, _SLIPS_PERMILLE = 1, 20, (50, 300)
_LAST_ACTIONS = 5
_STRIDE = 7


def compare_slips(name: str, library: ctypes.CDLL) -> int:
    """Play encounters of small games for two with both, and of large ones near their end; return in how many games."""
    small = [game for game in games_with(name, "small") if game.players == 2]
    large = [game for game in games_with(name, "large") if game.players == 2]
    for game in small:
        _compare(library, game, [])
        _compare(library, game, [game.legal_actions(game.initial_state())[-1]])
    for game in large:
        _compare(library, game, _all_but_the_last(game))
    return len(small) + len(large)


def _compare(library: ctypes.CDLL, game: Game[Any], opening: Sequence[Any]) -> None:
    expected = encounters_by_rules(game, opening, _SEED, _COUNT, _SLIPS_PERMILLE)
    found = SlipKernel(library, game).encounters(opening, _SEED, _COUNT, _SLIPS_PERMILLE, MOST_STATES)
    if found != expected:
        raise KernelError(f"the kernel of {game.name} plays slips of {game.options} otherwise than the rules")


def _all_but_the_last(game: Game[Any]) -> list[Any]:
    """Return a match but for its last actions, so that few states are left on a large board."""
    state, actions = game.initial_state(), list[Any]()
    while not game.is_over(state):
        legal = game.legal_actions(state)
        actions.append(legal[_STRIDE * len(actions) % len(legal)])
        state = game.apply(state, actions[-1])
    return actions[:-_LAST_ACTIONS]


# Whether a kernel rejects what it can't solve, knows nothing beyond its table, and stops at a deadline.

_PAST = 0.0
"""A deadline that is over before the call."""


def check_refusals(name: str, library: ctypes.CDLL) -> None:
    """Check what the kernel refuses, and that all else ends at a deadline."""
    for game in games_with(name, "unsolved"):
        kernel = KernelSolver(library, game)
        if kernel.needs() is not None or kernel.table_plan() is not None or kernel.look_up(None, None) is not None:
            raise KernelError(f"the kernel of {name} says that it solves {game.options}")
        if game.players == 2 and ShareSolver(library, game).share_needs() is not None:
            raise KernelError(f"the kernel of {name} says that it shares {game.options}")
    for game in solved_games(name):
        _check_stops(KernelSolver(library, game))
    _check_largest(name, library)


def _check_largest(name: str, library: ctypes.CDLL) -> None:
    kernel = KernelSolver(library, *games_with(name, "largest"))
    has_tables = KernelSolver(library, solved_games(name)[0]).table_plan() is not None
    if kernel.needs() is None or (kernel.table_plan() is not None) != has_tables:
        raise KernelError(f"the kernel of {kernel.game.name} does not solve {kernel.game.options}")
    solution = None
    with suppress(KernelError):
        solution = kernel.solve(_PAST)
    _check(kernel.game, solution)


def _check_stops(kernel: KernelSolver) -> None:
    plan = kernel.table_plan()
    _check(kernel.game, kernel.solve(_PAST))
    if plan is None:
        _check(kernel.game, kernel.look_up(None, None, _PAST))
        return
    values = (ctypes.c_int64 * (plan.table_bytes // 8 + 1))()
    _check(kernel.game, kernel.fill(values, _PAST) or None)


def _check(game: Game[Any], found: object) -> None:
    if found is not None:
        raise KernelError(f"the kernel of {game.name} does not stop at a deadline with {game.options}")
