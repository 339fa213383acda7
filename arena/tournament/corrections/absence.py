"""Entrants who are not paired any more: withdrawn, or disqualified."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from arena.base.definition import Absence
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import UsageError
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails
from arena.tournament.corrections.corrected_tournament import CorrectedTournament, corrected_tournament


def withdraw(store: Store, tournament: str, bot: str, *, reason: str) -> Correction:
    """Withdraw an entrant: its recorded matches stay, and it is not paired any more.

    In a Swiss its later rounds count nothing, and whoever was to meet it has the point of a bye; in a knockout its
    rival advances.

    Args:
        bot: the entrant, as ``name`` or ``name@version``.

    Raises:
        UsageError: if the entrant can't withdraw, or has done so already.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        corrected.require_takes_part(entrant)
        departure = _departure(corrected, entrant)
        may_go_on = corrected.format.open_entry or departure.is_waited_for  # a ladder only waits for somebody new
        if corrected.stored.finished_at is not None and not may_go_on:
            raise UsageError(
                f"tournament {tournament!r} is finished: {corrected.label(entrant)} has no match left to withdraw from"
            )
        details = CorrectionDetails(
            entrant=entrant,
            bot=corrected.label(entrant),
            absent_from=corrected.last_round + 1,
            missed=departure.missed,
        )
        return corrected.make(CorrectionKind.WITHDRAW, details, skip=departure.unplayed)


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
        bot: the entrant, as ``name`` or ``name@version``.
        matches: "annul": its matches count for nobody; "keep": they count for its rivals.

    Raises:
        UsageError: if the entrant is disqualified already, or it is a knockout, and its matches are to be annulled.
        StoreError: if the tournament is being run.
    """
    with corrected_tournament(store, tournament, reason) as corrected:
        corrected.require_loose_field()
        entrant = corrected.entrant(bot)
        _require_no_disqualification(corrected, entrant)
        details = CorrectionDetails(
            entrant=entrant, bot=corrected.label(entrant), disqualified_matches=matches, absent_from=1
        )
        if matches is DisqualifiedMatches.KEEP:
            departure = _departure(corrected, entrant)
            details = replace(details, absent_from=corrected.last_round + 1, missed=departure.missed)
            return corrected.make(CorrectionKind.DISQUALIFY, details, skip=departure.unplayed)
        if corrected.format.has_later_stages:
            raise UsageError(
                f"tournament {tournament!r}: in a {corrected.definition.format} later duels follow from earlier ones,"
                " so these can't be annulled; expected the rule 'keep'"
            )
        every = [line.match for line in corrected.matches_of(entrant)]
        recorded = [match for match in every if match in corrected.recorded]
        return corrected.make(CorrectionKind.DISQUALIFY, details, skip=every, set_aside=recorded)


class _Departure(NamedTuple):
    """What an entrant that leaves has not played.

    Attributes:
        is_waited_for: whether one of them was to be played.
        missed: the rounds so far in which it is absent.
    """

    unplayed: list[int]
    is_waited_for: bool
    missed: tuple[Absence, ...]


def _departure(corrected: CorrectedTournament, entrant: int) -> _Departure:
    """Return what an entrant has not played.

    A match of an earlier round that was left out for the rival's sake is no absence of this entrant.
    """
    unplayed = [line for line in corrected.matches_of(entrant) if line.match not in corrected.recorded]
    waiting = [line for line in unplayed if line.match not in corrected.left_out]
    rounds = {line.round for line in waiting}
    rounds |= {line.round for line in unplayed if line.round == corrected.last_round}
    missed = (Absence(entrant=entrant, first_round=number, last_round=number) for number in sorted(rounds))
    return _Departure([line.match for line in unplayed], bool(waiting), tuple(missed))


def _require_no_disqualification(corrected: CorrectedTournament, entrant: int) -> None:
    for c in corrected.in_force:
        if c.kind is CorrectionKind.DISQUALIFY and c.details.entrant == entrant:
            raise UsageError(
                f"{corrected.label(entrant)} is disqualified in tournament {corrected.stored.name!r} already"
                f" (correction {c.number}); nothing was changed"
            )
