"""Whole exports: everything that is stored of a tournament, as JSON lines, written and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import blake2b
from typing import Any, BinaryIO, NamedTuple

from arena.base.definition import Definition
from arena.base.errors import StoreError, UnwritableError, UsageError
from arena.base.stored import from_json_text, is_text, is_whole
from arena.base.text import json_value, shortened_text, size_text
from arena.store.results.addition import Source
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.transfer.checks import corrections_without_locations, without_locations
from arena.tournament.transfer.staged_tournament import StagedTournament

# docs/tournaments.md has the form, line by line. Each digest covers the lines before it as well, so that a line
# that was changed, removed or added is named. This is no protection against forgery.

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
    """Yield the lines of a tournament's whole export.

    Within ``source.one_transaction()`` the tournament may be corrected meanwhile, if it was read there as well.
    """
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


# The lines of an export, which is untrusted: each is bounded and parsed by itself.

MAX_LINE_BYTES = 16 * 2**20
MAX_EXPORT_BYTES = 16 * 2**30
_GZIP = b"\x1f\x8b"


class LineError(StoreError):
    """A rejected line of an export; the text of the error begins with the number of the line."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason


class ExportLine(NamedTuple):
    """A line of an export."""

    number: int
    data: bytes
    value: dict[str, Any]


def export_lines(lines: Iterable[bytes] | BinaryIO) -> Iterator[ExportLine]:
    """Yield the lines that are not blank."""
    total = 0
    for number, raw in enumerate(_bounded(lines), 1):
        total += len(raw)
        if total > MAX_EXPORT_BYTES:
            raise LineError(number, f"the export is longer than {size_text(MAX_EXPORT_BYTES)}")
        data = raw.rstrip(b"\r\n")
        if data.strip():
            yield ExportLine(number, data, _object(number, data, raw))


def _bounded(lines: Iterable[bytes] | BinaryIO) -> Iterator[bytes]:
    read_line = getattr(lines, "readline", None)
    coming = iter(lines) if read_line is None else iter(lambda: read_line(MAX_LINE_BYTES + 1), b"")
    for number, line in enumerate(coming, 1):
        if len(line) > MAX_LINE_BYTES:
            raise LineError(number, f"it is longer than {size_text(MAX_LINE_BYTES)}")
        yield line


def _object(number: int, data: bytes, raw: bytes) -> dict[str, Any]:
    if number == 1 and data.startswith(_GZIP):
        raise LineError(
            number, "the export is compressed; unpack it first: gunzip --stdout FILE | arena tournament import -"
        )
    try:
        value = json.loads(data.decode(), object_pairs_hook=_without_repetition)
    except _RepeatedKeyError as error:
        raise LineError(number, f"the key {shortened_text(str(error))!r} appears twice in it") from None
    except UnicodeDecodeError as error:
        raise LineError(number, f"it is not UTF-8 (byte {error.start + 1})") from error
    except RecursionError as error:
        raise LineError(number, "it is nested too deeply") from error
    except ValueError as error:
        is_cut = "" if raw.endswith(b"\n") else "; the file ends in the middle of it"
        raise LineError(number, f"it is not JSON: {shortened_text(str(error))}{is_cut}") from error
    if not isinstance(value, dict):
        raise LineError(number, f"expected a JSON object, got {shortened_text(data.decode())}")
    return value


class _RepeatedKeyError(Exception):
    """A key that appears twice in an object."""


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(next(name for name in names if names.count(name) > 1))
    return values


