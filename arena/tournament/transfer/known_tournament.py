"""Takes what a tournament lacks here from the same tournament elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

from arena.base.bot_text import EVERYBODY
from arena.base.definition import Definition
from arena.base.errors import StoreError
from arena.base.records import MatchRecord, ScheduledMatch
from arena.base.stored import from_json_text, mapping_of
from arena.base.text import counted
from arena.store.results.addition import Addition, Source, VoidTry
from arena.store.results.rows import RecordRow, as_json
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.consistency import schedule_problems
from arena.tournament.formats.format import format_class
from arena.tournament.resumption import differences
from arena.tournament.transfer.checks import (
    MergedTournament,
    RejectedRecordError,
    absent_bots,
    check_definition,
    checked_row,
    checked_voids,
    corrections_without_locations,
    finished_at,
    raise_first,
    with_records,
    without_locations,
)

RENAME = "`arena tournament rename` gives one of them another name"


@dataclass(slots=True)
class _Comparison:
    """How many matches are recorded only there, equally on both sides, differently, and with different ranks."""

    missing: set[int] = field(default_factory=set)
    already_here: int = 0
    differing: int = 0
    differing_results: int = 0


class KnownTournament:
    """A tournament that exists on both sides: what it lacks here is checked, and then taken."""

    def __init__(self, store: Store, here: StoredTournament, source: Source, there: StoredTournament) -> None:
        """Compare the definitions, corrections and schedules."""
        self._store, self._here, self._source, self._there = store, here, source, there
        self._definition = _common_definition(here, there)
        self._lines_here, self._lines_there = self._compare_schedules()

    def take(self) -> MergedTournament:
        """Check the missing records, and take them."""
        here, definition = self._here, self._definition
        comparison = self._compare_records()
        if self._lines_taken and comparison.differing_results:
            raise StoreError(
                f"{counted(comparison.differing_results, 'match')} ended otherwise there than here, and the rounds that"
                f" followed there depend on it; {RENAME}"
            )
        left = here.scheduled + self._lines_taken - here.recorded - len(comparison.missing)
        finished = finished_at(definition, left, self._stored_finish)
        has_new_state = definition != here.definition or (finished is None) != (here.finished_at is None)
        if comparison.missing or self._lines_taken or has_new_state or any(self._new_voids()):
            self._store.add(
                Addition(
                    tournament=here.number,
                    definition=definition,
                    created_at=here.created_at,
                    finished_at=finished,
                    lines=(line for line in self._lines() if line.match > self._lines_here),
                    records=self._rows(comparison.missing),
                    voids=self._new_voids(),
                )
            )
        return MergedTournament(
            name=here.name,
            taken=len(comparison.missing),
            already_here=comparison.already_here,
            differing=comparison.differing,
            differing_results=comparison.differing_results,
            lines_taken=self._lines_taken,
            left=left,
            is_finished=finished is not None,
            absent_bots=absent_bots(self._store, definition),
        )

    @property
    def _lines_taken(self) -> int:
        return max(0, self._lines_there - self._lines_here)

    @property
    def _stored_finish(self) -> str | None:
        if self._lines_here == self._lines_there:
            return self._here.finished_at or self._there.finished_at
        return self._there.finished_at if self._lines_taken else self._here.finished_at

    def _compare_schedules(self) -> tuple[int, int]:
        """Return how many matches each schedule has; one of them is the beginning of the other."""
        count_here = count_there = 0
        for mine, theirs in zip_longest(self._store.schedule(self._here), self._source.lines(self._there)):
            if mine is not None and theirs is not None and mine != theirs:
                raise StoreError(
                    f"its schedules differ from match {mine.match} on, so that it has gone two ways; {RENAME}"
                )
            count_here += mine is not None
            count_there += theirs is not None
        if count_there > count_here and not format_class(self._definition).needs_results:
            raise StoreError(f"its schedule has {counted(count_there, 'match')}, but follows from its definition")
        if count_there > count_here:
            raise_first(schedule_problems(self._source.lines(self._there), self._there))
        return count_here, count_there

    def _lines(self) -> Iterator[ScheduledMatch]:
        return self._source.lines(self._there) if self._lines_taken else self._store.schedule(self._here)

    def _compare_records(self) -> _Comparison:
        comparison = _Comparison()
        here = with_records(self._lines(), self._store.record_texts(self._here))
        there = with_records(self._lines(), self._source.record_texts(self._there))
        set_aside = self._contents_set_aside()
        left_out = {line.match for line in self._store.corrections.skipped(self._here)}
        for (line, text_here), (_, text_there) in zip(here, there, strict=True):
            if text_there is None:
                continue
            content = _content(line.match, text_there)
            if text_here is not None and _are_same(_content(line.match, text_here), content):
                comparison.already_here += 1
                continue
            readable = _for_everybody(content) if set_aside and _is_shortened(content) else content
            if text_here is None and (line.match, _hash(readable)) in set_aside:
                comparison.already_here += 1
                continue
            checked_row(text_there, line, self._definition, replays=True)
            if text_here is not None:
                comparison.differing += 1
                comparison.differing_results += _content(line.match, text_here).get("ranks") != content.get("ranks")
            elif line.match in left_out:
                raise RejectedRecordError(line.match, "it has a record there, but a correction here has left it out")
            else:
                comparison.missing.add(line.match)
        return comparison

    def _contents_set_aside(self) -> set[tuple[int, bytes]]:
        """Return the hashes of the records that were set aside here: they don't count again."""
        if not self._here.corrections:
            return set()
        aside = self._store.corrections.set_aside(self._here)
        contents = ((record.match, _content(record.match, record.text)) for record in aside)
        return {(match, _hash(form)) for match, content in contents for form in (content, _for_everybody(content))}

    def _rows(self, matches: set[int]) -> Iterator[RecordRow]:
        for line, text in with_records(self._lines(), self._source.record_texts(self._there)):
            if text is not None and line.match in matches:
                yield checked_row(text, line, self._definition, replays=False)

    def _new_voids(self) -> Iterator[VoidTry]:
        stored = set(self._store.as_source().voids(self._here))
        return (void for void in checked_voids(self._source, self._there) if void not in stored)


