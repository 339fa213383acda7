"""The pages of a published folder, and their files."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from arena.site.frame.model import Page
from arena.site.links import address_of
from arena.site.page_table import PAGE_BY_NAME

# File names for names that may be long or hostile, or differ only in ways that file systems ignore.
#
# A file's name is the name itself where every file system, server and shell takes it as it is. Any other name becomes
# its readable part and the beginning of its digest, so that a name always has the same file, whatever else is there.

MAX_READABLE_CHARACTERS = 48
DIGEST_DIGITS = (6, 12, 24, 64)
"""How many digits of a digest follow: more only if the file of another name is called like that."""

_PLAIN = re.compile(r"[a-z0-9_](?:[a-z0-9_@.-]*[a-z0-9_])?", re.ASCII)
_OTHERS = re.compile(r"[^A-Za-z0-9_@]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|index)(?:\..*)?")
"""Devices of Windows, whatever follows a full stop; and the file that a directory is opened with."""


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return a file name, without its ending, for each name; they differ by more than case.

    >>> file_names(["greedy", "greedy@2", "nul"])
    {'greedy': 'greedy', 'greedy@2': 'greedy@2', 'nul': 'nul-5ab6bb'}
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(names), key=lambda name: (not is_plain(name), name)):
        file_name = next(candidate for candidate in _candidates(name) if candidate.casefold() not in taken)
        taken.add(file_name.casefold())
        files[name] = file_name
    return files


def is_plain(name: str) -> bool:
    """Return whether a name is a valid file name on every system."""
    if len(name) > MAX_READABLE_CHARACTERS or not _PLAIN.fullmatch(name):
        return False
    return not _RESERVED.fullmatch(name)


def _candidates(name: str) -> Iterable[str]:
    if is_plain(name):
        yield name
    readable = _OTHERS.sub("-", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()).strip("-")
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=32).hexdigest()
    for digits in DIGEST_DIGITS:
        yield "-".join(filter(None, (readable[:MAX_READABLE_CHARACTERS], digest[:digits])))


# Pages are found by following links: whatever a page of the folder leads to is in the folder, unless it is a choice
# that only a server can offer.

MATCHES_IN_A_DIRECTORY = 1000
MAX_BOTS_IN_PAIRS = 100
"""With more bots, their pairs have no pages: there would be too many."""

RECORDS = "records"
NOT_IN_FOLDERS = ("health", "person", "puzzles", "puzzle", "today")
OF_ONE_FILE = ("why", "match")
"""Pages without a directory of their own."""

CURSORS = ("after", "before", "first")
"""The parameters of an address that say where a list begins."""

Values = Mapping[str, Any]


class Wanted(NamedTuple):
    """A page to write, with its name in the table of pages and its file, from the folder and without ending."""

    name: str
    values: Values
    place: str


class Contents:
    """The pages of a folder; it collects the pages that links lead to.

    Attributes:
        tournaments: the directory of each tournament.
    """

    def __init__(
        self,
        *,
        tournaments: Mapping[str, str],
        bots: Mapping[str, str],
        games: Mapping[str, str],
        matches: Mapping[str, frozenset[int]],
        has_pairs: bool,
    ) -> None:
        """Take the directories of tournaments, bots (by ``NAME`` and by ``NAME@VERSION``) and games.

        Args:
            matches: those with a page, by tournament.
            has_pairs: whether each pair of bots has a page.
        """
        self.tournaments, self._bots, self._games = tournaments, bots, games
        self._matches, self._has_pairs = matches, has_pairs
        self._seen: set[str] = set()
        self._waiting: deque[Wanted] = deque()
        self.place("overview", {})

    def take(self) -> Wanted | None:
        """Return the next page to be written; None if no other was asked for."""
        return self._waiting.popleft() if self._waiting else None

    def place(self, name: str, values: Values) -> str | None:
        """Return the file of a page, from the folder and without its ending; None if it is not there."""
        page = PAGE_BY_NAME.get(name)
        if page is None:
            return None
        defaults = {key: field.default for key, field in page.parameters.model_fields.items()}
        query = {key: values[key] for key in defaults if key in values and key not in page.path_fields}
        query = {key: value for key, value in query.items() if value != defaults[key]}
        if name == "matches" and query.keys() == {"bot", "rival"}:
            return self.place("versus", query)
        file = self._file_of(page, values, query)
        if file is not None and file not in self._seen:
            if address_of(page, dict(values)) is None:  # its name is one that pages reject
                return None
            self._seen.add(file)
            self._waiting.append(Wanted(name, {key: values[key] for key in page.path_fields} | query, file))
        return file

    def records(self, tournament: str) -> str:
        """Return the file with all that is stored of a tournament."""
        return f"{RECORDS}/{self.tournaments[tournament]}.jsonl"

    def _file_of(self, page: Page, values: Values, query: Values) -> str | None:
        """Return the file of a page; ``query`` are the fields of its query that are not at their default."""
        if page.name in NOT_IN_FOLDERS:
            return None
        if page.name == "versus" and (not self._has_pairs or values["bot"] == values["rival"]):
            return None
        files = {"tournament": self.tournaments, "bot": self._bots, "rival": self._bots, "game": self._games}
        path_values = {field: files[field].get(values[field]) for field in page.path_fields if field in files}
        if None in path_values.values():
            return None
        if page.name == "match":
            number = int(values["match"])
            if number not in self._matches[values["tournament"]]:
                return None
            path_values["match"] = f"{number // MATCHES_IN_A_DIRECTORY}/{number}"
        path = page.path.removeprefix("/").format(**path_values)
        if page.name in OF_ONE_FILE:
            return None if query else path
        return _list(f"{path}/" if path else "", query)


def _list(directory: str, query: Values) -> str | None:
    """Return the file of a page that may be one of several, each with a part of a list."""
    if len(query) > 1:
        return None
    for key, value in query.items():
        if key not in CURSORS or not is_plain(str(value)):
            return None
        return f"{directory}{key}-{value}"
    return f"{directory}index"
