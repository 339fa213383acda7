"""Replaying a record by the rules, and the ranks in which a match ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.base.enums import Termination
from arena.base.errors import ArenaError, IllegalActionError
from arena.base.records import MAX_PLY_LIMIT, MatchRecord
from arena.base.results import competition_ranks
from arena.games import Game, make_game
from arena.games.checked_game import checked_game
from arena.match.settled import settled_ranks
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
    """Return the state after an action; after None, which takes the seat to act out, None if the game knows no such."""
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
