"""The checks of a game, in their order, and the games and positions in which they are made."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from arena.base.records import DEFAULT_PLY_LIMIT
from arena.base.text import counted
from arena.games import find_game
from arena.games.conformance import game_checks
from arena.games.conformance.calls import CALL_SECONDS, guarded, time_limits
from arena.games.conformance.exploration import SEARCH_SECONDS, Exploration, Suite
from arena.games.conformance.finding import Finding, MistakeError, unexaminable
from arena.games.game import Game, IntOption, Option

# A game with one option changed: each whole number at its lowest and highest, each choice, and three players.

T = TypeVar("T")

_STEPS = 12
"""If the lowest or highest value does not fit the other options, this number of nearer ones is tried."""


def variants(
    table: Iterable[Option], fitting: Callable[[dict[str, Any]], T | None]
) -> Iterator[tuple[dict[str, Any], T]]:
    """Yield one changed option at a time, with the result of ``fitting`` unless that is None: options may not fit."""
    for option in table:
        tried: set[int | str] = {option.default}
        for values in _extremes(option):
            for value in values:
                if value in tried:
                    break
                tried.add(value)
                variant = fitting({option.name: value})
                if variant is not None:
                    yield {option.name: value}, variant
                    break


def _extremes(option: Option) -> Iterator[Sequence[int | str]]:
    """Yield the values to try, the best one first, until one fits."""
    if not isinstance(option, IntOption):
        yield from ((choice,) for choice in option.choices)
        return
    yield range(option.minimum, min(option.maximum, option.minimum + _STEPS) + 1)
    if option.name == "players":
        yield range(3, min(option.maximum, 3) + 1)
    yield range(option.maximum, max(option.minimum, option.maximum - _STEPS) - 1, -1)


# The checks of a game, in their order, and the positions in which they are made.

_NEAR = 60
_MATCHES = 20
_NEAR_OF_VARIANT = 8
_MATCHES_OF_VARIANT = 2

_CHECK_SECONDS = 20.0
_VARIANT_SECONDS = 2.0


CHECKS: Mapping[str, str] = {
    "attributes": "has a name, a summary, options and rules",
    "options": "accepts its options' bounds, and nothing beyond",
    "path": "is found by its path; repr can be evaluated",
    "initial_state": "has an initial state",
    "seats": "says which seat is to act, until the match is over",
    "legal_actions": "lists legal actions, each once and in one order",
    "states": "has states that are values, and never change",
    "apply": "accepts every legal action",
    "repeatability": "gives the same answers again",
    "refusal": "refuses everything else with IllegalActionError",
    "observation": "has observations that can be sent",
    "restoring": "restores states from observations",
    "scores": "has a finite score for each seat, at any time",
    "ranks": "has competition ranks",
    "elimination": "keeps eliminated seats out",
    "text": "reads back the text of actions",
    "render": "draws a board of text",
    "drawing": "draws shapes",
    "space": "has a space that fits, if any",
    "pickling": "can be pickled, and its states too",
    "end": "comes to an end",
}
"""Every check, with what it says of a game that passes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check in ``CHECKS``; ``is_tried`` is False if another mistake made it pointless."""

    check: str
    finding: Finding | None = None
    detail: str = ""
    is_tried: bool = True


def check(
    game: Game[Any] | type[Game[Any]] | str,
    *,
    rng_seed: int = 0,
    matches: int = _MATCHES,
    max_plies: int = DEFAULT_PLY_LIMIT,
    call_seconds: float = CALL_SECONDS,
) -> tuple[Finding, ...]:
    """Return the mistakes in the rules of a game: at most one for each check, and none if it passes.

    >>> from arena.games import make_game
    >>> check(make_game("differences", size=3), matches=2)
    ()
    >>> check("plaid", matches=2)
    ()

    Args:
        game: the game, or its class or its name, with the defaults of its options.
        rng_seed: determines the random matches.
        matches: the number of random matches.
        max_plies: a match that is longer never ends.
        call_seconds: a call of a method that takes longer never returns. In the main thread it is interrupted then.
    """
    results = run_checks(game, rng_seed=rng_seed, matches=matches, max_plies=max_plies, call_seconds=call_seconds)
    return tuple(result.finding for result in results if result.finding is not None)


def run_checks(
    game: Game[Any] | type[Game[Any]] | str,
    *,
    rng_seed: int = 0,
    matches: int = _MATCHES,
    max_plies: int = DEFAULT_PLY_LIMIT,
    call_seconds: float = CALL_SECONDS,
    seconds: float | None = None,
    on_position: Callable[[int], None] = lambda positions: None,
) -> list[CheckResult]:
    """Return the result of every check, in the order of ``CHECKS``.

    Args:
        game: as for ``check``; so are ``rng_seed``, ``matches``, ``max_plies`` and ``call_seconds``.
        seconds: about how much CPU time to use; by default 20, and 2 for each variant of the options.
        on_position: called with the number of positions so far.
    """
    game_class = find_game(game) if isinstance(game, str) else game
    suite = _Suite(
        rng_seed=rng_seed,
        max_plies=max_plies,
        call_seconds=call_seconds,
        search_seconds=SEARCH_SECONDS if seconds is None else min(SEARCH_SECONDS, seconds / 4),
        on_position=on_position,
        matches=matches,
        check_seconds=_CHECK_SECONDS if seconds is None else min(_CHECK_SECONDS, seconds / 2),
        end=math.inf if seconds is None else time.process_time() + seconds,
    )
    with time_limits():
        suite.run(game_class)
    return [suite.result(name) for name in CHECKS]


@dataclass(slots=True, kw_only=True)
class _Suite(Suite):
    matches: int
    check_seconds: float
    end: float
    variants: int = 0

    def run(self, game: Game[Any] | type[Game[Any]]) -> None:
        game_class = game if isinstance(game, type) else type(game)
        self.path = f"{game_class.__module__}:{game_class.__qualname__}"
        self._check("path", self._find_path, game_class)
        if self.found:
            return
        self._check("attributes", game_checks.check_table, game_class)
        if self.found:
            return
        self._check("attributes", game_checks.check_attributes, game_class)
        instance = self._made(game_class, {}) if isinstance(game, type) else game
        if instance is None and "options" not in self.found:
            self.add("options", MistakeError("its own defaults don't fit together"))
        if instance is None:
            return
        self._check("attributes", game_checks.check_players, instance)
        if self.has_ended:
            return
        self._check("path", game_checks.check_path, instance)
        self._check("pickling", game_checks.check_pickling, instance)
        Exploration(self, instance, _NEAR, self.matches, self.check_seconds).run()
        if not self.has_ended:
            self._check_options(game_class, instance)

    def _find_path(self, game_class: type[Game[Any]]) -> None:
        self.path = guarded(game_class.path, "path", game_class.__module__, check="path")

    def _check_options(self, game_class: type[Game[Any]], instance: Game[Any]) -> None:
        self._check("options", game_checks.check_bounds, game_class)
        for _, variant in variants(
            game_class.OPTIONS, lambda changed: self._made(game_class, {**instance.options, **changed})
        ):
            if not self.has_ended:
                self.variants += 1
                remaining_seconds = max(0.0, min(_VARIANT_SECONDS, self.end - time.process_time()))
                Exploration(self, variant, _NEAR_OF_VARIANT, _MATCHES_OF_VARIANT, remaining_seconds).run()

    def _made(self, game_class: type[Game[Any]], options: dict[str, Any]) -> Game[Any] | None:
        try:
            return game_checks.made(game_class, options)
        except MistakeError as mistake:
            self.add("options", mistake)
            return None

    def _check(self, name: str, function: Callable[..., None], *arguments: Any) -> None:
        self.count[name] += 1
        try:
            function(*arguments)
        except MistakeError as mistake:
            self.add(mistake.check or name, mistake)
        except Exception as error:
            self.add(name, unexaminable(error, self.path.partition(":")[0]))

    def result(self, name: str) -> CheckResult:
        count = self.count[name]
        details = {
            "options": counted(self.variants, "variant"),
            "end": f"{counted(count, 'match')}{', as far as the time allowed' if self.is_cut else ''}",
            **dict.fromkeys(("attributes", "path", "initial_state"), ""),
        }
        return CheckResult(
            check=name,
            finding=self.found.get(name),
            detail=details.get(name, counted(count, "position")),
            is_tried=count > 0 or name in self.found,
        )