class ExportReader:
    """Takes the lines of an export one by one: of whole tournaments, or records of tournaments that exist here."""

    def __init__(self, staging: Store, home: Store, name: str | None) -> None:
        """Begin with an empty ``staging`` database for the tournaments; ``name`` renames the export's only one."""
        self.tournaments: dict[str, StagedTournament] = {}
        self._staging, self._home, self._name = staging, home, name
        self._exported_name: str | None = None
        self._whole: _WholeTournament | None = None  # whose end has not been read

    def take(self, line: ExportLine) -> None:
        """Take a line."""
        try:
            self._take(line)
        except (LineError, UnwritableError):
            raise
        except UsageError as error:
            raise LineError(line.number, str(error)) from error

    def finish(self, last_line: int) -> None:
        """Take the end of the export."""
        if self._whole is not None:
            raise LineError(last_line, "the export ends here, before its last line; copy it again")
        for tournament in self.tournaments.values():
            tournament.write()

    def _take(self, line: ExportLine) -> None:
        if "arena_export" in line.value:
            if self._whole is not None:
                raise StoreError("another tournament begins here, before the end of the one before it")
            self._whole = _WholeTournament(self._begin_whole(line))
        if self._whole is None:
            self._known_tournament(line).take_record(line.value, line.number, len(line.data))
        elif self._whole.take(line):
            self._whole = None

    def _begin_whole(self, line: ExportLine) -> StagedTournament:
        header = line.value
        if header["arena_export"] != VERSION:
            raise StoreError(
                f"arena_export = {json_value(header['arena_export'])}: this arena reads version {VERSION};"
                " a newer arena is needed"
            )
        name, created_at, finished_at = (header.get(key) for key in ("tournament", "created_at", "finished_at"))
        if not (is_text(name) and is_text(created_at) and (finished_at is None or is_text(finished_at))):
            raise StoreError("expected the name of a tournament, and when it began and was finished")
        definition = Definition.from_json(self._name_for(str(name)), header.get("definition"))
        if definition.name in self.tournaments:
            raise StoreError(f"tournament {shortened_text(definition.name)!r} appears twice")
        staged = StagedTournament(self._staging, definition, str(created_at), finished_at)
        self.tournaments[definition.name] = staged
        return staged

    def _known_tournament(self, line: ExportLine) -> StagedTournament:
        """Return the tournament of a record in an export that has nothing else: it exists here."""
        if not is_text(line.value.get("tournament")):
            raise StoreError("expected a record as `arena tournament export` prints it, with its tournament")
        name = self._name_for(line.value["tournament"])
        if name not in self.tournaments:
            stored = self._home.find_tournament(name)
            if stored is None:
                raise StoreError(
                    f"tournament {shortened_text(name)!r} is not here, and this export does not define it; begin it"
                    " with arena run, or export it with arena tournament export --whole"
                )
            matches = self._home.last_match(stored)
            staged = StagedTournament(self._staging, stored.definition, stored.created_at, None, matches=matches)
            self.tournaments[name] = staged
        return self.tournaments[name]

    def _name_for(self, exported: str) -> str:
        if self._name is None:
            return exported
        if self._exported_name not in (None, exported):
            raise StoreError(f"the export has several tournaments; one of them can be imported as {self._name!r}")
        self._exported_name = exported
        return self._name


class _WholeTournament:
    def __init__(self, staged: StagedTournament) -> None:
        self._staged = staged
        self._chain = DigestChain()
        self._unproved: list[tuple[int, str]] = []  # the lines since the last digests, and their contents

    def take(self, line: ExportLine) -> bool:
        """Take a line; return whether it is the tournament's last."""
        kind = next(iter(line.value), "")
        if kind == "digests":
            self._prove(line.value[kind])
            return False
        if kind == "end":
            if self._unproved or line.value[kind] != self._chain.lines:
                raise StoreError("lines before it were removed or added after they were exported")
            return True
        if len(self._unproved) == LINES_PER_DIGESTS:
            raise StoreError("expected a line of digests")
        self._chain.add(line.data)
        match = line.value.get("match")
        self._unproved.append((line.number, f"match {match}" if is_whole(match) else "it"))
        self._stage(kind, line)
        return False

    def _stage(self, kind: str, line: ExportLine) -> None:
        staged, value = self._staged, line.value
        if kind == "schedule":
            staged.take_schedule(value[kind])
        elif kind == "correction":
            staged.take_correction(value[kind])
        elif kind == "skipped":
            staged.take_skipped(value[kind])
        elif kind == "void":
            staged.take_void(value[kind])
        elif kind == "set_aside":
            staged.take_set_aside(value[kind], value.get("record"), len(line.data))
        elif kind != "arena_export":
            staged.take_record(value, line.number, len(line.data))

    def _prove(self, exported: object) -> None:
        if not isinstance(exported, list):
            raise StoreError("expected a list of digests")
        is_complete = len(exported) == len(self._unproved)
        for (number, line), digest, expected in zip(self._unproved, self._chain.digests, exported, strict=False):
            if digest != expected:
                change = f"{line} was changed" if is_complete else "a line was removed or added here"
                raise LineError(number, f"{change} after it was exported")
        if not is_complete:
            raise StoreError("lines before it were removed or added after they were exported")
        self._chain.digests, self._unproved = [], []
