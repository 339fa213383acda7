"""The annotation of a recorded match, as the store has it: read by what shows matches, so it imports little."""

from __future__ import annotations

from arena.base.errors import StoreError
from arena.base.records import MatchRecord
from arena.lab.matches.annotation import Annotation
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament


def annotation_of(store: Store, tournament: StoredTournament, record: MatchRecord) -> Annotation | None:
    """Return the annotation of a recorded match; None if it has none, or one that does not fit the record."""
    text = store.annotations.find(tournament, record.match)
    if text is None:
        return None
    try:
        annotation = Annotation.from_text(text)
    except StoreError:
        return None
    fits = annotation.opening_plies == record.opening_plies and len(record.bots) == 2
    seats = [action.seat for action in annotation.actions]
    return annotation if fits and seats == [seat for seat, _ in record.actions] else None
