"""From the path of a request, as it was sent, to a page and its parameters.

Each segment is decoded once, after the path was split: a name may have a slash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from arena.base.errors import nearest, suggestion
from arena.base.text import shortened_text
from arena.server.http.problems import bad_address
from arena.site.links import MAX_PATH_BYTES, MAX_QUERY_BYTES, SUFFIXES

MAX_QUERY_FIELDS = 50

ROOMS = ("bots", "contests", "games", "guide", "leaderboards", "play", "tournaments")
"""The first parts of addresses that an error names, where there is such a page."""

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9a-fA-F]{2})")

Target = TypeVar("Target")


@dataclass(frozen=True, slots=True)
class Match(Generic[Target]):
    """A target, the values of the fields in its path, and the suffix after it, such as ".json"."""

    target: Target
    fields: Mapping[str, str]
    suffix: str = ""


class Addresses(Generic[Target]):
    """Paths with fields in braces, each with a target."""

    def __init__(self, targets: Iterable[tuple[str, Target, bool]]) -> None:
        """Prepare a table of paths, their targets, and whether a suffix may follow."""
        self._by_length: dict[int, list[tuple[tuple[str, ...], Target, bool]]] = {}
        self._rooms: set[str] = set()
        for path, target, takes_suffix in targets:
            segments = tuple(path[1:].split("/"))
            self._by_length.setdefault(len(segments), []).append((segments, target, takes_suffix))
            if takes_suffix:
                self._rooms.add(segments[0])
        for paths in self._by_length.values():
            paths.sort(key=lambda entry: [segment.startswith("{") for segment in entry[0]])

    def find(self, raw_path: bytes) -> Match[Target]:
        """Return the match of a path as it was sent, without the query; raise ProblemError without one."""
        match = self._match(raw_path)
        if match is None:
            first = decoded(raw_path[1:].split(b"/")[0])
            rooms = [room for room in ROOMS if self.has(f"/{room}".encode())]
            near = first if first in self._rooms else nearest(first, rooms)
            hint = "the address has too much or too little" if first in self._rooms else suggestion(first, rooms)
            sentence = f"There is no page {shortened_text(decoded(raw_path))!r}: {hint}"
            raise bad_address(sentence, 404, *(f"/{room}" for room in ([near] if near else rooms) if room in rooms))
        return match

    def has(self, raw_path: bytes) -> bool:
        """Return whether something is at a path."""
        return self._match(raw_path) is not None

    def _match(self, raw_path: bytes) -> Match[Target] | None:
        if len(raw_path) > MAX_PATH_BYTES:
            raise bad_address(f"The address is longer than {MAX_PATH_BYTES} characters.", 414)
        if not raw_path.startswith(b"/"):
            raise bad_address("The address does not begin with a slash.")
        raw = raw_path[1:].split(b"/")
        suffix = next((candidate for candidate in SUFFIXES if raw[-1].endswith(candidate.encode())), "")
        with_suffix = [decoded(segment) for segment in raw]
        without_suffix = [*with_suffix[:-1], decoded(raw[-1].removesuffix(suffix.encode()))]
        for segments, target, takes_suffix in self._by_length.get(len(raw), ()):
            values = without_suffix if takes_suffix and suffix else with_suffix
            fields = _fields(segments, values, is_index=takes_suffix and bool(suffix))
            if fields is not None:
                return Match(target, fields, suffix if takes_suffix else "")
        return None


def _fields(segments: tuple[str, ...], values: list[str], is_index: bool) -> dict[str, str] | None:
    fields = {}
    for segment, value in zip(segments, values, strict=True):
        if segment.startswith("{"):
            if not value:
                return None
            fields[segment[1:-1]] = value
        elif value != ("index" if is_index and not segment else segment):
            return None
    return fields


def decoded(raw: bytes) -> str:
    """Return a part of an address as text; raise ProblemError unless it is UTF-8 with characters that names have."""
    if _BROKEN_ESCAPE.search(raw):
        raise bad_address("The address has a percent sign without two hexadecimal digits behind it.")
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise bad_address("The address is not UTF-8.") from None
    if "\0" in text:
        raise bad_address("The address has a NUL in it, which no name has.", 404)
    return text


def query_of(raw_query: bytes) -> dict[str, str]:
    """Return the fields of a query; raise ProblemError if it is no query, or has a field twice."""
    if len(raw_query) > MAX_QUERY_BYTES:
        raise bad_address(f"The address has more than {MAX_QUERY_BYTES} characters behind the question mark.")
    decoded(raw_query)
    pairs = parse_qsl(raw_query.decode("ascii", "replace"), keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise bad_address("The address says something twice behind the question mark.")
    if len(query) > MAX_QUERY_FIELDS:
        raise bad_address(f"The address says more than {MAX_QUERY_FIELDS} things behind the question mark.")
    return query
