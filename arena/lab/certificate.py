"""Certificates: strategies for both seats, which a program that knows nothing but the rules can check."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from arena.base.errors import KernelError, UsageError
from arena.base.text import any_of, counted
from arena.games.game import Game
from arena.games.kernels.loading import is_built, kernel_of
from arena.games.pie import Pie
from arena.lab.advice import ADVICE, narrowed
from arena.lab.oracle import PREPARE_SECONDS, ActionWorth, Oracle
from arena.lab.solving.kernel_values import has_all_values
from arena.lab.solving.limits import FEW_STATES, Limits, TimeIsUpError, plan_of, states_text
from arena.lab.solving.proofs import strategies_for
from arena.lab.solving.state_graph import Retrograde, explore
from arena.lab.solving.worth import SIGNS, Worth

# arena/lab/verify/README.md describes the format. A table has what a seat plays in each state that follows from its own
# choices, in the order in which a walk through all replies of the other seat comes to them, so it needs no keys.

VERSION = 1
MAX_STATES = 4_000_000
"""The most states of a walk: more would take gigabytes, and make a file that the checker rejects."""

MOST: Mapping[str, Mapping[str, int]] = {
    "plusminus": {"size": 12},
    "plaid": {"width": 64, "height": 64},
    "coprimality": {"size": 40, "max_grids": 20},
    "differences": {"size": 12},
    "multiplication": {"size": 13},
}
"""The largest options that the checker takes."""

_RULES = {"copied signs and transposition": "copied-signs"}

_LISTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "plaid": ("reflection,lead", ("mirrored", "odd", "lead")),
    "coprimality": ("safe,way,choice,inside", ("safe", "way", "choice", "inside")),
}
"""What certificates call the lines of a game's advice, and which lines these are; those of other games are rules.

