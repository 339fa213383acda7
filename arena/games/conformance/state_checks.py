"""Checks of a position: what the game says about it, and that its state is a value."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from math import isfinite
from typing import Any

from arena.base.results import competition_ranks
from arena.games.conformance.calls import Calls
from arena.games.conformance.finding import MistakeError, are_same, over_the_wire, problem_on_the_wire, shown
from arena.games.conformance.position import Position, shown_by, state_after
from arena.games.game import Space

_SAMPLE = 6
"""The most legal actions to try where each one costs several calls."""

_SPACE_SAMPLE = 30
"""The most legal actions after which the vectors of states are compared."""


def check_states(position: Position) -> None:
    """States are values: hashable, never changed, and equal if the same line led to them."""
    calls, state = position.calls, position.state
    digest = calls.run(hash, state, method="hash of a state", check="states")
    _require_immutable(state, "the state")
    before = _description(calls, state)
    for action in position.legal[:_SAMPLE]:
        position.state_after(action)
        if (
            not are_same(_description(calls, state), before)
            or calls.run(hash, state, method="hash of a state") != digest
        ):
            raise MistakeError(
                "apply changed the state that it was given; expected a new state", action=action, ends=True
            )
    again = state_after(calls, position.line)
    is_equal = calls.run(lambda: bool(state == again), method="== of two states", check="states")
    if not is_equal and are_same(_description(calls, again), before):
        raise MistakeError(
            "the same line of play leads to states that are not equal, although their observations are; expected"
            " states that are compared by value, such as a NamedTuple or a frozen dataclass"
        )
    if is_equal and calls.run(hash, again, method="hash of a state") != digest:
        raise MistakeError("two equal states have different hashes")
    keep = calls.descriptions.setdefault
    other, described = calls.run(keep, state, (state, before), method="== of two states", check="states")
    if not are_same(described, before):
        raise MistakeError(
            f"the states {shown(other)} and {shown(state)} are equal, but the seat to act, observations, legal actions"
            " or scores differ; expected states that are equal only if these are"
        )


def _require_immutable(value: Any, name: str, depth: int = 0) -> None:
    if isinstance(value, list | dict | set | bytearray):
        raise MistakeError(f"{name} is a {type(value).__name__}, which can be changed; expected tuples and frozensets")
    if isinstance(value, tuple | frozenset):
        for part in value if depth < 3 else ():
            _require_immutable(part, f"a part of {name}" if depth == 0 else name, depth + 1)
    for attribute in _attributes(value):
        try:
            setattr(value, attribute, getattr(value, attribute))
        except (AttributeError, TypeError):
            continue
        raise MistakeError(
            f"the attribute {attribute!r} of {name} can be assigned to; expected a NamedTuple or a frozen dataclass"
        )


def _attributes(value: Any) -> list[str]:
    """Return the names of what an object has, in its dictionary or in slots."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    return [*getattr(value, "__dict__", ()), *(name for names in slots if not isinstance(names, str) for name in names)]


def _description(calls: Calls, state: Any) -> tuple[Any, ...]:
    return tuple(calls(method, state) for method in ("seat_to_act", "observation", "legal_actions", "scores"))


def check_pickling(position: Position) -> None:
    """A state can be pickled, and is equal afterwards."""
    state = position.state
    again = position.calls.run(lambda: pickle.loads(pickle.dumps(state)), method="pickling a state", check="pickling")
    if again != state:
        raise MistakeError(f"pickling the state {shown(state)} returned {shown(again)}")


def check_answers(position: Position) -> None:
    """The same questions about the same state have the same answers."""
    calls, state = position.calls, position.state
    for method in ("seat_to_act", "legal_actions", "scores", "ranks", "observation", "seats_out", "render"):
        first, second = calls(method, state), calls(method, state)
        if not are_same(first, second):
            raise MistakeError(f"{method} returned {shown(first)}, then {shown(second)} for the same state", ends=True)


