"""Reading the lines of an export that may have been edited, cut off, or made to do harm."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from arena.base.errors import StoreError
from arena.base.text import shortened_text, size_text

MAX_LINE_BYTES = 16 * 2**20
MAX_EXPORT_BYTES = 16 * 2**30
_GZIP = b"\x1f\x8b"


class LineError(StoreError):
    """A line of an export that is refused; its text begins with the number of the line."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason

    def __reduce__(self) -> tuple[type[LineError], tuple[int, str]]:
        return type(self), (self.number, self.reason)


class ExportLine(NamedTuple):
    """A line of an export.

    Attributes:
        number: from 1.
        data: the line without its line break.
        value: the JSON object in it.
    """

    number: int
    data: bytes
    value: dict[str, Any]


def export_lines(lines: Iterable[bytes] | BinaryIO) -> Iterator[ExportLine]:
    """Yield the lines that are not blank.

    Raises:
        LineError: if a line is no JSON object, or too long.
    """
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
        raise LineError(number, "the export is compressed; unpack it first: gunzip --stdout FILE | arena import -")
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
