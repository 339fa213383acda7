"""Exact values of all states that a survey meets, and how even the openings of a game are by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from arena.base.errors import ArenaError
from arena.base.text import counted
from arena.games.game import Game
from arena.games.kernels.kernel import Profile, observed
from arena.lab.measures.measure import Cluster, Estimate, Row, Unit, exactly, rows_of, share_of
from arena.lab.measures.simulation import pick
from arena.lab.oracle import Oracle
from arena.lab.solving.kernel_values import has_all_values
from arena.lab.solving.limits import (
    FEW_STATES,
    Limits,
    TimeIsUpError,
    TooLargeError,
    bytes_per_state,
    count_states,
    states_text,
)
from arena.lab.solving.state_graph import Retrograde, explore
from arena.lab.solving.worth import SIGNS, Known, Worth, worth_between

# Exact values of all states that a survey meets, or the reason why there are none.

_TRIED_PLIES = (2, 1, 3, 4)
"""Plies of random states by which the oracle shows whether it is exact everywhere."""

_SHARE_OF_TRIAL = 0.8
"""The share of the time for the first question, which makes a table; later ones take less."""


class NoValuesError(ArenaError):
    """There are no exact values of a game; the text is the reason."""


class Value(NamedTuple):
    """Outcome (1, 0, -1) and margin of seat 0 with best play; ordered."""

    outcome: int
    margin: float

    def to(self, seat: int) -> Value:
        """Return what it is worth to a seat."""
        return self if seat == 0 else Value(-self.outcome, -self.margin)


class ExactValues:
    """The value of each state of a game for two."""

    def __init__(self, worth: Callable[[Any], Worth], worths_after: Callable[[Any], Iterable[Worth]]) -> None:
        self._worth = worth
        self._worths_after = worths_after
        self._values_after: dict[Any, tuple[Value, ...]] = {}

    def of(self, state: Any) -> Value:
        """Return the value of a state; NoValuesError if only bounds are known."""
        return _value(self._worth(state))

    def after(self, state: Any) -> tuple[Value, ...]:
        """Return the values of the states after each legal action, in their order."""
        if state not in self._values_after:
            self._values_after[state] = tuple(map(_value, self._worths_after(state)))
        return self._values_after[state]

    def outcomes_after(self, state: Any) -> list[int]:
        """Return the outcomes after each legal action, and keep nothing: for many states."""
        return [_value(worth).outcome for worth in self._worths_after(state)]

    def known(self, state: Any) -> Known:
        """Return how the value of a state is known."""
        return self._worth(state).known

    def best_play(self, state: Any) -> Profile:
        """Return what matches of best play of both seats are like, but for their actions."""
        value = self.of(state)
        profile = Profile.of(2)
        profile.n = 1
        profile.sums[:4] = (1 + value.outcome) / 2, (1 - value.outcome) / 2, float(not value.outcome), abs(value.margin)
        return profile


class BestPlay:
    """Takes any action that keeps the value: in all of a match, or in its last actions and any action before."""

    def __init__(self, game: Game[Any], values: ExactValues, last: int | None = None) -> None:
        """Play so in the ``last`` actions of a match, or in all.

        It counts the actions that are left along the first legal ones: only for games whose matches have equal lengths.
        """
        self._game = game
        self._values = values
        self._last = last

    def choose(self, state: Any, answered: Any, rng: Random) -> Any:
        """Return a best action."""
        if self._last is not None and self._has_more_plies_left(self._last, state):
            return pick(self._game.legal_actions(state), rng)
        return pick(self.best(state), rng)

    def best(self, state: Any) -> list[Any]:
        """Return all best actions."""
        actions = self._game.legal_actions(state)
        seat = self._game.seat_to_act(state)
        assert seat is not None
        values = [value.to(seat) for value in self._values.after(state)]
        best = max(values)
        return [action for action, value in zip(actions, values, strict=True) if value == best]

    def _has_more_plies_left(self, plies: int, state: Any) -> bool:
        for _ in range(plies):
            actions = self._game.legal_actions(state)
            if not actions:
                return False
            state = self._game.apply(state, actions[0])
        return not self._game.is_over(state)


def exact_values(game: Game[Any], path: str, limits: Limits) -> ExactValues:
    """Return exact values of all states; NoValuesError with the reason if there are none."""
    if game.players != 2:
        raise NoValuesError(f"a game for {game.players} has no value: what a seat gets depends on whom others help")
    states = count_states(game, path)
    if states is None or states <= FEW_STATES:
        try:
            return _by_table(game, path, limits)
        except (TimeIsUpError, TooLargeError):
            pass
    return _by_oracle(game, path, limits, states)


def _by_table(game: Game[Any], path: str, limits: Limits) -> ExactValues:
    bounded = replace(limits, memory_bytes=min(limits.memory_bytes, FEW_STATES * bytes_per_state(game)))
    table = Retrograde(explore(game, path, bounded))

    def worth(state: Any) -> Worth:
        value = table.value(state)
        if value is None:
            raise NoValuesError("a state that the rules led to was not found again")
        return worth_between(value, value, Known.TABLE)

    return ExactValues(worth, lambda state: (worth(game.apply(state, one)) for one in game.legal_actions(state)))


def _by_oracle(game: Game[Any], path: str, limits: Limits, states: int | None) -> ExactValues:
    shown = states_text(states) if states is not None else "a number of states that is not known before"
    if not has_all_values(game, limits):
        raise NoValuesError(f"there is no table of {shown}, which would be too large or needs a kernel")
    is_hurried = limits.deadline < float("inf")
    within = _SHARE_OF_TRIAL * max(0.0, limits.deadline - limits.clock()) if is_hurried else None
    # Later questions come after this deadline, and have their own; without one, a kernel that is missing is built.
    oracle = Oracle(game, path, replace(limits, deadline=float("inf")), within_seconds=within)
    if not all(oracle.worth(_random_state(game, plies, Random(plies))).is_exact for plies in _TRIED_PLIES):
        raise NoValuesError(f"a table of {shown} takes longer than the time that there is")
    return ExactValues(oracle.worth, lambda state: (choice.worth for choice in oracle.actions(state)))


def _value(worth: Worth) -> Value:
    if worth.margin is None or worth.outcome is None:
        raise NoValuesError("a state is known by bounds alone")
    return Value(SIGNS[worth.outcome], worth.margin)


# What random play leads to: the states after each number of actions, with their probabilities.


def random_levels(
    game: Game[Any], most_states: int, check_time: Callable[[], None]
) -> Iterator[dict[Any, tuple[float, Sequence[Any]]]]:
    """Yield the states after 0, 1, … random actions, each with its probability and legal actions.

    TooLargeError as soon as there are more than ``most_states``.
    """
    chances, states = {game.initial_state(): 1.0}, 1
    while chances:
        level = {state: (chance, game.legal_actions(state)) for state, chance in chances.items()}
        yield level
        chances = {}
        for state, (chance, actions) in level.items():
            check_time()
            for action in actions:
                after = game.apply(state, action)
                chances[after] = chances.get(after, 0.0) + chance / len(actions)
            if states + len(chances) > most_states:
                raise TooLargeError(f"random play leads to more than {most_states:,} states")
        states += len(chances)


def random_play(game: Game[Any], check_time: Callable[[], None]) -> Profile | None:
    """Return what random play is like on average, from all ``n`` states of a game; None if there are too many."""
    profile = Profile.of(game.players)
    try:
        for level in random_levels(game, FEW_STATES, check_time):
            profile.n += len(level)
            for state, (chance, actions) in level.items():
                count = len(actions)
                if actions:
                    seen: Sequence[float] = (*[0.0] * (game.players + 2), 1.0, count, float(count == 1))
                else:
                    seen = observed(game.scores(state), game.ranks(state), ())
                profile.sums = [total + chance * value for total, value in zip(profile.sums, seen, strict=True)]
    except TooLargeError:
        return None
    return profile


# How even the openings of a game are: what states after some random actions are worth with best play.

MAX_PLIES = 4

MAX_ENUMERATED = 50_000
"""States before the last action of an opening; where there are more, openings are drawn at random."""

_OUTCOMES = {1: "won by seat 0", 0: "drawn", -1: "lost by seat 0"}


def opening_balance(
    game: Game[Any], values: ExactValues, plies: int, seeds: Sequence[int], check_time: Callable[[], None]
) -> tuple[Row, ...]:
    """Return the shares of openings that are won, drawn and lost; exact where there are few enough to see all."""
    shares: dict[int, Estimate | None]
    try:
        totals, n = _all_openings(game, values, plies, check_time)
        shares, known = {sign: exactly(total, n) for sign, total in totals.items()}, Known.TABLE
    except TooLargeError:
        outcomes = []
        for seed in seeds:
            check_time()
            outcomes.append(values.of(_random_state(game, plies, Random(seed))).outcome)
        shares = {sign: share_of([Cluster(float(outcome == sign)) for outcome in outcomes]) for sign in _OUTCOMES}
        known = None
    at = f"after {counted(plies, 'random action')}"
    return tuple(
        row for sign, share in shares.items() for row in rows_of(_OUTCOMES[sign], at, Unit.SHARE, share, known or "")
    )


def _all_openings(
    game: Game[Any], values: ExactValues, plies: int, check_time: Callable[[], None]
) -> tuple[dict[int, float], int]:
    """Return the probability of each outcome after random actions, and the number of openings that it rests on."""
    totals, n = dict.fromkeys(_OUTCOMES, 0.0), 0
    for ply, level in enumerate(islice(random_levels(game, MAX_ENUMERATED, check_time), plies), 1):
        for state, (chance, actions) in level.items():
            if actions and ply < plies:
                continue
            check_time()
            outcomes = values.outcomes_after(state) if actions else [values.of(state).outcome]
            n += len(outcomes)
            for outcome in outcomes:
                totals[outcome] += chance / len(outcomes)
    return totals, n


def _random_state(game: Game[Any], plies: int, rng: Random) -> Any:
    state = game.initial_state()
    for _ in range(plies):
        actions = game.legal_actions(state)
        if not actions:
            break
        state = game.apply(state, pick(actions, rng))
    return state
