"""Builds feeds of the latest results."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from arena.base.errors import UnknownNameError
from arena.base.records import MatchRecord
from arena.site.frame.authors import authors_of
from arena.site.pages.feed import MAX_ENTRIES, Feed, FeedEntry, tag_uri
from arena.site.pages.results import listed_result
from arena.store.home import ArenaHome
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

_BEGINNING = "1970-01-01T00:00:00+00:00"
"""For what has no time, because an early version stored it or nothing has happened."""


def tournament_feed(home: ArenaHome, name: str) -> Feed:
    """Return the latest results of a tournament.

    Raises:
        UnknownNameError: if it does not exist.
    """
    tournament = home.store.tournament(name)
    last = home.store.records(tournament).last(MAX_ENTRIES) if tournament.recorded else []
    entries = _latest_first(_entry(tournament, record) for record in last)
    return Feed(
        id=tag_uri(tournament.created_at, "tournament", _identity(tournament)),
        title=f"Results of {tournament.name}",
        at=entries[0].at if entries else tournament.created_at,
        entries=entries,
    )


def bot_feed(home: ArenaHome, bot: str) -> Feed:
    """Return the latest results of a bot (NAME or NAME@VERSION).

    Raises:
        UnknownNameError: if it does not exist.
    """
    labels = _labels(home.store, bot)
    numbered = {tournament.number: tournament for tournament in home.store.tournaments()}
    latest = [(numbered[k], one) for k, one in home.store.matches_of(labels).latest(MAX_ENTRIES) if k in numbered]
    entries = _latest_first(_entry(tournament, record) for tournament, record in latest)
    return Feed(
        id=tag_uri(_BEGINNING, "bot", blake2b(bot.encode(), digest_size=8).hexdigest()),
        title=f"Results of {bot}",
        at=entries[0].at if entries else _BEGINNING,
        entries=entries,
    )


def _labels(store: Store, bot: str) -> list[str]:
    """Return the versions that are meant, as ``name@version``."""
    entered = {label for tournament in store.tournaments() for label in tournament.definition.shown_names}
    known = sorted(entered | {submitted.label for submitted in store.submitted_bots()})
    found = [label for label in known if bot in (label, label.rpartition("@")[0])]
    if not found:
        raise UnknownNameError("bot", bot, known)
    return found


def _entry(tournament: StoredTournament, record: MatchRecord) -> FeedEntry:
    at = record.started_at or tournament.created_at
    known = authors_of([tournament])
    return FeedEntry(
        id=tag_uri(tournament.created_at, "tournament", _identity(tournament), "match", str(record.match), at),
        result=listed_result(tournament.name, record, tournament.definition.shown_names),
        at=at,
        authors=tuple(sorted({known[label] for label in record.bots if label in known})),
    )


def _identity(tournament: StoredTournament) -> str:
    """Return what a tournament keeps when it is renamed."""
    return blake2b(f"{tournament.number} {tournament.created_at}".encode(), digest_size=8).hexdigest()


def _latest_first(entries: Iterable[FeedEntry]) -> tuple[FeedEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.at, entry.result.match), reverse=True))
