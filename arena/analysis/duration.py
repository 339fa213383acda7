"""How long a schedule will take, from what matches of its kind have taken before."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from arena.definition import Definition
from arena.records import MatchRecord
from arena.store.store import Store

LOOKED_AT = 2000
"""Records of a game that are looked at, the latest tournaments first."""

LEAST_SECONDS = 0.0003
"""What a match costs beside its bots' thinking."""


def seconds_a_match(store: Store, definition: Definition) -> list[float | None]:
    """Return the mean seconds of a match of each game of a tournament, in order; None for those not measured yet.

    Measured are matches of the same game with the same options whose bots all take part.
    """
    labels = {bot.label for bot in definition.entrants}
    found: list[float | None] = []
    for choice in definition.games:
        seconds = [
            _seconds_of(record)
            for record in islice(_latest(store, choice.game), LOOKED_AT)
            if record.options == choice.options and labels.issuperset(record.bots)
        ]
        found.append(sum(seconds) / len(seconds) if seconds else None)
    return found


def _latest(store: Store, game: str) -> Iterable[MatchRecord]:
    for tournament in reversed(store.tournaments()):
        if game in tournament.games and tournament.recorded:
            yield from islice(store.records(tournament, game), LOOKED_AT // 4)


def _seconds_of(record: MatchRecord) -> float:
    seconds: list[float] = [one for one in record.wall_seconds if one is not None]
    return LEAST_SECONDS + sum(seconds)
