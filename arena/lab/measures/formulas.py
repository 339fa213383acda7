"""The numbers of the eleven measures, from matches that were played and from exact values; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from arena.games.game import Game
from arena.games.kernels.kernel import ACTIONS, DRAWN, FORCED, LEAD, LEGAL, Profile, observed
from arena.lab.measures.exact_values import ExactValues, Value
from arena.lab.measures.measure import (
    Cluster,
    Estimate,
    Row,
    Unit,
    between,
    exactly,
    mean_of,
    mean_with,
    rows_of,
    share_of,
    share_rows,
    share_with,
)
from arena.lab.measures.simulation import SimulatedMatch
from arena.lab.measures.skill_ladder import SENTENCES, lead_of
from arena.lab.solving.worth import Solution


@dataclass(frozen=True, slots=True)
class ValuedMatch:
    """A match with the exact values of its states to seat 0, and of each choice to the seat that acts."""

    match: SimulatedMatch
    values: tuple[Value, ...]
    choices: tuple[tuple[Value, ...], ...]


def valued(match: SimulatedMatch, values: ExactValues) -> ValuedMatch:
    """Return a match with the values of its states and of the actions that could have been taken."""
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
    """Return how much a choice matters, where a seat has two or more actions and has not lost already."""
    longest = max((len(match.choices) for match in matches), default=0)
    rows = _choice_rows("", [_decisions(match) for match in matches])
    for ply in range(longest):
        rows += _choice_rows(f"ply {ply + 1}", [_decisions(match)[ply : ply + 1] for match in matches])
    return tuple(rows)


Decision = tuple[Value, ...] | None


def _decisions(match: ValuedMatch) -> list[Decision]:
    """Return the choices at each ply; None where there was no choice, or all was lost."""
    return [values if len(values) > 1 and max(values).outcome >= 0 else None for values in match.choices]


def _choice_rows(at: str, decisions: Sequence[Sequence[Decision]]) -> list[Row]:
    decided = [[values for values in of_match if values is not None] for of_match in decisions]
    keeping, only, regret = (
        [Cluster(sum(map(of_choice, of_match)), len(of_match)) for of_match in decided]
        for of_choice in (_share_keeping, _is_only_one, _regret)
    )
    return [
        *share_rows("actions that keep the outcome", at, keeping),
        *share_rows("only one action keeps it", at, only),
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
    """Return after which part of its actions a match was decided: the outcome with best play did not change later."""
    shares = [_decided_ply(match) / max(len(match.values) - 1, 1) for match in matches]
    return (
        *share_rows("part of a match before it is decided", "", shares),
        *share_rows("open after half of it", "", (share > 0.5 for share in shares)),
        *share_rows("decided before it begins", "", (share == 0 for share in shares)),
    )


def _decided_ply(match: ValuedMatch) -> int:
    final = match.values[-1].outcome
    ply = len(match.values) - 1
    while ply and match.values[ply - 1].outcome == final:
        ply -= 1
    return ply


def comebacks(matches: Sequence[ValuedMatch]) -> tuple[Row, ...]:
    """Return in how many won matches the loser had a won position."""
    won = [match.values for match in matches if match.values[-1].outcome]
    lost_once = (any(value.outcome == -values[-1].outcome for value in values) for values in won)
    return tuple(share_rows("won matches that were lost once", "", lost_once))


def first_action_values(values: Sequence[Value]) -> tuple[Row, ...]:
    """Return how many of the first actions are good, from their values to the seat that acts."""
    best, n = max(values), len(values)
    keeping = sum(value.outcome == best.outcome for value in values)
    return (
        *rows_of("first actions, up to symmetry", "", Unit.COUNT, exactly(n, n)),
        *rows_of("of these keep the outcome", "", Unit.COUNT, exactly(keeping, n)),
        *rows_of("of these keep the margin", "", Unit.COUNT, exactly(sum(value == best for value in values), n)),
    )


# The measures that rest on matches that were played.

Matches = Sequence[SimulatedMatch]


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """What matches between equals are like; ``known``: "kernel", "" by the rules, or else how it is exactly known."""

    profile: Profile
    known: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the profile has the means over all matches."""
        return self.known not in ("", "kernel")

    def rows(self, name: str, at: str, unit: Unit, place: int, *, is_per_action: bool = False) -> list[Row]:
        """Return the mean of what was observed at a place, for each match or for each action."""
        profile, n = self.profile, self.profile.n
        total, count = profile.sums[place], profile.sums[ACTIONS] if is_per_action else n
        if not n or not count:
            return []
        if self.is_exact:
            value = total / profile.sums[ACTIONS] if is_per_action else total
            return rows_of(name, at, unit, exactly(value, n), self.known)
        mean = total / count
        products, squares = (profile.products[place], profile.squares[ACTIONS]) if is_per_action else (total, n)
        rest = profile.squares[place] - mean * (2 * products - mean * squares)
        variance = n / (n - 1) * rest / count**2 if n > 1 and rest > 1e-12 * profile.squares[place] else 0.0
        if unit is Unit.SHARE:
            is_counted = not is_per_action and profile.squares[place] == total
            return rows_of(name, at, unit, share_with(mean, variance, n, is_counted=is_counted), self.known)
        return rows_of(name, at, unit, mean_with(mean, variance, n) if n > 1 else None, self.known)


