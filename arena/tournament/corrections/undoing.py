"""Undoing a correction: what it has set aside counts again, and what has been played in its place is set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.base.definition import Definition, bot_from_json
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import UsageError
from arena.base.records import Seating
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails, undone_by
from arena.tournament.corrections.corrected_tournament import (
    CorrectedTournament,
    Replays,
    corrected_tournament,
    with_entrants,
)


def undo_correction(store: Store, tournament: str, number: int | None = None, *, reason: str) -> Correction:
    """Undo a correction."""
    with corrected_tournament(store, tournament, reason) as corrected:
        undone = _chosen(corrected, number)
        _require_nothing_later(corrected, undone)
        if undone.kind is CorrectionKind.ENTER:
            return _undo_entry(corrected, undone)
        if undone.kind is CorrectionKind.REPLACE:
            return _undo_replacement(corrected, undone)
        lines = _set_aside_by(corrected, undone)
        corrected.require_current_stage(lines)
        _require_same_rounds(corrected, undone)
        return _undo_other(corrected, undone, lines)


def _chosen(corrected: CorrectedTournament, number: int | None) -> Correction:
    name = corrected.stored.name
    if not corrected.in_force:
        raise UsageError(f"tournament {name!r} has no correction that could be undone")
    if number is None:
        return corrected.in_force[-1]
    found = next((c for c in corrected.in_force if c.number == number), None)
    if found is not None:
        return found
    if number in undone_by(corrected.stored.corrections):
        raise UsageError(f"correction {number} of tournament {name!r} is undone already; nothing was changed")
    numbers = ", ".join(str(c.number) for c in corrected.in_force)
    raise UsageError(f"correction {number} of tournament {name!r}: expected one that can be undone: {numbers}")


def _details(undone: Correction, replays: Replays | None = None) -> CorrectionDetails:
    return CorrectionDetails(
        undoes=undone.number,
        entrant=undone.details.entrant,
        bot=undone.details.bot,
        missed=() if replays is None else replays.missed,
    )


def _set_aside_by(corrected: CorrectedTournament, c: Correction) -> list[Seating]:
    chosen = set(corrected.store.corrections.set_aside_matches(corrected.stored, c.number))
    return [line for line in corrected.lines if line.match in chosen]


def _require_nothing_later(corrected: CorrectedTournament, undone: Correction) -> None:
    own = _set_aside_by(corrected, undone)
    for later in corrected.in_force:
        if later.number > undone.number and _builds_on(corrected, later, undone, own):
            raise UsageError(
                f"correction {undone.number} of tournament {corrected.stored.name!r}: correction {later.number}"
                f" ({later.kind.shown}) came later and builds on it; undo that one first"
            )


def _builds_on(corrected: CorrectedTournament, later: Correction, undone: Correction, own: Sequence[Seating]) -> bool:
    entrant = later.details.entrant
    if entrant is not None and entrant == undone.details.entrant:
        return True
    matches = {line.match for line in own}
    if undone.kind is CorrectionKind.ENTER:  # undoing the later one would bring records of the late entrant back
        matches = {line.match for line in corrected.lines if undone.details.entrant in line.seats}
    if not matches.isdisjoint(corrected.store.corrections.set_aside_matches(corrected.stored, later.number)):
        return True
    if corrected.format.needs_results and any(
        absence.entrant in line.seats and absence.covers(line.round) for absence in later.details.missed for line in own
    ):
        return True
    rewrites = later.kind is CorrectionKind.REPLACE or (later.details.disqualified_matches is DisqualifiedMatches.ANNUL)
    return rewrites and any(entrant in line.seats for line in own)


def _require_same_rounds(corrected: CorrectedTournament, undone: Correction) -> None:
    is_absence = undone.details.absent_from is not None
    has_stages = corrected.format.has_later_stages
    if is_absence and has_stages and undone.details.last_round < corrected.last_round:
        raise UsageError(
            f"correction {undone.number} of tournament {corrected.stored.name!r}: later duels have been paired without"
            f" {undone.details.bot}, so it can't come back"
        )


def _undo_other(corrected: CorrectedTournament, undone: Correction, lines: Sequence[Seating]) -> Correction:
    absent = corrected.absent_without(undone)
    entrant = undone.details.entrant
    if entrant is None or entrant in absent:
        return corrected.make(CorrectionKind.UNDO, _details(undone))
    back = {line.match for line in lines}
    own = [line for line in corrected.matches_of(entrant) if line.match not in corrected.recorded | back]
    own = [line for line in own if not _is_of_undone_entry(corrected, line)]
    replays = corrected.replays(own, absent)
    unskip = {line.match for line in own} - set(replays.skip)
    return corrected.make(CorrectionKind.UNDO, _details(undone, replays), unskip=sorted(unskip))


def _is_of_undone_entry(corrected: CorrectedTournament, line: Seating) -> bool:
    entries = {c.number for c in corrected.stored.corrections if c.kind is CorrectionKind.ENTER}
    undoing = {c.number for c in corrected.stored.corrections if c.details.undoes in entries}
    return not undoing.isdisjoint(corrected.left_out.get(line.match, ()))


def _undo_entry(corrected: CorrectedTournament, undone: Correction) -> Correction:
    entrant = undone.details.entrant
    every = [line.match for line in corrected.lines if entrant in line.seats]
    recorded = [match for match in every if match in corrected.recorded]
    details = replace(_details(undone), absent_from=1)
    return corrected.make(CorrectionKind.UNDO, details, set_aside=recorded, skip=every)


def _undo_replacement(corrected: CorrectedTournament, undone: Correction) -> Correction:
    entrant = undone.details.entrant
    if entrant is None:
        raise UsageError(f"correction {undone.number} of tournament {corrected.stored.name!r} names no entrant")
    where = f"correction {undone.number} of tournament {corrected.stored.name!r}: the replaced bot"
    entrants = list(corrected.definition.entrants)
    entrants[entrant] = bot_from_json(undone.details.replaced, where)
    changed: Definition = with_entrants(
        corrected.definition, tuple(entrants), advice="first undo the correction that gave it these"
    )
    played = [line for line in corrected.matches_of(entrant) if line.match in corrected.recorded]
    back = _set_aside_by(corrected, undone)
    corrected.require_current_stage([*played, *back])
    returning = {line.match for line in back}
    replays = corrected.replays([line for line in played if line.match not in returning])
    details = replace(
        _details(undone, replays),
        settings=None if changed.settings == corrected.definition.settings else corrected.definition.settings,
    )
    set_aside = [line.match for line in played]
    return corrected.make(CorrectionKind.UNDO, details, set_aside=set_aside, skip=replays.skip, definition=changed)