def _common_definition(here: StoredTournament, there: StoredTournament) -> Definition:
    """Return the definition of a tournament that two sides have; a ladder may have more entrants there."""
    mine, theirs = here.definition, there.definition
    is_open = format_class(mine).open_entry
    has_grown = is_open and len(theirs.entrants) > len(mine.entrants)
    shorter, longer = (mine, theirs) if has_grown else (theirs, mine)
    differing = differences(shorter.identity(), longer.identity(), is_open)
    if corrections_without_locations(here.corrections) != corrections_without_locations(there.corrections):
        raise StoreError(
            f"it has {counted(len(here.corrections), 'correction')} here, {len(there.corrections)} there, and they are"
            f" not the same; {RENAME}"
        )
    if differing:
        raise StoreError(f"the one here has another definition, which differs in {', '.join(differing)}; {RENAME}")
    if not has_grown:
        return mine
    grown = replace(mine, entrants=mine.entrants + without_locations(theirs).entrants[len(mine.entrants) :])
    check_definition(grown, [choice.game for choice in grown.games])
    return grown


def _content(match: int, text: str) -> Mapping[str, Any]:
    where = f"the record of match {match}"
    return {
        name: value for name, value in mapping_of(from_json_text(text, where), where).items() if name != "tournament"
    }


def _are_same(here: Mapping[str, Any], there: Mapping[str, Any]) -> bool:
    """Return whether two records are equal, except that one of them may leave out the text of bots."""
    return here == there or (_is_shortened(here, there) and _for_everybody(here) == _for_everybody(there))


def _is_shortened(*contents: Mapping[str, Any]) -> bool:
    return any("left_out_digest" in content for content in contents)


def _for_everybody(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what everybody reads, without digests, which homes make with keys of their own."""
    shown = MatchRecord.from_json({**content, "tournament": ""}).to_json(EVERYBODY)
    for name in ("tournament", "left_out_digest", "left_out_bytes"):
        shown.pop(name, None)
    return mapping_of(json.loads(as_json(shown)), "a record")


def _hash(content: Mapping[str, Any]) -> bytes:
    return blake2b(as_json(content).encode(), digest_size=16).digest()
