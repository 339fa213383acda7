"""The measures that rest on exact values; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.lab.measures.exact_values import ExactValues, Value
from arena.lab.measures.measure import Cluster, Row, Unit, between, exactly, mean_of, rows_of, share_of
from arena.lab.measures.simulation import SimulatedMatch
from arena.lab.solving.solution import Solution


@dataclass(frozen=True, slots=True)
class ValuedMatch:
    """A match with the exact values of its states to seat 0, and of each choice to the seat that acts."""

    match: SimulatedMatch
    values: tuple[Value, ...]
    choices: tuple[tuple[Value, ...], ...]


def valued(match: SimulatedMatch, values: ExactValues) -> ValuedMatch:
    """Return a match with the values of its states and of what could have been done."""
    choices = tuple(
        tuple(value.to(seat) for value in values.after(state))
        for state, seat in zip(match.states, match.seats, strict=False)
    )
    return ValuedMatch(match, tuple(values.of(state) for state in match.states), choices)


def value_by_size(solutions: Mapping[str, Solution]) -> tuple[Row, ...]:
    """Return what boards are worth, by name: the margin is the komi that would make best play a draw."""
    rows: list[Row] = []
    for board, solution in solutions.items():
        worth = solution.worth
        if worth is None:
            shares = zip(solution.shares or (), solution.paranoid or (), strict=True)
            for seat, (share, held) in enumerate(shares):
                rows += rows_of(f"share of seat {seat}", board, Unit.SHARE, exactly(share), solution.shares_known)
                rows += rows_of(
                    f"share that seat {seat} can hold", board, Unit.SHARE, exactly(held), solution.shares_known
                )
        elif worth.margin is not None:
            rows += rows_of("margin of seat 0", board, Unit.SCORE, exactly(worth.margin), worth.known)
        else:
            rows += rows_of("margin of seat 0", board, Unit.SCORE, between(worth.low, worth.high), worth.known)
    return tuple(rows)


def choice(matches: Sequence[ValuedMatch]) -> tuple[Row, ...]:
    """Return what choosing matters, where there are two or more actions and the seat has not lost already."""
    longest = max((len(one.choices) for one in matches), default=0)
    rows = _choice_rows("", [_decisions(one) for one in matches])
    for ply in range(longest):
        rows += _choice_rows(f"ply {ply + 1}", [_decisions(one)[ply : ply + 1] for one in matches])
    return tuple(rows)


Decision = tuple[Value, ...] | None


def _decisions(one: ValuedMatch) -> list[Decision]:
    """Return the choices at each ply; None where there was no choice, or all was lost."""
    return [values if len(values) > 1 and max(values).outcome >= 0 else None for values in one.choices]


def _choice_rows(at: str, decisions: Sequence[Sequence[Decision]]) -> list[Row]:
    taken = [[values for values in of_match if values is not None] for of_match in decisions]
    keeping = [Cluster(sum(map(_share_keeping, of_match)), len(of_match)) for of_match in taken]
    only = [Cluster(sum(map(_is_only_one, of_match)), len(of_match)) for of_match in taken]
    regret = [Cluster(sum(map(_regret, of_match)), len(of_match)) for of_match in taken]
    return [
        *rows_of("actions that keep the outcome", at, Unit.SHARE, share_of(keeping)),
        *rows_of("only one action keeps it", at, Unit.SHARE, share_of(only)),
        *rows_of("margin that a random action loses", at, Unit.SCORE, mean_of(regret)),
    ]


def _share_keeping(values: tuple[Value, ...]) -> float:
    best = max(values).outcome
    return sum(value.outcome == best for value in values) / len(values)


def _is_only_one(values: tuple[Value, ...]) -> bool:
    best = max(values).outcome
    return sum(value.outcome == best for value in values) == 1


def _regret(values: tuple[Value, ...]) -> float:
    return max(values).margin - sum(value.margin for value in values) / len(values)


def decided(matches: Sequence[ValuedMatch]) -> tuple[Row, ...]:
    """Return after which part of its actions a match was decided: from there on the outcome with best play stayed."""
    parts = [_decided_ply(one) / max(len(one.values) - 1, 1) for one in matches]
    return (
        *rows_of("part of a match before it is decided", "", Unit.SHARE, share_of([Cluster(part) for part in parts])),
        *rows_of("open after half of it", "", Unit.SHARE, share_of([Cluster(float(part > 0.5)) for part in parts])),
        *rows_of("decided before it begins", "", Unit.SHARE, share_of([Cluster(float(part == 0)) for part in parts])),
    )


def _decided_ply(one: ValuedMatch) -> int:
    final = one.values[-1].outcome
    ply = len(one.values) - 1
    while ply and one.values[ply - 1].outcome == final:
        ply -= 1
    return ply


def comebacks(matches: Sequence[ValuedMatch]) -> tuple[Row, ...]:
    """Return in how many won matches the winner had lost, with best play of the other one."""
    won = [one for one in matches if one.values[-1].outcome]
    lost_once = [any(value.outcome == -one.values[-1].outcome for value in one.values) for one in won]
    return tuple(
        rows_of(
            "won matches that were lost once", "", Unit.SHARE, share_of([Cluster(float(lost)) for lost in lost_once])
        )
    )


def first_action_values(values: Sequence[Value]) -> tuple[Row, ...]:
    """Return how many of the first actions are good, from their values to the seat that acts."""
    best, n = max(values), len(values)
    keeping = sum(value.outcome == best.outcome for value in values)
    return (
        *rows_of("first actions, up to symmetry", "", Unit.COUNT, exactly(n, n)),
        *rows_of("of these keep the outcome", "", Unit.COUNT, exactly(keeping, n)),
        *rows_of("of these keep the margin", "", Unit.COUNT, exactly(sum(value == best for value in values), n)),
    )