def check_lines(position: Position) -> None:
    """The same line of play leads to the same position, also by another game object with the same options."""
    calls, state = position.calls, position.state
    for action in position.legal[:_SAMPLE]:
        with shown_by(action):
            first, second = (_description(calls, position.state_after(action)) for _ in range(2))
            if not are_same(first, second):
                raise MistakeError("apply led to two different states from the same one", ends=True)
    before = _description(calls, state)
    another = type(calls.game)(**calls.game.options)
    for fresh in (calls, calls, Calls(another, calls.limit_seconds)):
        if not are_same(_description(fresh, state_after(fresh, position.line)), before):
            by_object = "" if fresh is calls else ", with another game object of the same options,"
            raise MistakeError(f"the same line of play{by_object} led to another position", ends=True)


def check_observation(position: Position) -> None:
    """An observation is a map that can be sent to a bot."""
    observation = position.calls("observation", position.state)
    if type(observation) is not dict:
        raise MistakeError(f"observation returned {shown(observation)}; expected a dict")
    over_the_wire(observation, position.legal)
    problem = problem_on_the_wire(observation, "observation")
    if problem is not None:
        raise MistakeError(problem)


def check_restoring(position: Position) -> None:
    """``state_from_observation`` returns the state from what a bot has received."""
    calls, state = position.calls, position.state
    received = over_the_wire(calls("observation", state), position.legal)
    restored = calls("state_from_observation", received)
    is_equal = calls.run(lambda: bool(restored == state), method="== of two states", check="states")
    if not is_equal:
        raise MistakeError(
            f"state_from_observation returned {shown(restored)} from the observation of {shown(state)}; expected the"
            " same state from what the wire makes of it (lists in place of tuples)"
        )
    if calls.run(hash, restored, method="hash of a state", check="restoring") != hash(state):
        raise MistakeError("the restored state equals the state, but has another hash: a part of it is of another type")
    legal = list(calls("legal_actions", restored))
    if calls("seat_to_act", restored) != position.seat or not are_same(legal, position.legal):
        raise MistakeError("the restored state has another seat to act, or other legal actions, or another order")


def check_scores(position: Position) -> None:
    """There is a finite number for each seat, at any time."""
    players = position.calls.game.players
    scores = _per_seat(position, "scores")
    invalid = next((score for score in scores if type(score) not in (int, float)), None)
    if invalid is not None:
        kind = type(invalid).__name__
        raise MistakeError(
            f"scores returned {shown(scores)}: {shown(invalid)} is of the type {kind}; expected int or float"
        )
    if not all(isfinite(score) for score in scores if isinstance(score, float)):
        raise MistakeError(f"scores returned {shown(scores)}; expected {players} finite numbers")
    problem = problem_on_the_wire(scores, "scores")
    if problem is not None:
        raise MistakeError(problem)
    if position.seat is None:
        _require_bounds(position, scores)


def _require_bounds(end: Position, scores: Sequence[Any]) -> None:
    """Require that the final scores are within the bounds of each earlier position, back to the last forfeit."""
    position: Position | None = end
    while position is not None:
        bounds = position.calls("score_bounds", position.state)
        if bounds is None:
            return
        if not position.calls.run(_are_within, scores, bounds, method="reading score_bounds", check="scores"):
            plies = len(position.line)
            raise MistakeError(
                f"score_bounds returned {shown(bounds)} at ply {plies}, but the match ended with the scores"
                f" {shown(scores)}; expected the least and the largest score that each seat can still end with"
            )
        position = position.before if position.action is not None else None


def _are_within(scores: Sequence[Any], bounds: Sequence[Any]) -> bool:
    return all(low <= score <= high for (low, high), score in zip(bounds, scores, strict=True))


def check_ranks(position: Position) -> None:
    """Ranks are competition ranks: 1 is best, ties share a rank, and the next rank is skipped."""
    ranks = _per_seat(position, "ranks")
    if any(type(rank) is not int for rank in ranks) or list(ranks) != competition_ranks(ranks):
        raise MistakeError(
            f"ranks returned {shown(ranks)}; expected a rank for each seat, where 1 is best, ties share a rank and the"
            " next rank is skipped, such as (1, 1, 3)"
        )


def _per_seat(position: Position, method: str) -> Sequence[Any]:
    players = position.calls.game.players
    values = position.calls(method, position.state)
    if not isinstance(values, list | tuple) or len(values) != players:
        raise MistakeError(f"{method} returned {shown(values)}; expected a tuple with {players} numbers, one per seat")
    return values


