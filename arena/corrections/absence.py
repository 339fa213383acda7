"""Entrants who are not paired any more: withdrawn, or disqualified."""

from __future__ import annotations

from arena.corrections.corrected_tournament import CorrectedTournament, corrected_tournament
from arena.enums import CorrectionKind, DisqualifiedMatches
from arena.errors import UsageError
from arena.store.correction import Correction, CorrectionDetails
from arena.store.store import Store


def withdraw(store: Store, tournament: str, bot: str, *, reason: str) -> Correction:
    """Withdraw an entrant: its recorded matches stay, and it is not paired any more.

    In a Swiss its later rounds count nothing, and whoever was to meet it has the point of a bye; in a knockout its
    rival advances.

    Args:
        store: where the tournament is.
        tournament: its name.
        bot: the entrant, as ``name`` or ``name@version``.
        reason: for everybody to read.

    Raises:
        UsageError: if the entrant can't withdraw, or has done so already.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        corrected.require_takes_part(entrant)
        absent_from, unplayed = _unplayed(corrected, entrant)
        if corrected.stored.finished_at is not None and not unplayed:
            raise UsageError(
                f"tournament {tournament!r} is finished: {corrected.label(entrant)} has no match left to withdraw from"
            )
        details = CorrectionDetails(entrant=entrant, bot=corrected.label(entrant), absent_from=absent_from)
        return corrected.make(CorrectionKind.WITHDRAW, details, skip=unplayed)


def disqualify(
    store: Store,
    tournament: str,
    bot: str,
    *,
    reason: str,
    matches: DisqualifiedMatches = DisqualifiedMatches.ANNUL,
) -> Correction:
    """Disqualify an entrant: it is not paired any more, and has no line in the table.

    Args:
        store: where the tournament is.
        tournament: its name.
        bot: the entrant, as ``name`` or ``name@version``.
        reason: for everybody to read.
        matches: "annul": its matches count for nobody; "keep": they count for its rivals.

    Raises:
        UsageError: if the entrant is disqualified already, or it is a knockout, and its matches are to be annulled.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        _require_no_disqualification(corrected, entrant)
        absent_from, unplayed = _unplayed(corrected, entrant)
        details = CorrectionDetails(
            entrant=entrant,
            bot=corrected.label(entrant),
            disqualified_matches=matches,
            absent_from=1 if matches is DisqualifiedMatches.ANNUL else absent_from,
        )
        if matches is DisqualifiedMatches.KEEP:
            return corrected.make(CorrectionKind.DISQUALIFY, details, skip=unplayed)
        if corrected.format.has_later_stages:
            raise UsageError(
                f"tournament {tournament!r}: in a {corrected.definition.format} later duels follow from earlier ones,"
                " so these can't be annulled; expected the rule 'keep'"
            )
        every = [line.match for line in corrected.matches_of(entrant)]
        recorded = [match for match in every if match in corrected.recorded]
        return corrected.make(CorrectionKind.DISQUALIFY, details, skip=every, set_aside=recorded)


def _unplayed(corrected: CorrectedTournament, entrant: int) -> tuple[int, list[int]]:
    """Return the first round that an entrant has not played to its end, and its matches without a record."""
    unplayed = [line for line in corrected.matches_of(entrant) if line.match not in corrected.recorded]
    first = min((line.round for line in unplayed), default=corrected.last_round + 1)
    return first, [line.match for line in unplayed]


def _require_no_disqualification(corrected: CorrectedTournament, entrant: int) -> None:
    for c in corrected.in_force:
        if c.kind is CorrectionKind.DISQUALIFY and c.details.entrant == entrant:
            raise UsageError(
                f"{corrected.label(entrant)} is disqualified in tournament {corrected.stored.name!r} already"
                f" (correction {c.number}); nothing was changed"
            )