A line after these is not needed: the seat holds as much with any of the actions that are left.
"""

_ACTIONS_IN_LINE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a seat holds: by a list of lines, or by a table of actions, each by its number among the legal ones."""

    seat: int
    holds: int
    rule: str = "table"
    actions: tuple[int, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the certificate."""
        action_count = f" {len(self.actions)}" if self.rule == "table" else ""
        yield f"seat {self.seat} holds {self.holds} by {self.rule}{action_count}"
        for begin in range(0, len(self.actions), _ACTIONS_IN_LINE):
            yield " ".join(map(str, self.actions[begin : begin + _ACTIONS_IN_LINE]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Claims about one of the five games for two; ``problem`` is why they say less than the value."""

    game: Game[Any]
    claims: tuple[Claim, ...]
    problem: str = ""

    @property
    def value(self) -> int | None:
        """What seat 0 gets with best play, if that is proved: a margin, in plaid 1, 0 or -1."""
        holds = [claim.holds for claim in self.claims]
        return holds[0] if len(holds) == 2 and holds[0] == -holds[1] else None

    def text(self) -> str:
        """Return the certificate, which a checksum ends."""
        lines = [f"arena certificate {VERSION}", f"game {self.game.name}"]
        lines += [f"option {name} {value}" for name, value in options_of(self.game).items()]
        lines.append(f"search {_searched(self.game)}")
        lines += [line for claim in self.claims for line in claim.lines()]
        text = "\n".join(lines) + "\n"
        return f"{text}end {zlib.crc32(text.encode('ascii')):08x}\n"


def options_of(game: Game[Any]) -> dict[str, int]:
    """Return the options as whole numbers, with the names and in the order that certificates have."""
    values = {option.name: game.options.get(option.name, option.default) for option in game.OPTIONS}
    scoring = values.pop("scoring", None)
    for name in ("players", "pie"):
        values.pop(name, None)
    return values if scoring is None else {**values, "once": int(scoring == "once")}


def prove(game: Game[Any], path: str, limits: Limits, by_advice: bool = False) -> Certificate:
    """Return what can be proved of a game: by rules where there are some, else by tables of best play.

    ``by_advice`` lets seats without a rule play by the lines for people, where these hold as much as tables.

    Raises:
        UsageError: if the checker does not know the game or its options, or nothing can be proved.
        TimeIsUpError: if nothing is proved when the time is up.
    """
    _check(game, path, by_advice)
    claims = {
        seat: Claim(seat=seat, holds=0, rule=_RULES.get(strategy.name, strategy.name))
        for strategy, seat in strategies_for(game, path)
    }
    problem = ""
    try:
        for seat in {0, 1} - set(claims) if by_advice and path in _LISTS else ():
            claims[seat] = _by_advice(game, path, limits, seat)
        if len(claims) < 2 or claims[0].holds != -claims[1].holds:
            claims |= _by_tables(game, path, limits, {seat: claim.holds for seat, claim in claims.items()})
    except (TimeIsUpError, UsageError) as error:
        if not claims:
            raise
        problem = str(error)
    return Certificate(game=game, claims=tuple(claims[seat] for seat in sorted(claims)), problem=problem)


def _check(game: Game[Any], path: str, by_advice: bool) -> None:
    if path not in MOST:
        raise UsageError(f"{path}: no checker knows its rules; expected {any_of(list(MOST))}")
    if game.players != 2:
        raise UsageError(f"players = {game.players}: certificates are for games for two")
    if isinstance(game, Pie):
        raise UsageError(f"pie = {game.options['pie']}: the checker of certificates does not know the pie rule")
    for name, most in MOST[path].items():
        if game.options[name] > most:
            raise UsageError(f"{name} = {game.options[name]}: the checker of certificates takes at most {most}")
    is_listed = game.options.get("width", 0) % 2 == 0 if path in _LISTS else bool(strategies_for(game, path))
    if by_advice and not is_listed:
        raise UsageError(f"{path} with {game.options!r:.200}: no checker knows its rules for people; omit --advice")


def _by_advice(game: Game[Any], path: str, limits: Limits, seat: int) -> Claim:
    name, keys = _LISTS[path]
    lines = [ADVICE[path].lines[key] for key in keys]
    ends = _ends(game, limits, seat, partial(narrowed, lines, game))
    return Claim(seat=seat, holds=min(_result(game, end, seat) for end in ends), rule=name)


def _result(game: Game[Any], state: Any, seat: int) -> int:
    """Return what a seat has at the end of a match: its margin, in plaid 1, 0 or -1."""
    ranks, scores = game.ranks(state), game.scores(state)
    if game.name == "plaid":
        return (ranks[1 - seat] > ranks[seat]) - (ranks[1 - seat] < ranks[seat])
    return int(scores[seat] - scores[1 - seat])


def _by_tables(game: Game[Any], path: str, limits: Limits, claimed: Mapping[int, int]) -> dict[int, Claim]:
    walk = _Walk(game, path, limits)
    value = walk.value()
    worths = {0: value, 1: -value}
    return {
        seat: Claim(seat=seat, holds=holds, actions=walk.table(seat, holds))
        for seat, holds in worths.items()
        if claimed.get(seat) != holds
    }


def _table_by_rules(game: Game[Any], path: str, limits: Limits) -> Retrograde | None:
    """Return the table of few states, or if no kernel knows them all; None if one does, or a deadline ends a search.

    TooLargeError if it does not fit: a search for the worth of one state after another would never end.
    """
    plan = plan_of(game, path)
    if plan.states is None:
        return None
    if plan.states > FEW_STATES:
        is_search_ended = limits.deadline < float("inf") and not is_built(game)
        if is_search_ended or has_all_values(game, limits):
            return None
        kernel = kernel_of(game)
        problem = f"{kernel}, and without its kernel " if isinstance(kernel, KernelError) else ""
        limits.check_memory(plan.memory_bytes or 0, f"{problem}a table of {path} of {states_text(plan.states)}")
    return Retrograde(explore(game, path, limits))


def _searched(game: Game[Any]) -> int:
    """Return how many actions before the end the checker begins to find the best ones by itself."""
    size: int = game.options.get("size", 0)
    return {"multiplication": size + 1, "plusminus": 4, "plaid": 2}.get(game.name, 0)


def _actions_left(game: Any, state: Any) -> int:
    """Return how many actions are left: in plaid at least, and in coprimality at most, as nobody knows."""
    if game.name == "plaid":
        left: int = game.options["lines"] - len(state.vertical) - len(state.horizontal)
        return left
    if game.name == "coprimality":
        return 1 << 30
    signs = 2 * (game.size - 1) - sum(map(len, state.predictions)) if game.name == "plusminus" else 0
    numbers = game.size - max(1, len(state.numbered)) if game.name == "multiplication" else 0
    return signs + numbers + int(state.heights.count(0))


def _ends(
    game: Game[Any],
    limits: Limits,
    seat: int,
    choose: Callable[[Any, Sequence[Any]], Sequence[Any]],
    searched: int | None = None,
) -> Iterator[Any]:
    """Yield the states at which a walk ends in which a seat takes what ``choose`` leaves of the legal actions."""
    visited: set[Any] = set()
    unvisited: list[Iterator[Any]] = [iter((game.initial_state(),))]
    while unvisited:
        state = next(unvisited[-1], None)
        if state is None:
            unvisited.pop()
        elif state not in visited:
            visited.add(state)
            limits.check_time()
            if len(visited) > MAX_STATES:
                raise UsageError(f"the strategy of seat {seat} has more than {counted(MAX_STATES, 'state')}")
            if game.is_over(state) or (searched is not None and _actions_left(game, state) <= searched):
                yield state
                continue
            actions: Sequence[Any] = game.legal_actions(state)
            if game.seat_to_act(state) == seat:
                actions = choose(state, actions)
            unvisited.append(map(game.apply, [state] * len(actions), actions))


class _Walk:
    """Finds what a seat plays in the states that follow from its choices."""

    def __init__(self, game: Game[Any], path: str, limits: Limits) -> None:
        self._game = game
        self._limits = limits
        self._searched = _searched(game)
        self._oracle = Oracle(game, path, limits, _table_by_rules(game, path, limits))
        self._oracle.prepare(PREPARE_SECONDS)

    def value(self) -> int:
        """Return what the first state is worth to seat 0."""
        start = self._game.initial_state()
        worths = [self._worth(choice.worth) for choice in self._exact_actions(start)]
        return max(worths) if self._game.seat_to_act(start) == 0 else min(worths)

    def table(self, seat: int, holds: int) -> tuple[int, ...]:
        """Return which of its legal actions a seat plays to hold ``holds``, in the order of the walk."""
        played: list[int] = []

        def choose(state: Any, actions: Sequence[Any]) -> Sequence[Any]:
            played.append(self._first_holding(state, seat, holds))
            return actions[played[-1] : played[-1] + 1]

        for _ in _ends(self._game, self._limits, seat, choose, self._searched):
            pass
        return tuple(played)

    def _first_holding(self, state: Any, seat: int, holds: int) -> int:
        sign = -1 if seat else 1
        worths = (sign * self._worth(choice.worth) for choice in self._exact_actions(state))
        return next(number for number, worth in enumerate(worths) if worth >= holds)

    def _exact_actions(self, state: Any) -> list[ActionWorth]:
        worths = self._oracle.exact_actions(state)
        if worths is None:
            raise TimeIsUpError(f"the time is up before all states of {self._game.name} are solved; allow more time")
        return worths

    def _worth(self, worth: Worth) -> int:
        if self._game.name == "plaid":
            return SIGNS[worth.outcome] if worth.outcome is not None else 0
        return int(worth.margin or 0)