def played_profile(matches: Matches, players: int) -> SelfPlay:
    """Return what matches that were simulated are like."""
    return SelfPlay(Profile.of(players, (observed(match.scores, match.ranks, match.choices) for match in matches)))


def first_seat(strengths: Mapping[str, SelfPlay], players: int) -> tuple[Row, ...]:
    """Return the points of seat 0, or of each seat of a game for more, at each strength."""
    return tuple(
        row
        for strength, play in strengths.items()
        for seat in range(players if players > 2 else 1)
        for row in play.rows(f"points of seat {seat}", strength, Unit.SHARE, seat)
    )


def draws_and_margins(strengths: Mapping[str, SelfPlay]) -> tuple[Row, ...]:
    """Return how often the first rank is shared, and by how much the first is ahead of the second."""
    draws = [row for at, play in strengths.items() for row in play.rows("draws", at, Unit.SHARE, DRAWN)]
    margins = [row for at, play in strengths.items() for row in play.rows("margin of the first", at, Unit.SCORE, LEAD)]
    return (*draws, *margins)


def visible_leads(matches: Matches, scores: Callable[[Any], Sequence[int | float]]) -> tuple[Row, ...]:
    """Return what the scores on the board showed: how often the lead changed, and who was behind at half time."""
    changes = [Cluster(float(_lead_changes(match, scores))) for match in matches]
    leads = (
        lead_of(tuple(scores(match.states[len(match.actions) // 2])), match.ranks.index(1))
        for match in matches
        if match.ranks.count(1) == 1
    )
    return (
        *rows_of("changes of the visible lead", "", Unit.COUNT, mean_of(changes)),
        *share_rows("winners behind at half time, if scores differ", "", (lead < 0 for lead in leads if lead)),
    )


def _lead_changes(match: SimulatedMatch, scores: Callable[[Any], Sequence[int | float]]) -> int:
    leaders = []
    for state in match.states:
        visible = list(scores(state))
        if visible.count(max(visible)) == 1:
            leaders.append(visible.index(max(visible)))
    return sum(before != after for before, after in pairwise(leaders))


DEPTH_SHARE = 0.55
"""A level is a step of the ladder if it takes this share of the points from the level below."""


def depth(steps: Mapping[str, Sequence[float]], counted: Sequence[str]) -> tuple[Row, ...]:
    """Return what each strength takes from the one below, and how many of the doublings (``counted``) are steps.

    ``steps`` has, by pair, the points of the stronger in each encounter.
    """
    rows: list[Row] = []
    estimates: dict[str, Estimate] = {}
    for step, points in steps.items():
        estimate = share_of(list(map(Cluster, points)))
        if estimate is not None:
            estimates[step] = estimate
            rows += rows_of("points of the stronger", step, Unit.SHARE, estimate)
    doublings = [estimates[step] for step in counted if step in estimates]
    if doublings:
        value, low, high = (
            float(sum((end or 0.0) >= DEPTH_SHARE for end in ends))
            for ends in zip(*((taken.value, taken.low, taken.high) for taken in doublings), strict=True)
        )
        steps_found = Estimate(value=value, low=low, high=high, n=min(taken.n for taken in doublings))
        rows += rows_of("doublings that take 55 % or more", f"of {len(doublings)}", Unit.COUNT, steps_found)
    return tuple(rows)


def simple_results(points: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[Row, ...]:
    """Return what strategies of one sentence take, from their points by opponent, strategy and encounter."""
    return tuple(
        row
        for opponent, by_strategy in points.items()
        for strategy, taken in by_strategy.items()
        for row in share_rows(f"{strategy}: {SENTENCES[strategy]}", f"against {opponent}", taken)
    )


def first_action_variety(played: Mapping[str, Sequence[Any]], equal: Mapping[str, Sequence[Any]]) -> tuple[Row, ...]:
    """Return how often two matches of a strength begin differently, up to symmetry.

    ``played`` has the first actions of matches; ``equal`` all of a strength that takes each of them equally often.
    """
    rows: list[Row] = []
    for strength, actions in equal.items():
        differ = 1 - sum(count**2 for count in Counter(actions).values()) / len(actions) ** 2
        estimate = exactly(differ, len(actions))
        rows += rows_of("two matches begin differently", strength, Unit.SHARE, estimate)
    for strength, actions in played.items():
        pairs = zip(actions[::2], actions[1::2], strict=False)
        rows += share_rows("two matches begin differently", strength, (action != other for action, other in pairs))
    return tuple(rows)


def length_and_branching(strengths: Mapping[str, SelfPlay]) -> tuple[Row, ...]:
    """Return how long matches are, how many actions there are to choose from, and how often there is no choice."""
    rows: list[Row] = []
    for at, play in strengths.items():
        rows += play.rows("actions in a match", at, Unit.COUNT, ACTIONS)
        rows += play.rows("legal actions", at, Unit.COUNT, LEGAL, is_per_action=True)
        rows += play.rows("forced actions", at, Unit.SHARE, FORCED, is_per_action=True)
    return tuple(rows)


def shares_by_strength(name: str, observed: Mapping[str, Iterable[Cluster | float]]) -> tuple[Row, ...]:
    """Return a share at each strength."""
    return tuple(row for strength, seen in observed.items() for row in share_rows(name, strength, seen))


def kingmaking(decisive: Mapping[str, Sequence[bool]]) -> tuple[Row, ...]:
    """Return how often the last choice of a match decided among the others, and not for the seat that had it."""
    return shares_by_strength("last choices that only decide among others", decisive)


def eliminations(game: Game[Any], played: Mapping[str, Matches]) -> tuple[Row, ...]:
    """Return how often a seat was eliminated because each of its actions would have done so, and not by accident."""
    forced = {at: [_forced_eliminations(game, match) for match in matches] for at, matches in played.items()}
    return shares_by_strength("eliminations that were forced", forced)


def _forced_eliminations(game: Game[Any], match: SimulatedMatch) -> Cluster:
    forced = [
        all(seat in game.seats_out(game.apply(state, action)) for action in game.legal_actions(state))
        for state, after, seat in zip(match.states, match.states[1:], match.seats, strict=False)
        if seat in game.seats_out(after)
    ]
    return Cluster(float(sum(forced)), len(forced))


def turns(size: int, played: Mapping[str, Matches]) -> tuple[Row, ...]:
    """Return which share of the steps of the path of coprimality goes another way than the step before."""
    turned = {strength: [_turns(size, match) for match in matches] for strength, matches in played.items()}
    return shares_by_strength("steps of the path that turn", turned)


def _turns(size: int, match: SimulatedMatch) -> Cluster:
    steps = []
    for state, (x, y) in zip(match.states, match.actions, strict=False):
        at_y, at_x = divmod(state.here, size)
        steps.append((state.grids_used, x - 1 - at_x, y - 1 - at_y))
    turned = [before != after for before, after in pairwise(steps) if before[0] == after[0]]
    return Cluster(float(sum(turned)), len(turned))
