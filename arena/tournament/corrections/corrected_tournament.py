"""A tournament that is being corrected: nobody else runs or corrects it meanwhile; and its void matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from arena.base.definition import Absence, Definition, gone
from arena.base.enums import CorrectionKind
from arena.base.errors import UnknownNameError, UsageError
from arena.base.names import check_reason
from arena.base.records import Bot, Seating
from arena.base.text import shortened_text
from arena.store.results.correction_log import Change
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails, StoredTournament, absences, in_force
from arena.tournament.formats.format import Format
from arena.tournament.formats.table import format_class


class Replays(NamedTuple):
    """What becomes of matches that have no record."""

    skip: tuple[int, ...]
    missed: tuple[Absence, ...]


@dataclass(frozen=True)
class CorrectedTournament:
    """A tournament with its schedule, and the correction that is made of it."""

    store: Store
    stored: StoredTournament
    reason: str

    @cached_property
    def definition(self) -> Definition:
        """Its definition."""
        return self.stored.definition

    @property
    def format(self) -> type[Format[Any]]:
        """Its format."""
        return format_class(self.definition)

    @cached_property
    def lines(self) -> list[Seating]:
        """Who sits in each match of its schedule."""
        return list(self.store.seatings(self.stored))

    @cached_property
    def recorded(self) -> frozenset[int]:
        """The matches with a record."""
        return self.store.recorded_matches(self.stored)

    @cached_property
    def left_out(self) -> dict[int, set[int]]:
        """The matches that corrections have taken out of the schedule, each with the numbers of these."""
        found: dict[int, set[int]] = {}
        for match, correction in self.store.corrections.skipped(self.stored):
            found.setdefault(match, set()).add(correction)
        return found

    @cached_property
    def last_round(self) -> int:
        """The last round in the schedule; 0 before the first."""
        return max((line.round for line in self.lines), default=0)

    @property
    def in_force(self) -> list[Correction]:
        """The corrections that have an effect."""
        return in_force(self.stored.corrections)

    @property
    def absent(self) -> frozenset[int]:
        """The entrants who are not paired any more."""
        return self.definition.gone

    def absent_without(self, correction: Correction) -> frozenset[int]:
        """Return the entrants who would not be paired any more if a correction had not been made."""
        return gone(absences([c for c in self.stored.corrections if c.number != correction.number]))

    def entrant(self, text: str) -> int:
        """Return the number of an entrant, given as ``name@version``, or by its name if that is clear."""
        bots = self.definition.entrants
        found = [k for k, bot in enumerate(bots) if bot.label == text]
        found = found or [k for k, bot in enumerate(bots) if bot.name == text]
        if not found:
            raise UnknownNameError("entrant", text, [bot.label for bot in bots])
        if len(found) > 1:
            labels = ", ".join(bots[k].label for k in found)
            raise UsageError(f"entrant {text!r}: several have this name; expected one of {labels}")
        return found[0]

    def label(self, entrant: int) -> str:
        """Return the ``name@version`` of an entrant."""
        return self.definition.entrants[entrant].label

    def matches_of(self, entrant: int) -> list[Seating]:
        """Return the lines of the schedule in which an entrant sits."""
        return [line for line in self.lines if entrant in line.seats]

    def require_loose_field(self) -> None:
        """Raise UsageError if the tournament makes no sense without one of its entrants."""
        if self.format.has_fixed_field:
            raise UsageError(
                f"tournament {self.stored.name!r}: a {self.definition.format} needs all of its bots; delete it, or let"
                " it end"
            )

    def require_closed_entry(self) -> None:
        """Raise UsageError if bots come and go through the tournament file."""
        if self.format.open_entry:
            raise UsageError(
                f"tournament {self.stored.name!r}: bots and new versions enter a {self.definition.format} through the"
                " tournament file; add it there"
            )

    def require_takes_part(self, entrant: int) -> None:
        """Raise UsageError if an entrant has withdrawn or is disqualified."""
        for c in self.in_force:
            if c.details.entrant == entrant and c.kind in (CorrectionKind.WITHDRAW, CorrectionKind.DISQUALIFY):
                state = "has withdrawn from" if c.kind is CorrectionKind.WITHDRAW else "is disqualified in"
                raise UsageError(
                    f"{self.label(entrant)} {state} tournament {self.stored.name!r} (correction {c.number});"
                    f" nothing was changed"
                )
        if entrant in self.absent:
            raise UsageError(f"{self.label(entrant)} does not take part in tournament {self.stored.name!r} any more")

    def require_current_stage(self, matches: Iterable[Seating]) -> None:
        """Raise UsageError if later pairings follow from the results of these matches, as in a knockout."""
        if not self.format.has_later_stages:
            return
        for match in matches:
            for later in self.lines:
                shared = set(later.seats) & set(match.seats)
                if later.round > match.round and shared and set(later.seats) != set(match.seats):
                    raise UsageError(
                        f"match {match.match} of tournament {self.stored.name!r}: in a {self.definition.format}, later"
                        " duels have been paired by its result, so it can't be played again"
                    )

    def replays(self, matches: Iterable[Seating], absent: frozenset[int] | None = None) -> Replays:
        """Return what becomes of matches that are to be played."""
        absent = self.absent if absent is None else absent
        hindered = [line for line in matches if not absent.isdisjoint(line.seats)]
        missed = {(k, line.round) for line in hindered for k in line.seats if k in absent}
        absences = (Absence(entrant=k, first_round=number, last_round=number) for k, number in sorted(missed))
        return Replays(tuple(line.match for line in hindered), tuple(absences))

    def make(self, kind: CorrectionKind, details: CorrectionDetails, **effects: Any) -> Correction:
        """Make the correction; see ``Change`` for its effects."""
        is_fixed = not self.format.needs_results
        change = Change(
            kind=kind,
            reason=self.reason,
            details=replace(details, last_round=self.last_round),
            has_whole_schedule=is_fixed or self.stored.finished_at is not None,
            **effects,
        )
        return self.store.corrections.add(self.stored, change)


@contextmanager
def corrected_tournament(store: Store, name: str, reason: str) -> Iterator[CorrectedTournament]:
    """Hold a tournament as its director, to correct it."""
    check_reason(reason)
    store.tournament(name)  # before a lock of this name is made
    with store.lock(name):
        yield CorrectedTournament(store, store.tournament(name), reason)


def with_entrants(definition: Definition, entrants: tuple[Bot, ...], *, advice: str) -> Definition:
    """Return a definition with other entrants; the first ones stand for the same entrants as before.

    A gauntlet names its challengers in its settings, as tables show them: these names follow the entrants.
    """
    labels = [bot.label for bot in entrants]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"bot {twice!r}: another entrant has this name and version; {advice}")
    changed = replace(definition, entrants=entrants)
    before, after = definition.shown_names.values(), changed.shown_names.values()
    renamed = dict(zip(before, after, strict=False))
    challengers = definition.settings.get("challengers")
    if challengers is None:
        return changed
    return replace(changed, settings={**definition.settings, "challengers": [renamed[name] for name in challengers]})


# Matches that are void: their records don't count, and they are played again.


def void_matches(store: Store, tournament: str, matches: Iterable[int], *, reason: str) -> Correction:
    """Void matches: their records are set aside, and the next run plays them again, with the same opening and seats.

    A match of an entrant who has withdrawn since can't be played again.
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
