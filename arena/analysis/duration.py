"""An estimate of the time that a schedule takes, from similar matches in earlier records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from arena.definition import Definition
from arena.records import MatchRecord
from arena.store.store import Store

MAX_RECORDS = 2000
"""The latest records of a game from which the time is estimated."""

MATCH_OVERHEAD_SECONDS = 0.0003
"""The time of a match apart from its bots' actions."""


def seconds_a_match(store: Store, definition: Definition) -> list[float | None]:
    """Return the mean seconds of a match of each game of a tournament, in order; None for games without such matches.

    They are matches of the same game with the same options, and all their bots take part in the tournament.
    """
    labels = {bot.label for bot in definition.entrants}
    means: list[float | None] = []
    for choice in definition.games:
        seconds = [
            _seconds_of(record)
            for record in islice(_latest(store, choice.game), MAX_RECORDS)
            if record.options == choice.options and labels.issuperset(record.bots)
        ]
        means.append(sum(seconds) / len(seconds) if seconds else None)
    return means


def _latest(store: Store, game: str) -> Iterable[MatchRecord]:
    for tournament in reversed(store.tournaments()):
        if game in tournament.games and tournament.recorded:
            yield from islice(store.records(tournament, game), MAX_RECORDS // 4)


def _seconds_of(record: MatchRecord) -> float:
    action_seconds = [seconds for seconds in record.wall_seconds if seconds is not None]
    return MATCH_OVERHEAD_SECONDS + sum(action_seconds)
