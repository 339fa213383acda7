"""A correction: what a director has changed in a tournament after matches had been recorded, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.base.definition import Absence, gone
from arena.base.enums import CorrectionKind, DisqualifiedMatches


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionDetails:
    """What a correction is about; which fields are set depends on its kind.

    Attributes:
        entrant: the number of the entrant, from 0; None for a void match.
        bot: the entrant's ``name@version`` when the correction was made.
        matches: the matches of ``void``.
        disqualified_matches: what becomes of the matches of a disqualified bot.
        absent_from: the first round in which the entrant is not paired any more.
        replaced: the entrant before it was replaced, in its stored form.
        settings: those of the format before the correction; None if they stay the same.
        missed: of entrants who are not paired any more, the earlier rounds in which a match stays unplayed.
        undoes: the number of the correction that is undone.
        last_round: the last round in the schedule when the correction was made.
    """

    entrant: int | None = None
    bot: str = ""
    matches: tuple[int, ...] = ()
    disqualified_matches: DisqualifiedMatches | None = None
    absent_from: int | None = None
    replaced: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None
    missed: tuple[Absence, ...] = ()
    undoes: int | None = None
    last_round: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A line in a tournament's log of corrections.

    Attributes:
        number: in the tournament, from 1.
        kind: what was done.
        reason: the director's, for everybody to read.
        made_at: UTC, ISO 8601.
        details: what it is about.
    """

    number: int
    kind: CorrectionKind
    reason: str
    made_at: str
    details: CorrectionDetails


def undone_by(corrections: Iterable[Correction]) -> dict[int, Correction]:
    """Return by which correction each of those that are undone was undone, by its number."""
    return {c.details.undoes: c for c in corrections if c.details.undoes is not None}


def in_force(corrections: Sequence[Correction]) -> list[Correction]:
    """Return the corrections that have an effect: neither undone, nor an undoing themselves."""
    undone = undone_by(corrections)
    return [c for c in corrections if c.number not in undone and c.kind is not CorrectionKind.UNDO]


def explaining(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the numbers of the corrections that may set records aside: those in force, and every undoing."""
    undoings = (c for c in corrections if c.kind is CorrectionKind.UNDO)
    return frozenset(c.number for c in (*in_force(corrections), *undoings))


def entered(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the late entrants whose entry stands; one that was taken out may have entered again."""
    return _entrants_of(c for c in in_force(corrections) if c.kind is CorrectionKind.ENTER)


def taken_out(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the late entrants whose entry is undone."""
    return _entrants_of(c for c in corrections if c.kind is CorrectionKind.ENTER) - entered(corrections)


def _entrants_of(corrections: Iterable[Correction]) -> frozenset[int]:
    return frozenset(c.details.entrant for c in corrections if c.details.entrant is not None)


def absences(corrections: Sequence[Correction]) -> tuple[Absence, ...]:
    """Return which entrants are absent from which rounds.

    An entrant whose withdrawal is undone stays absent from the rounds that were paired without it.
    """
    undone = undone_by(corrections)
    late = entered(corrections)
    found: list[Absence] = []
    for c in corrections:
        entrant, first = c.details.entrant, c.details.absent_from
        if entrant is None or first is None or (c.kind is CorrectionKind.UNDO and entrant in late):
            continue
        if c.number not in undone:
            found.append(Absence(entrant=entrant, first_round=first))
        elif c.details.last_round < undone[c.number].details.last_round:
            last = undone[c.number].details.last_round
            found.append(Absence(entrant=entrant, first_round=c.details.last_round + 1, last_round=last))
    away = gone(found)
    missed = (absence for c in corrections if c.number not in undone for absence in c.details.missed)
    return (*found, *(absence for absence in missed if absence.entrant in away))


def out_of_table(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the entrants without a line in tables: those disqualified, and late entrants whose entry is undone."""
    return disqualified(corrections) | taken_out(corrections)


def disqualified(corrections: Sequence[Correction]) -> frozenset[int]:
    """Return the entrants that are disqualified."""
    return _entrants_of(c for c in in_force(corrections) if c.kind is CorrectionKind.DISQUALIFY)
