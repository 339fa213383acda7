"""What the openings of a tournament are worth before the bots begin."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import hypot
from typing import Any

from arena.base.definition import Definition
from arena.base.enums import OpeningChoice
from arena.base.text import counted
from arena.games.game import Game
from arena.games.kernels.loading import has_kernel, is_built
from arena.games.kernels.playouts import BATCHES, PLAYOUTS, PlayoutMargin, playout_margin
from arena.games.kernels.slips import MOST_STATES, slip_encounters
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import Outcome
from arena.ratings.distributions import t_quantile

# What openings are worth before the bots begin: how many are won by either seat with best play, and how many drawn.

_OUTCOMES = {1: Outcome.WIN, 0: Outcome.DRAW, -1: Outcome.LOSS}

_MOST_STATES_BY_RULES = 5_000
"""After an opening, without a kernel: that many are solved in less than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningBalance:
    """How many openings seat 0 wins, draws and loses with best play."""

    openings: int
    won: int
    drawn: int
    lost: int

    @property
    def known(self) -> int:
        """Of how many openings it is known who wins."""
        return self.won + self.drawn + self.lost


class OpeningWorth:
    """Says who wins from an opening on, as far as that can be found out by a deadline."""

    def __init__(self, game: Game[Any], path: str, deadline: float) -> None:
        """Judge openings of a game for two until a deadline of ``time.monotonic``."""
        is_fast = isinstance(game, Game) and has_kernel(game) and is_built(game)
        self._game = game
        self._deadline = deadline
        self._most_states = MOST_STATES if is_fast else _MOST_STATES_BY_RULES
        self._oracle = Oracle(game, path, Limits(deadline=deadline))

    def outcome(self, opening: Sequence[Any]) -> Outcome | None:
        """Return how matches end from an opening on; None if that is not known in time."""
        if time.monotonic() >= self._deadline:
            return None
        if self._most_states:
            found = slip_encounters(
                self._game, opening, seed=0, count=0, slips_permille=(0, 0), most_states=self._most_states
            )
            if found is not None:
                return _OUTCOMES[found.outcome]
            self._most_states = 0
        state = self._game.initial_state()
        for action in opening:
            state = self._game.apply(state, action)
        return self._oracle.worth(state).outcome


def opening_balance(game: Game[Any], path: str, openings: Iterable[Sequence[Any]], deadline: float) -> OpeningBalance:
    """Return what openings of a game for two are worth, as far as that is known by a deadline of ``time.monotonic``."""
    worth = OpeningWorth(game, path, deadline)
    outcomes = [worth.outcome(opening) for opening in openings]
    counts = Counter(outcomes)
    return OpeningBalance(
        openings=len(outcomes), won=counts[Outcome.WIN], drawn=counts[Outcome.DRAW], lost=counts[Outcome.LOSS]
    )


def judged_margins(game: Game[Any], openings: Iterable[Sequence[Any]], deadline: float) -> list[PlayoutMargin]:
    """Return the margin of random playouts from each opening, until a deadline of ``time.monotonic``.

    Without a kernel there is nothing: by the rules in Python it would take minutes.
    """
    if not (has_kernel(game) and is_built(game)):
        return []
    in_time = takewhile(lambda _: time.monotonic() < deadline, enumerate(openings))
    return [playout_margin(game, opening, number) for number, opening in in_time]


# What the openings of a tournament are worth, as text.

_CHOSEN = {OpeningChoice.INFORMATION: " of those that tell most", OpeningChoice.BOOK: " of the book"}


def opening_sentence(definition: Definition, game: int, found: OpeningBalance) -> str:
    """Return how many of the openings of a game are decided before the bots begin."""
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    if not found.known:
        return f"openings{where}: who wins {counted(found.openings, 'opening')} is not found out in time (--within)"
    chosen = _CHOSEN[definition.openings[game].choose] if definition.openings else ""
    share = (found.won + found.lost) / found.known
    of_all = f" of {found.openings:,}" if found.known < found.openings else ""
    drawn = "1 is a draw" if found.drawn == 1 else f"{found.drawn:,} are draws"
    return (
        f"openings{where}: {100 * share:.0f} %{chosen} are won before the bots begin (n = {found.known:,}{of_all}:"
        f" {found.won:,} by seat 0, {found.lost:,} by seat 1; {drawn})"
    )


def judged_sentence(definition: Definition, game: int, openings: int, margins: Sequence[PlayoutMargin]) -> str:
    """Describe openings that random playouts have chosen, from the margins that there was time for."""
    where = f" in {definition.games[game].game}" if len(definition.games) > 1 else ""
    chosen = f"openings{where}: chosen by random playouts, as too many states follow them to be solved"
    if not margins:
        return f"{chosen}; how far those end apart is not found out in time (--within)"
    mean = sum(one.mean for one in margins) / len(margins)
    error = hypot(*(one.error for one in margins)) / len(margins)
    lowest, highest = (find(margins, key=lambda one: one.mean) for find in (min, max))
    of_all = f" of {openings:,}" if len(margins) < openings else ""
    return (
        f"{chosen}; in {PLAYOUTS:,} playouts from each (n = {len(margins):,}{of_all}) seat 0 is ahead by"
        f" {_margin(mean, error)} points in the mean, from single openings by {_margin(lowest.mean, lowest.error)} to"
        f" {_margin(highest.mean, highest.error)}; this is judged, and not what they are worth with best play"
    )


def _margin(mean: float, error: float) -> str:
    return f"{mean:+.2f} (± {t_quantile(BATCHES - 1, 0.975) * error:.2f})"
