"""The whole export: everything that is stored of a tournament, as JSON lines that another home can import.

docs/tournaments.md has its form, line by line. Each digest covers the lines before it as well, so that a line that was
changed, removed or added is named. This is no protection against forgery.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

from arena.base.stored import from_json_text
from arena.store.results.addition import Source
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.definition_checks import corrections_without_locations, without_locations

VERSION = 1
LINES_PER_DIGESTS = 500


class DigestChain:
    """The digests of lines since the last line of digests, each of which covers all lines before it."""

    def __init__(self) -> None:
        self.digests: list[str] = []
        self.lines = 0
        self._last = ""

    def add(self, line: bytes) -> None:
        """Add a line, without its line break."""
        self._last = blake2b(self._last.encode() + line, digest_size=8).hexdigest()
        self.digests.append(self._last)
        self.lines += 1


def whole_export(source: Source, tournament: StoredTournament) -> Iterator[str]:
    """Yield the lines of a tournament's whole export."""
    chain = DigestChain()
    for value in _values(source, tournament):
        line = json.dumps(value)
        chain.add(line.encode())
        yield line
        if len(chain.digests) == LINES_PER_DIGESTS:
            yield json.dumps({"digests": chain.digests})
            chain.digests = []
    yield json.dumps({"digests": chain.digests})
    yield json.dumps({"end": chain.lines})


def _values(source: Source, tournament: StoredTournament) -> Iterator[dict[str, Any]]:
    yield {
        "arena_export": VERSION,
        "tournament": tournament.name,
        "definition": without_locations(tournament.definition).to_json(),
        "created_at": tournament.created_at,
        "finished_at": tournament.finished_at,
    }
    for line in source.lines(tournament):
        yield {"schedule": asdict(line)}
    for correction in corrections_without_locations(tournament.corrections):
        yield {"correction": asdict(correction)}
    for skipped in source.skipped(tournament):
        yield {"skipped": skipped._asdict()}
    for void in source.voids(tournament):
        yield {"void": void._asdict()}
    for aside in source.set_aside(tournament):
        yield {"set_aside": aside.correction, "record": _record(aside.match, aside.text)}
    for match, text in source.record_texts(tournament):
        yield _record(match, text)


def _record(match: int, text: str) -> dict[str, Any]:
    record: dict[str, Any] = from_json_text(text, f"the record of match {match}")
    return record
