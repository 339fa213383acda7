"""A roster: people who get accounts all at once, read from a CSV file that a spreadsheet has written."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from arena.base.errors import RosterError
from arena.base.names import is_printable_text
from arena.base.text import any_of, counted, size_text
from arena.store.people.values import MEMBER_ROLES, Role, look_alike_key, rule_of_name

MAX_ROSTER_BYTES = 64 * 1024
MAX_PEOPLE = 1000
MAX_CELL_CHARACTERS = 200
MAX_COLUMNS = 20

NAME, ROLE, LINK = "name", "role", "link"
_FORMULA_STARTS = tuple("=+-@＝＋－＠")
_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A person on a roster: on which line, and the cells of other columns, which come back beside the link."""

    line: int
    name: str
    role: Role
    others: dict[str, str]


@dataclass(frozen=True, slots=True)
class Roster:
    """What a roster has: people, and what is wrong with lines, by number."""

    newcomers: tuple[Newcomer, ...]
    mistakes: tuple[tuple[int, str], ...]

    def rows(self, links: Sequence[str]) -> list[dict[str, str]]:
        """Return the rows of the table of invitations: what the roster has, and each person's link."""
        return [
            {NAME: newcomer.name, ROLE: str(newcomer.role), **newcomer.others, LINK: link}
            for newcomer, link in zip(self.newcomers, links, strict=True)
        ]


def counted_people(newcomers: Sequence[Newcomer]) -> str:
    """Return how many people there are in each role: "24 authors, 1 director"."""
    counts = Counter(newcomer.role for newcomer in newcomers)
    return ", ".join(counted(counts[role], role) for role in MEMBER_ROLES if counts[role])


def roster_of(data: bytes, roles: Collection[Role] = MEMBER_ROLES) -> Roster:
    """Read a roster: one name a line, or columns with headings, one of which is ``name``.

    A column ``role`` may have one of ``roles``, by default ``author``.

    Raises:
        RosterError: if it can't be read as lines of a table at all.
    """
    rows = _rows(_text_of(data))
    if not rows:
        raise RosterError([(1, "expected a name on each line, found an empty list")])
    headings = [cell.lower() for cell in rows[0][1]]
    if NAME in headings:
        if mistake := _mistake_of_headings(headings):
            raise RosterError([(rows[0][0], mistake)])
        rows = rows[1:]
    elif any(len(cells) > 1 for _, cells in rows):
        raise RosterError([(rows[0][0], "expected the headings of columns, one of them 'name', such as name,role")])
    else:
        headings = [NAME]
    if not 1 <= len(rows) <= MAX_PEOPLE:
        raise RosterError(
            [(rows[-1][0] if rows else 1, f"expected 1 to {MAX_PEOPLE:,} people; there are {len(rows):,}")]
        )
    reader = _Reader(headings, roles)
    for line, cells in rows:
        reader.read(line, cells)
    return Roster(tuple(reader.newcomers), tuple(reader.mistakes))


class _Reader:
    def __init__(self, headings: list[str], roles: Collection[Role]) -> None:
        self._headings, self._roles = headings, roles
        self._lines: dict[str, int] = {}
        self.newcomers: list[Newcomer] = []
        self.mistakes: list[tuple[int, str]] = []

    def read(self, line: int, cells: list[str]) -> None:
        mistake = self._mistake_of(line, cells)
        if mistake:
            self.mistakes.append((line, mistake))
            return
        values = dict(zip(self._headings, cells, strict=True))
        name, role = values.pop(NAME), Role(values.pop(ROLE, "") or Role.AUTHOR)
        self._lines[look_alike_key(name)] = line
        self.newcomers.append(Newcomer(line, name, role, values))

    def _mistake_of(self, line: int, cells: list[str]) -> str:
        if len(cells) != len(self._headings):
            return f"expected {len(self._headings)} cells; there are {len(cells)}"
        for heading, cell in zip(self._headings, cells, strict=True):
            if mistake := _mistake_of_cell(cell):
                return f"{heading} {cell!r:.60}: {mistake}"
        values = dict(zip(self._headings, cells, strict=True))
        name, role = values[NAME], values.get(ROLE) or Role.AUTHOR
        if rule := rule_of_name(name):
            return f"name {name!r:.80}: {rule}"
        if role not in self._roles:
            return f"role {role!r:.40}: expected {any_of([str(accepted) for accepted in self._roles])}"
        if (earlier := self._lines.get(look_alike_key(name))) is not None:
            return f"name {name!r}: line {earlier} has it already, or one that looks like it"
        return ""


def _mistake_of_headings(headings: list[str]) -> str:
    if len(headings) > MAX_COLUMNS:
        return f"expected at most {MAX_COLUMNS} columns; there are {len(headings)}"
    twice = next((heading for heading in headings if headings.count(heading) > 1), None)
    if twice is not None:
        return f"heading {twice!r:.60}: two columns have it"
    for heading in headings:
        mistake = _mistake_of_cell(heading) or (
            "it is the column of the links" if heading == LINK else "" if heading else "it is empty"
        )
        if mistake:
            return f"heading {heading!r:.60}: {mistake}"
    return ""


def _mistake_of_cell(cell: str) -> str:
    if len(cell) > MAX_CELL_CHARACTERS:
        return f"expected at most {MAX_CELL_CHARACTERS} characters; there are {len(cell):,}"
    if cell.startswith(_FORMULA_STARTS):
        return "a spreadsheet would take this for a formula; expected another first character"
    return "" if not cell or is_printable_text(cell) else "expected text in one line, without control characters"


def _text_of(data: bytes) -> str:
    if len(data) > MAX_ROSTER_BYTES:
        raise RosterError([(1, f"expected at most {size_text(MAX_ROSTER_BYTES)} in all")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise RosterError([(1, "expected text in UTF-8; this is UTF-16, or no text: save it as CSV in UTF-8")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        sentence = f"the byte {data[error.start]:#04x} is not UTF-8: save the file as CSV in UTF-8"
        raise RosterError([(line, sentence)]) from None


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, each with its number and its cells without surrounding spaces."""
    first = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    return [(line, cells) for line, cells in _cells(text, separator) if any(cells)]


def _cells(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader, line = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise RosterError([(line, f"not valid CSV: {error}")]) from None
        if cells is None:
            return
        yield line, [cell.strip() for cell in cells]
        line = reader.line_num + 1