def check_space(position: Position) -> None:
    """The space of a game, if it has one, has every legal action, and a vector of one length for each state alone."""
    calls, space = position.calls, position.calls.space
    if space is None:
        return
    if not isinstance(space, Space):
        raise MistakeError(f"space returned {shown(space)}; expected an arena.games.Space or None")
    known = set(space.actions)
    missing = next((action for action in position.legal if action not in known), None)
    if missing is not None:
        raise MistakeError(f"the actions of space lack {shown(missing)}, which is legal")
    if len(position.line) > space.max_plies:
        raise MistakeError(f"a match has {len(position.line)} plies, but max_plies of space is {space.max_plies}")
    _require_own_vector(calls, position.state)
    for action in position.legal[:_SPACE_SAMPLE]:
        with shown_by(action):
            _require_own_vector(calls, position.state_after(action))


def _require_own_vector(calls: Calls, state: Any) -> None:
    """Require that a state has numbers that no other one has; adapters put the seat to act before them."""
    vector, initial_vector = (
        list(calls.run(calls.space.encode, encoded, method="encode of space", check="space"))
        for encoded in (state, calls("initial_state"))
    )
    if len(vector) != len(initial_vector):
        raise MistakeError(
            f"encode of space returned {len(vector)} numbers, and {len(initial_vector)} for the initial state"
        )
    invalid = next((value for value in vector if not -1 <= value <= 1), None)
    if invalid is not None:
        raise MistakeError(f"encode of space returned {shown(invalid)} among the numbers; expected -1 to 1")
    twin = calls.vectors.setdefault((calls("seat_to_act", state), *vector), state)
    if not calls.run(lambda: bool(twin == state), method="== of two states", check="states"):
        raise MistakeError(
            f"encode of space returned the same numbers for two states, {shown(twin)} and {shown(state)}, in which"
            " the same seat is to act; expected numbers that tell states apart"
        )


def check_elimination(position: Position) -> None:
    """Eliminated seats stay out and don't act; ``withdraw`` takes the seat to act out of a match of three or more."""
    calls, state = position.calls, position.state
    out = _seats_out(calls, state)
    if position.seat in out:
        raise MistakeError(f"seat {position.seat} is to act, although seats_out returned {shown(out)}")
    for action in position.legal[:_SAMPLE]:
        with shown_by(action):
            after = _seats_out(calls, position.state_after(action))
            if after[: len(out)] != out:
                raise MistakeError(
                    f"seats_out returned {shown(after)} after {shown(out)}; expected the order of going out"
                )
    if calls.game.players > 2 and position.seat is not None:
        _check_withdraw(position, out)


def _check_withdraw(position: Position, out: tuple[int, ...]) -> None:
    calls, seat = position.calls, position.seat
    before = _description(calls, position.state)
    without = calls("withdraw", position.state)
    knows_elimination = calls("withdraw", calls("initial_state")) is not None
    if (without is not None) != knows_elimination:
        raise MistakeError(
            "withdraw returns a state in one position and None in another; expected None always, or a state always"
        )
    if without is None:
        return
    if not are_same(_description(calls, position.state), before):
        raise MistakeError("withdraw changes the state that it is given; expected a new state", ends=True)
    after = _seats_out(calls, without)
    if after[: len(out)] != out or seat not in after:
        raise MistakeError(
            f"after withdraw took out seat {seat}, seats_out returned {shown(after)}; expected {(*out, seat)}"
        )
    if calls("seat_to_act", without) == seat:
        raise MistakeError(f"after withdraw took out seat {seat}, the same seat is to act")


def _seats_out(calls: Calls, state: Any) -> tuple[int, ...]:
    out = calls("seats_out", state)
    seats = range(calls.game.players)
    if not isinstance(out, list | tuple) or any(type(seat) is not int or seat not in seats for seat in out):
        raise MistakeError(f"seats_out returned {shown(out)}; expected a tuple of seats from 0 to {seats[-1]}")
    if len(set(out)) != len(out):
        raise MistakeError(f"seats_out returned {shown(out)}, with the same seat twice")
    return tuple(out)
