"""Taking a tournament from elsewhere, whether or not it exists here."""

from __future__ import annotations

from collections.abc import Callable, Collection

from arena.base.errors import StoreError, UsageError
from arena.base.names import as_file_name, check_tournament_name
from arena.store.results.addition import Source
from arena.store.results.store import Store
from arena.tournament.transfer.known_tournament import KnownTournament
from arena.tournament.transfer.new_tournament import NewTournament
from arena.tournament.transfer.record_checks import MALFORMED, RefusedRecordError
from arena.tournament.transfer.results import MergedTournament

MAX_NAME_CHARACTERS = 64

Place = Callable[[int], str]
"""Returns where the record of a match is in an export, as the beginning of a sentence."""


def combine(
    store: Store,
    source: Source,
    name: str,
    external_games: Collection[str] = (),
    place_of: Place = lambda match: "",
) -> MergedTournament:
    """Take a tournament from elsewhere, or what the tournament of its name lacks here, in one transaction.

    Args:
        store: where it is taken to.
        source: where it comes from; nobody else changes it.
        name: the tournament.
        external_games: the games from outside the package that may be imported for it.
        place_of: where the record of a match is, for messages.

    Returns:
        What was taken, or the refusal; nothing was changed then.
    """
    try:
        return _combine(store, source, name, external_games)
    except RefusedRecordError as error:
        reason = f"{place_of(error.match)}{error}"
    except UsageError as error:
        reason = str(error)
    except MALFORMED as error:
        reason = f"it is malformed: {type(error).__name__}: {error}"
    return MergedTournament(name=name, refusal=f"tournament {as_file_name(name)!r}: {reason}; nothing of it was taken")


def _combine(store: Store, source: Source, name: str, external_games: Collection[str]) -> MergedTournament:
    if len(name) > MAX_NAME_CHARACTERS:
        raise StoreError(f"its name is longer than {MAX_NAME_CHARACTERS} characters")
    if store.find_tournament(name) is None:
        check_tournament_name(name, "its name")
    with store.lock(name):
        here, there = store.find_tournament(name), source.tournament(name)
        if here is None:
            return NewTournament(source, there).take(store, external_games)
        return KnownTournament(store, here, source, there).take()
