"""The measures that rest on matches that were played; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from arena.base.results import points_of
from arena.lab.measures.measure import Cluster, Estimate, Row, Unit, mean_of, rows_of, share_of
from arena.lab.measures.simulation import SimulatedMatch
from arena.lab.measures.skill_ladder import SENTENCES, lead_of

Matches = Sequence[SimulatedMatch]


def first_seat(played: Mapping[str, Matches], players: int) -> tuple[Row, ...]:
    """Return the points of seat 0, or of each seat of a game for more, at each strength."""
    rows: list[Row] = []
    for strength, matches in played.items():
        for seat in range(players if players > 2 else 1):
            points = [Cluster(points_of(match.ranks, seat)) for match in matches]
            rows += rows_of(f"points of seat {seat}", strength, Unit.SHARE, share_of(points))
    return tuple(rows)


def draws_and_margins(played: Mapping[str, Matches]) -> tuple[Row, ...]:
    """Return how often the first rank is shared, and by how much the first is ahead of the second."""
    rows: list[Row] = []
    for strength, matches in played.items():
        draws = [Cluster(float(match.ranks.count(1) > 1)) for match in matches]
        rows += rows_of("draws", strength, Unit.SHARE, share_of(draws))
    for strength, matches in played.items():
        margins = [Cluster(float(top - second)) for top, second in (_top_two(match.scores) for match in matches)]
        rows += rows_of("margin of the first", strength, Unit.SCORE, mean_of(margins))
    return tuple(rows)


def _top_two(scores: Sequence[int | float]) -> list[int | float]:
    return sorted(scores, reverse=True)[:2]


def visible_leads(matches: Matches, scores: Callable[[Any], Sequence[int | float]]) -> tuple[Row, ...]:
    """Return what the scores on the board showed: how often the lead changed, and who was behind at half time."""
    changes = [Cluster(float(_lead_changes(match, scores))) for match in matches]
    behind = [
        Cluster(float(lead < 0))
        for match in matches
        if match.ranks.count(1) == 1
        and (lead := lead_of(tuple(scores(match.states[len(match.actions) // 2])), match.ranks.index(1)))
    ]
    return (
        *rows_of("changes of the visible lead", "", Unit.COUNT, mean_of(changes)),
        *rows_of("winners behind at half time, if scores differ", "", Unit.SHARE, share_of(behind)),
    )


def _lead_changes(match: SimulatedMatch, scores: Callable[[Any], Sequence[int | float]]) -> int:
    leaders = []
    for state in match.states:
        now = list(scores(state))
        if now.count(max(now)) == 1:
            leaders.append(now.index(max(now)))
    return sum(one != after for one, after in pairwise(leaders))


DEPTH_SHARE = 0.55
"""A level is a step of the ladder if it takes so much from the one below."""


def depth(steps: Mapping[str, Sequence[float]], counted: Sequence[str]) -> tuple[Row, ...]:
    """Return what each strength takes from the one below, and how many of the doublings (``counted``) are steps.

    ``steps`` has, by pair, the points of the stronger in each encounter.
    """
    rows: list[Row] = []
    found: dict[str, Estimate] = {}
    for step, points in steps.items():
        estimate = share_of([Cluster(one) for one in points])
        if estimate is not None:
            found[step] = estimate
            rows += rows_of("points of the stronger", step, Unit.SHARE, estimate)
    doublings = [found[step] for step in counted if step in found]
    if doublings:
        value, low, high = (
            float(sum((end or 0.0) >= DEPTH_SHARE for end in ends))
            for ends in zip(*((one.value, one.low, one.high) for one in doublings), strict=True)
        )
        steps_found = Estimate(value=value, low=low, high=high, n=min(one.n for one in doublings))
        rows += rows_of("doublings that take 55 % or more", f"of {len(doublings)}", Unit.COUNT, steps_found)
    return tuple(rows)


def simple_results(points: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[Row, ...]:
    """Return what strategies of one sentence take, from their points by opponent, strategy and encounter."""
    rows: list[Row] = []
    for opponent, by_strategy in points.items():
        for strategy, taken in by_strategy.items():
            share = share_of([Cluster(one) for one in taken])
            rows += rows_of(f"{strategy}: {SENTENCES[strategy]}", f"against {opponent}", Unit.SHARE, share)
    return tuple(rows)


def first_action_variety(played: Mapping[str, Sequence[Any]]) -> tuple[Row, ...]:
    """Return how often two matches of a strength begin differently, up to symmetry."""
    rows: list[Row] = []
    for strength, actions in played.items():
        pairs = zip(actions[::2], actions[1::2], strict=False)
        differ = [Cluster(float(one != other)) for one, other in pairs]
        rows += rows_of("two matches begin differently", strength, Unit.SHARE, share_of(differ))
    return tuple(rows)


def length_and_branching(played: Mapping[str, Matches]) -> tuple[Row, ...]:
    """Return how long matches are, between how many actions one chooses, and how often there is no choice."""
    rows: list[Row] = []
    for strength, matches in played.items():
        lengths = [Cluster(float(len(match.actions))) for match in matches]
        choices = [Cluster(float(sum(match.choices)), len(match.choices)) for match in matches]
        forced = [Cluster(float(match.choices.count(1)), len(match.choices)) for match in matches]
        rows += rows_of("actions in a match", strength, Unit.COUNT, mean_of(lengths))
        rows += rows_of("legal actions", strength, Unit.COUNT, mean_of(choices))
        rows += rows_of("forced actions", strength, Unit.SHARE, share_of(forced))
    return tuple(rows)


def kingmaking(decisive: Mapping[str, Sequence[bool]]) -> tuple[Row, ...]:
    """Return how often the last choice of a match decided among the others, and not for the seat that had it."""
    rows: list[Row] = []
    for strength, made in decisive.items():
        share = share_of([Cluster(float(one)) for one in made])
        rows += rows_of("last choices that only decide among others", strength, Unit.SHARE, share)
    return tuple(rows)
