"""Replaying a record by the rules, the ranks in which a match ends, and whether they can still change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from arena.base.enums import Termination
from arena.base.errors import ArenaError, IllegalActionError
from arena.base.records import MAX_PLY_LIMIT, MatchRecord
from arena.base.results import competition_ranks
from arena.games import Game, make_game
from arena.games.checked_game import checked_game
from arena.protocol.messages import shortened

# Why a match ended, and who placed where, forfeits included: the one place that decides it.


def final_ranks(game: Game[Any], state: Any, forfeited: Sequence[int]) -> list[int]:
    """Return the final rank of each seat; ``forfeited`` are the seats that forfeited, in order.

    Seats that did not forfeit are ranked among themselves by the rules, as the state stands. Seats that forfeited come
    after all of them; of two, the earlier one is last.
    """
    by_rules = game.ranks(state)
    honest = [seat for seat in range(game.players) if seat not in forfeited]
    ranks = [0] * game.players
    for seat, rank in zip(honest, competition_ranks([by_rules[seat] for seat in honest]), strict=True):
        ranks[seat] = rank
    for order, seat in enumerate(forfeited):
        ranks[seat] = game.players - order
    return ranks


def termination_of(game: Game[Any], state: Any, has_forfeit: bool) -> Termination:
    """Return why a match ended: if nobody forfeited and it is not over by the rules, by adjudication."""
    if has_forfeit:
        return Termination.FORFEIT
    return Termination.NORMAL if game.is_over(state) else Termination.ADJUDICATION


def state_after(game: Game[Any], state: Any, action: Any) -> Any:
    """Return the state after an action; None takes the seat to act out, and the result is None if the game can't."""
    return game.withdraw(state) if action is None else game.apply(state, action)


class ReplayError(ArenaError):
    """A record that contradicts the rules; the text says where."""


def states_of(record: MatchRecord) -> Iterator[tuple[Game[Any], Any]]:
    """Yield ``(game, state)`` before the first action and after each one.

    Raises:
        ReplayError: if an action is illegal or another seat's turn.
        GameError: if the rules of the game are wrong.
    """
    game = checked_game(make_game(record.game, **record.options), record.game)
    state = game.initial_state()
    yield game, state
    for ply, (seat, action) in enumerate(record.actions):
        due = game.seat_to_act(state)
        if due != seat:
            raise ReplayError(f"ply {ply}: seat {seat} acts, but by the rules seat {due} is to act")
        try:
            state = state_after(game, state, action)
        except IllegalActionError as error:
            raise ReplayError(f"ply {ply}: {shortened(error.action)}: {error.reason}") from error
        if state is None:
            raise ReplayError(f"ply {ply}: seat {seat} is taken out, which this game does not know")
        yield game, state


def check_record(record: MatchRecord) -> None:
    """Replay a record and compare its scores, ranks and termination with those by the rules."""
    game, state = list(states_of(record))[-1]
    forfeited = [fault.seat for fault in record.faults]
    plies, limit = len(record.actions), record.ply_limit
    if limit is not None and plies > limit:
        raise ReplayError(f"the record has {plies} actions, but its limit is {limit} plies")
    settled = None
    if record.settled_ply is not None:
        if not forfeited and not game.is_over(state):
            settled = settled_ranks(game, state, (limit or MAX_PLY_LIMIT) - plies)
        if settled is None:
            raise ReplayError(f"it is recorded as settled after {plies} plies, but by the rules that is not shown")
    elif not forfeited and not game.is_over(state) and plies != limit:
        raise ReplayError("the record ends before the match is over, without a forfeit")
    expected = {
        "scores": list(game.scores(state)),
        "ranks": list(settled or final_ranks(game, state, forfeited)),
        "termination": termination_of(game, state, bool(forfeited)),
    }
    recorded = {"scores": list(record.scores), "ranks": list(record.ranks), "termination": record.termination}
    for name, value in recorded.items():
        if value != expected[name]:
            raise ReplayError(f"{name} are recorded as {value}, but by the rules they are {expected[name]}")


# Whether a match is settled: no legal play can change its ranks any more.
#
# Either the bounds of the rules on the scores say so, or a search of everything that can still happen, within a budget.
# A match that is settled but for which neither shows it continues. Both are pure functions, so a verifier finds the
# same.

MAX_LINES = 20_000
"""The most lines of play, estimated along the first of them: a search of more would not end in time."""
MAX_PLIES = 100
"""The most actions of a line that a search follows."""
MAX_STATES = 2_000
"""The most states that a search may reach."""


def settled_ranks(game: Game[Any], state: Any, plies_left: int) -> tuple[int, ...] | None:
    """Return the ranks in which the match is shown to end, however it is played; None if that is not shown.

    Args:
        plies_left: after this many actions the match ends with the scores as they stand.
    """
    bounds = game.score_bounds(state)
    if bounds is not None:
        ranks = tuple(game.ranks(state))
        if _are_fixed(ranks, bounds):
            return ranks
    return _only_end(game, state, plies_left) if _has_few_lines(game, state, plies_left) else None


def _are_fixed(ranks: Sequence[int], bounds: Sequence[tuple[float, float]]) -> bool:
    """Return whether scores within bounds can have no other ranks, which follow from the scores."""
    for a, b in combinations(range(len(ranks)), 2):
        better, worse = (a, b) if ranks[a] < ranks[b] else (b, a)
        if ranks[a] == ranks[b]:
            if len({*bounds[a], *bounds[b]}) > 1:
                return False
        elif bounds[better][0] <= bounds[worse][1]:
            return False
    return True


def _has_few_lines(game: Game[Any], state: Any, plies_left: int) -> bool:
    lines = 1
    least_left = max(plies_left - MAX_PLIES, 0)
    while plies_left and game.seat_to_act(state) is not None:
        if plies_left == least_left:
            return False
        actions = game.legal_actions(state)
        lines *= len(actions)
        if lines > MAX_LINES:
            return False
        state, plies_left = game.apply(state, actions[0]), plies_left - 1
    return True


def _only_end(game: Game[Any], state: Any, plies_left: int) -> tuple[int, ...] | None:
    """Return the ranks in which all lines end; None if some end in others, or there are too many states."""
    common: tuple[int, ...] | None = None
    visited: set[tuple[Any, int]] = {(state, plies_left)}
    waiting: list[tuple[Iterator[Any], int]] = [(_after(game, state), plies_left - 1)]
    while waiting:
        following, plies_after = waiting[-1]
        after = next(following, None)
        if after is None:
            waiting.pop()
            continue
        if (after, plies_after) in visited:
            continue
        visited.add((after, plies_after))
        if len(visited) > MAX_STATES:
            return None
        if plies_after and game.seat_to_act(after) is not None:
            waiting.append((_after(game, after), plies_after - 1))
            continue
        ranks = tuple(game.ranks(after))
        if common is not None and ranks != common:
            return None
        common = ranks
    return common


def _after(game: Game[Any], state: Any) -> Iterator[Any]:
    return (game.apply(state, action) for action in game.legal_actions(state))
