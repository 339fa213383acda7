"""What strategies prove of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from arena.games.game import Game
from arena.games.permutation import Heights, inverse
from arena.games.pie import Pie
from arena.lab.solving.worth import HIGHEST, LOWEST

# Strategies by which a seat never loses, each with the invariant that shows it.
#
# The strategies restore a symmetry of the position with every action. What is symmetric at the end of a match is a
# draw, so the seat never does worse than a draw. The tests check each invariant by machine.
#
# **Transposition** (differences, plusminus). Reflect the grid at the diagonal on which column and row are equal: a mark
# on (x, y) has the counterpart (y, x), and P becomes Q. The invariant, when the other seat is to act: the marks are
# their own counterpart, so the free columns are the free rows. If the other seat marks (x, y) with x ≠ y, the
# counterpart (y, x) is free: column y and row x were, and only column x and row y have gone. If it marks (x, x), any
# free (z, z) will do, unless the grid is full. At the end P = Q. In differences both lists are equal then. Both seats
# can do this, whatever the size, as seat 0 may begin with any (z, z): **differences is a draw at every size, with both
# ways of scoring.** In plusminus P = Q is a draw if both lists of signs are equal, and that is in the hands of seat 1,
# which copies each sign. So **seat 0 never wins plusminus**, whatever the size and whoever begins the grid; whether
# seat 1 does, is not said.
#
# **Reflection** (plaid for two). Seat 0 begins with the line in the middle of the width, if that is even, and answers
# each upright line x with width - x, and each level line with any other. The invariant, when seat 1 is to act: the
# upright lines are their own reflection, with the middle line, so their number v is odd; the number h of level lines is
# even. With odd v all rectangles of a column belong to one seat, and the reflected column to the other, so such a sheet
# is a draw whatever the level lines are. Seat 0 leaves such a sheet, and so does seat 1 with a level line. With an
# upright line v and h are even, and (v + 1)(h + 1) is odd: the match is not over, and seat 0 answers. A level line is
# always there to answer with if the height is odd; if it is even, they run out when all height - 1 of them and the
# middle line stand, and the match is over by then if ``lines`` is at most the height. So **seat 0 never loses plaid for
# two on a sheet of even width** whose height is odd or at least ``lines``, as on the suggested sheet; whether it wins,
# is not said.
#
# With an odd width and an even height, the same is done with level lines and upside down. With odd h and even v the
# seats alternate along rows and columns, and the reflected rectangle belongs to the other seat. But here it breaks if
# seat 1 may end the match with an upright line: with an even number of ``lines``, unless the width is 1 and there are
# none.


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to play by which a seat draws at least.

    ``reply`` returns None without an action; ``holds`` is the invariant when the other seat is to act or the match is
    over.
    """

    name: str
    game: str
    seats: Callable[[Game[Any]], tuple[int, ...]]
    reply: Callable[[Game[Any], Any], Any]
    holds: Callable[[Game[Any], Any], bool]


def _transposing_mark(heights: Heights) -> tuple[int, int] | None:
    """Return the counterpart of the mark without one, or the first free square of the diagonal; None without one."""
    columns = inverse(heights)
    for x, y in enumerate(heights, 1):
        if y and heights[y - 1] != x:
            return y, x
    free = next((x for x, y in enumerate(heights, 1) if not y and not columns[x - 1]), None)
    return None if free is None else (free, free)


def _is_transposed(heights: Heights) -> bool:
    return heights == inverse(heights)


def _plusminus_reply(game: Any, state: Any) -> Any:
    if game.is_predicting(state):
        return state.predictions[0][len(state.predictions[1])]
    return _transposing_mark(state.heights)


def _is_upright(game: Any) -> bool:
    return bool(game.width % 2 == 0)


def _reflection_seats(game: Any) -> tuple[int, ...]:
    if game.players != 2:
        return ()
    if _is_upright(game):
        return (0,) if game.height % 2 or game.height >= game.options["lines"] else ()
    return (0,) if game.width == 1 or game.options["lines"] % 2 else ()


def _sides(game: Any, state: Any) -> list[tuple[str, tuple[int, ...], int]]:
    """Return direction, lines that stand and length of the side that is reflected, and of the other one."""
    sides = [("v", state.vertical, game.width), ("h", state.horizontal, game.height)]
    return sides if _is_upright(game) else sides[::-1]


def _reflection_reply(game: Any, state: Any) -> Any:
    (direction, places, side), (other_direction, other_places, other_side) = _sides(game, state)
    unanswered = next((place for place in places if side - place not in places), None)
    if unanswered is not None:
        return direction, side - unanswered
    if side // 2 not in places:
        return direction, side // 2
    free = next((place for place in range(1, other_side) if place not in other_places), None)
    return None if free is None else (other_direction, free)


def _is_reflected(game: Any, state: Any) -> bool:
    (_, places, side), (_, other_places, _) = _sides(game, state)
    is_symmetric = tuple(side - place for place in reversed(places)) == places
    return is_symmetric and side // 2 in places and len(other_places) % 2 == 0


STRATEGIES = (
    Strategy(
        name="transposition",
        game="differences",
        seats=lambda _game: (0, 1),
        reply=lambda _game, state: _transposing_mark(state.heights),
        holds=lambda _game, state: _is_transposed(state.heights),
    ),
    Strategy(
        name="copied signs and transposition",
        game="plusminus",
        seats=lambda _game: (1,),
        reply=_plusminus_reply,
        holds=lambda _game, state: (
            state.predictions[1] == state.predictions[0][: len(state.predictions[1])]
            and len(state.predictions[0]) == len(state.predictions[1])
            and _is_transposed(state.heights)
        ),
    ),
    Strategy(name="reflection", game="plaid", seats=_reflection_seats, reply=_reflection_reply, holds=_is_reflected),
)


def strategies_for(game: Game[Any], path: str) -> list[tuple[Strategy, int]]:
    """Return the strategies that a game has under its options, each with its seat."""
    if isinstance(game, Pie):
        return []
    return [(strategy, seat) for strategy in STRATEGIES if strategy.game == path for seat in strategy.seats(game)]


# What the strategies prove of a state.


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Bounds of a state's value, the strategies that prove them, and the actions that hold them."""

    low: int = LOWEST
    high: int = HIGHEST
    names: tuple[str, ...] = ()
    actions: tuple[Any, ...] = ()


def proof_of(game: Game[Any], path: str, state: Any) -> Proof:
    """Return what is proved of a state in which a seat is to act, perhaps nothing."""
    proof = Proof()
    for strategy, seat in strategies_for(game, path):
        if game.seat_to_act(state) == seat:
            actions = game.legal_actions(state)
            keeping = tuple(action for action in actions if strategy.holds(game, game.apply(state, action)))
            if not keeping:
                continue
            proof = replace(proof, actions=keeping)
        elif not strategy.holds(game, state):
            continue
        proof = replace(proof, names=(*dict.fromkeys((*proof.names, strategy.name)),))
        proof = replace(proof, low=0) if seat == 0 else replace(proof, high=0)
    return proof
