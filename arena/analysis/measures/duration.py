"""An estimate of the time that a schedule takes, from matches already played, and its bound by the time control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from statistics import fmean, variance

from arena.base.definition import Definition
from arena.base.records import MatchRecord, TimeControl
from arena.ratings.distributions import t_quantile
from arena.store.results.store import Store

MAX_RECORDS = 2000
"""The latest records of a game from which the time is estimated."""

MATCH_OVERHEAD_SECONDS = 0.0003
"""The time of a match apart from its bots' actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameTimes:
    """How long matches of one game of a tournament have taken.

    Attributes:
        game: the game's name.
        players: of the game.
        seconds: of each match.
        actions: how many actions the bots chose, of each match.
    """

    game: str
    players: int
    seconds: tuple[float, ...]
    actions: tuple[int, ...]

    @property
    def mean_seconds(self) -> float:
        """The mean time of a match."""
        return fmean(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate of the time for matches played one after another.

    Attributes:
        seconds: the estimate.
        interval: of 95 %; None if a game has a single match.
    """

    seconds: float
    interval: tuple[float, float] | None


def recorded_times(store: Store, definition: Definition) -> list[GameTimes]:
    """Return how long recorded matches of each game of a tournament have taken.

    They are matches of the same game with the same options, and all their bots take part in the tournament.
    """
    labels = {bot.label for bot in definition.entrants}
    found = []
    for choice in definition.games:
        latest = islice(_latest(store, choice.game), MAX_RECORDS)
        records = [one for one in latest if one.options == choice.options and labels.issuperset(one.bots)]
        found.append(times_of(records, choice.game, choice.players))
    return found


def _latest(store: Store, game: str) -> Iterable[MatchRecord]:
    for tournament in reversed(store.tournaments()):
        if game in tournament.games and tournament.recorded:
            yield from islice(store.records(tournament, game), MAX_RECORDS // 4)


def times_of(records: Iterable[MatchRecord], game: str, players: int, start_seconds: float = 0.0) -> GameTimes:
    """Return how long matches of a game have taken.

    Args:
        records: of the matches.
        game: the game's name.
        players: of the game.
        start_seconds: what starting bots adds to each match.
    """
    actions = [[seconds for seconds in record.wall_seconds if seconds is not None] for record in records]
    return GameTimes(
        game=game,
        players=players,
        seconds=tuple(MATCH_OVERHEAD_SECONDS + start_seconds + sum(seconds) for seconds in actions),
        actions=tuple(map(len, actions)),
    )


def estimate(times: Sequence[GameTimes], matches: Sequence[float]) -> Estimate:
    """Estimate how long matches take, one after another.

    Args:
        times: of each game, with at least one match.
        matches: how many are to be played of each game.
    """
    mean = sum(count * own.mean_seconds for own, count in zip(times, matches, strict=True))
    fewest = min(len(own.seconds) for own in times)
    if fewest < 2:
        return Estimate(seconds=mean, interval=None)
    error = sqrt(
        sum(count**2 * variance(own.seconds) / len(own.seconds) for own, count in zip(times, matches, strict=True))
    )
    half = t_quantile(fewest - 1, 0.975) * error
    shortest = sum(count * min(own.seconds) for own, count in zip(times, matches, strict=True))
    return Estimate(seconds=mean, interval=(max(shortest, mean - half), mean + half))


def bound_seconds(times: Sequence[GameTimes], matches: Sequence[float], control: TimeControl) -> float | None:
    """Return how long matches take, one after another, if bots use all their time; None if it is not limited.

    A match is taken to have as many actions as the longest that has been played.
    """
    total = 0.0
    for own, count in zip(times, matches, strict=True):
        actions = max(own.actions)
        bounds = []
        if control.per_action_seconds is not None:
            bounds.append(actions * control.per_action_seconds)
        if control.bank_seconds is not None:
            bounds.append(own.players * control.bank_seconds + actions * control.increment_seconds)
        if not bounds:
            return None
        total += count * min(bounds)
    return total
