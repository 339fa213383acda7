"""A tournament that is being corrected: nobody else runs or corrects it meanwhile; void matches, and undoing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from arena.base.definition import Absence, Definition, bot_from_json, gone
from arena.base.enums import CorrectionKind, DisqualifiedMatches
from arena.base.errors import UnknownNameError, UsageError
from arena.base.names import check_reason
from arena.base.records import Bot, Seating
from arena.base.text import shortened_text
from arena.store.results.correction_log import Change
from arena.store.results.store import Store
from arena.store.results.values import Correction, CorrectionDetails, StoredTournament, absences, in_force, undone_by
from arena.tournament.formats.format import Format, format_class


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
        """The matches that corrections took out of the schedule, each with the numbers of those corrections."""
        corrections_of: dict[int, set[int]] = {}
        for match, correction in self.store.corrections.skipped(self.stored):
            corrections_of.setdefault(match, set()).add(correction)
        return corrections_of

    @cached_property
    def last_round(self) -> int:
        """The last round in the schedule; 0 before the first."""
        return self.store.last_round(self.stored)

    @property
    def in_force(self) -> list[Correction]:
        """The corrections that have an effect."""
        return in_force(self.stored.corrections)

    @property
    def absent(self) -> frozenset[int]:
        """The entrants who are not paired any more."""
        return self.definition.gone

    def entrant(self, text: str) -> int:
        """Return the number of an entrant, given as ``name@version``, or by its name if that is clear."""
        bots = self.definition.entrants
        numbers = [k for k, bot in enumerate(bots) if bot.label == text]
        numbers = numbers or [k for k, bot in enumerate(bots) if bot.name == text]
        if not numbers:
            raise UnknownNameError("entrant", text, [bot.label for bot in bots])
        if len(numbers) > 1:
            labels = ", ".join(bots[k].label for k in numbers)
            raise UsageError(f"entrant {text!r}: several have this name; expected one of {labels}")
        return numbers[0]

    def label(self, entrant: int) -> str:
        """Return the ``name@version`` of an entrant."""
        return self.definition.entrants[entrant].label

    def lines_of(self, numbers: Collection[int]) -> list[Seating]:
        """Return the lines of some matches of the schedule."""
        return [line for line in self.store.seatings(self.stored, self._around(numbers)) if line.match in numbers]

    def without_record(self, numbers: Collection[int]) -> list[int]:
        """Return which matches have no record, in order."""
        return sorted(set(numbers) - self.store.recorded_matches(self.stored, self._around(numbers)))

    def _around(self, numbers: Collection[int]) -> range:
        last = self.store.last_match(self.stored)
        scheduled = [number for number in numbers if 1 <= number <= last]  # no database compares with every number
        return range(min(scheduled, default=1), max(scheduled, default=0) + 1)

    def matches_of(self, entrant: int | None) -> list[Seating]:
        """Return the lines of the schedule in which an entrant sits; none for None."""
        return [line for line in self.store.seatings(self.stored, entrant=entrant) if entrant in line.seats]

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
    in_order = tuple(sorted(numbers))
    with corrected_tournament(store, tournament, reason) as corrected:
        if not in_order:
            raise UsageError("matches: expected the number of at least one match")
        if missing := corrected.without_record(numbers):
            shown = shortened_text(", ".join(map(str, missing)))
            raise UsageError(
                f"tournament {tournament!r}: no record of match {shown}; {len(corrected.recorded)} of its"
                f" {len(corrected.lines)} matches have one"
            )
        chosen = corrected.lines_of(numbers)
        corrected.require_current_stage(chosen)
        replays = corrected.replays(chosen)
        details = CorrectionDetails(matches=in_order, missed=replays.missed)
        return corrected.make(CorrectionKind.VOID, details, set_aside=in_order, skip=replays.skip)


# Undoing a correction: the records that it set aside count again, and those played in their place are set aside.


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
    correction = next((c for c in corrected.in_force if c.number == number), None)
    if correction is not None:
        return correction
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
    return corrected.lines_of(set(corrected.store.corrections.set_aside_matches(corrected.stored, c.number)))


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
        matches = {line.match for line in corrected.matches_of(undone.details.entrant)}
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
    absent = gone(absences([c for c in corrected.stored.corrections if c.number != undone.number]))
    entrant = undone.details.entrant
    if entrant is None or entrant in absent:
        return corrected.make(CorrectionKind.UNDO, _details(undone))
    played = corrected.recorded | {line.match for line in lines}
    own = [line for line in corrected.matches_of(entrant) if line.match not in played]
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
    every = [line.match for line in corrected.matches_of(entrant)]
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
    restored = _set_aside_by(corrected, undone)
    corrected.require_current_stage([*played, *restored])
    returning = {line.match for line in restored}
    replays = corrected.replays([line for line in played if line.match not in returning])
    details = replace(
        _details(undone, replays),
        settings=None if changed.settings == corrected.definition.settings else corrected.definition.settings,
    )
    set_aside = [line.match for line in played]
    return corrected.make(CorrectionKind.UNDO, details, set_aside=set_aside, skip=replays.skip, definition=changed)
