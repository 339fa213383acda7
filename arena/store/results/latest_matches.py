"""Which matches were recorded last, in all tournaments, as the log of events has it."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from arena.base.enums import EventKind
from arena.store.results.connection import Database
from arena.store.results.event_log import stored_event
from arena.store.results.events import tournament_topic
from arena.store.results.match_line import MatchKey
from arena.store.results.schema import events

MAX_EVENTS_READ = 1000


def latest_matches(database: Database, tournaments: Collection[int], count: int) -> list[MatchKey]:
    """Return the matches that were recorded or imported last, the last first.

    Args:
        database: where they are.
        tournaments: the numbers of the tournaments that count.
        count: how many matches at most.

    Raises:
        StoreError: if an event is malformed.
    """
    number_of = {tournament_topic(number): number for number in tournaments}
    query = select(events).where(events.c.kind.in_((EventKind.RESULTS, EventKind.IMPORTED)))
    query = query.order_by(events.c.at.desc(), events.c.topic, events.c.seq.desc()).limit(MAX_EVENTS_READ)
    found: dict[MatchKey, None] = {}
    for row in database.each(query):
        if row.topic in number_of:
            event = stored_event(row)
            found |= dict.fromkeys(MatchKey(number_of[row.topic], match) for match in reversed(event.details.matches))
        if len(found) >= count:
            break
    return list(found)[:count]
