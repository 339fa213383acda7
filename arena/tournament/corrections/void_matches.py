"""Matches that are void: their records don't count, and they are played again."""

from __future__ import annotations

from collections.abc import Iterable

from arena.base.enums import CorrectionKind
from arena.base.errors import UsageError
from arena.base.text import shortened_text
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails
from arena.tournament.corrections.corrected_tournament import corrected_tournament


def void_matches(store: Store, tournament: str, matches: Iterable[int], *, reason: str) -> Correction:
    """Void matches: their records are set aside, and the next run plays them again, with the same opening and seats.

    A match of an entrant who has withdrawn since can't be played again.

    Args:
        store: where the tournament is.
        tournament: its name.
        matches: their numbers.
        reason: for everybody to read.

    Raises:
        UsageError: if a match has no record, or in a knockout later duels follow from it.
        StoreError: if the tournament is being run.
    """
    numbers = frozenset(matches)
    wanted = tuple(sorted(numbers))
    with corrected_tournament(store, tournament, reason) as corrected:
        if not wanted:
            raise UsageError("matches: expected the number of at least one match")
        missing = [number for number in wanted if number not in corrected.recorded]
        if missing:
            shown = shortened_text(", ".join(map(str, missing)))
            raise UsageError(
                f"tournament {tournament!r}: no record of match {shown}; {len(corrected.recorded)} of its"
                f" {len(corrected.lines)} matches have one"
            )
        chosen = [line for line in corrected.lines if line.match in numbers]
        corrected.require_current_stage(chosen)
        replays = corrected.replays(chosen)
        details = CorrectionDetails(matches=wanted, missed=replays.missed)
        return corrected.make(CorrectionKind.VOID, details, set_aside=wanted, skip=replays.skip)
