"""A table as text within a width: it drops less important columns, wraps texts, and at last shortens names.

Widths are counted in the cells of a terminal, of which a Chinese character takes two. No word is broken.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest

GAP = "  "
MIN_NAME_CELLS = 8
"""Names are not shortened further as long as there is a column that can be left out."""

MAX_NAME_SHARE = 1 / 2
"""A name that takes a larger share of the width is shortened before a column is left out."""

MAX_PARTED_NAME_SHARE = 1 / 4
"""The same for a table in parts, which would otherwise have many parts."""

MIN_WRAPPED_CELLS = 24
"""Texts of several words are not wrapped more narrowly as long as there is a column that can be left out."""

MIN_PARTED_COLUMNS = 4
"""A table is not printed in parts of fewer columns as long as there is a column that can be left out."""

LAST_LEFT_OUT = 1
"""Columns with this ``drop_order`` are left out only if shortening names is not enough."""

_FIRST_LEFT_OUT = sys.maxsize
_ELLIPSIS = "…"
_SPACE = re.compile(r" +(?!%)")
"""Where a line may end: not between a number and its percent sign."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TextColumn:
    """A column of printable text; see ``tables.Column``."""

    title: str
    cells: Sequence[str]
    is_number: bool = True
    drop_order: int = 0
    wraps: bool = False
    is_parted: bool = False

    @cached_property
    def full_cells(self) -> int:
        """The width at which nothing is wrapped or shortened."""
        return max(map(cell_count, (self.title, *self.cells)))

    @cached_property
    def longest_word_cells(self) -> int:
        """The width at which no word has to be shortened."""
        return max(cell_count(word) for text in (self.title, *self.cells) for word in _SPACE.split(text))

    @property
    def is_shortened(self) -> bool:
        """Whether its texts may be shortened: names in a column that always stays."""
        return not self.is_number and not self.drop_order

    def least_cells(self, name_cells: int) -> int:
        """Return the least width at which it is readable, if a name may be shortened to ``name_cells``."""
        if self.wraps:
            return min(self.full_cells, max(MIN_WRAPPED_CELLS, min(name_cells, self.longest_word_cells)))
        return min(self.full_cells, name_cells) if self.is_shortened else self.full_cells


def lay_out(columns: Sequence[TextColumn], width: int | None = None) -> tuple[str, list[str]]:
    """Return a table as text, in parts if it has parted columns and is too wide, and the titles of columns left out."""
    if width is None:
        return _drawn(columns, [column.full_cells for column in columns]), []
    kept = _columns_kept(columns, width)
    left_out = [column.title for column in columns if column not in kept]
    frame = [column for column in kept if not column.is_parted]
    parted = [column for column in kept if column.is_parted]
    room = width
    if parted and _least_total(kept, width) > width:
        room -= max(column.full_cells for column in parted) + len(GAP)
        room = min(room, _least_total(frame, _name_cells(width, MAX_PARTED_NAME_SHARE)))
    elif parted:
        room -= _total([column.full_cells for column in parted]) + len(GAP)
    cells = dict(zip(frame, _fitted_cells(frame, room), strict=True))
    parts = []
    for part in _divided(parted, width - _total(list(cells.values())) - len(GAP)):
        shown = [column for column in kept if column in frame or column in part]
        parts.append(_drawn(shown, [cells.get(column, column.full_cells) for column in shown]))
    return "\n\n".join(parts), left_out


def cell_count(text: str) -> int:
    """Return how many cells of a terminal printable text takes."""
    return len(text) if text.isascii() else sum(map(_cells_of_letter, text))


@lru_cache(maxsize=4096)
def _cells_of_letter(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines of at most ``width`` cells, broken between words; longer words are shortened.

    Spaces before the first word stay.
    """
    words = _SPACE.split(text.lstrip(" "))
    spaces = len(text) - len(text.lstrip(" "))
    indent = " " * (spaces if cell_count(text) <= width else min(spaces, width // 2))
    lines = [indent + shortened([words[0]], width - len(indent))[0]]
    for word in words[1:]:
        short = shortened([word], width)[0]
        if cell_count(lines[-1]) + 1 + cell_count(short) <= width:
            lines[-1] += f" {short}"
        else:
            lines.append(short)
    return lines


def _total(cells: Sequence[int]) -> int:
    return sum(cells) + len(GAP) * max(0, len(cells) - 1)


def _least_total(columns: Sequence[TextColumn], name_cells: int) -> int:
    return _total([column.least_cells(name_cells) for column in columns])


def _name_cells(width: int, share: float) -> int:
    return max(MIN_NAME_CELLS, int(width * share))


def _columns_kept(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """Return the columns that stay; those with the same ``drop_order`` stay or go together."""
    order = {column: _drop_order(column) for column in columns}
    kept = list(columns)
    for number in sorted(set(order.values()) - {0}, reverse=True):
        parted = sorted((column for column in kept if column.is_parted), key=lambda column: -column.full_cells)
        needed = [column for column in kept if not column.is_parted] + parted[:MIN_PARTED_COLUMNS]
        share = MAX_NAME_SHARE if number > LAST_LEFT_OUT else 0
        if _least_total(needed, _name_cells(width, share)) <= width:
            break
        kept = [column for column in kept if order[column] != number]
    return kept


def _drop_order(column: TextColumn) -> int:
    is_empty = column.drop_order and column.cells and not any(column.cells)
    return _FIRST_LEFT_OUT if is_empty else column.drop_order


def _fitted_cells(columns: Sequence[TextColumn], width: int) -> list[int]:
    """Return the width of each column: the widest names are shortened, and wrapped texts get the room that is left."""
    cells = [column.least_cells(width) for column in columns]
    shrinking = [number for number, column in enumerate(columns) if column.is_shortened or column.wraps]
    while _total(cells) > width and (wide := [number for number in shrinking if cells[number] > len(_ELLIPSIS) + 2]):
        cells[max(wide, key=lambda number: cells[number])] -= 1
    for number, column in enumerate(columns):
        cells[number] += min(column.full_cells - cells[number], max(0, width - _total(cells))) if column.wraps else 0
    return cells


def _divided(columns: Sequence[TextColumn], width: int) -> list[list[TextColumn]]:
    """Divide parted columns into parts of a width, with about equally many columns; at least one part."""
    parts: list[list[TextColumn]] = [[]]
    for column in columns:
        if parts[-1] and _total([chosen.full_cells for chosen in (*parts[-1], column)]) > width:
            parts.append([])
        parts[-1].append(column)
    size = -(-len(columns) // len(parts))
    even = [list(columns[start : start + size]) for start in range(0, len(columns), size or 1)]
    is_fitting = all(_total([column.full_cells for column in part]) <= width for part in even)
    return even if even and is_fitting else parts


def _drawn(columns: Sequence[TextColumn], widths: Sequence[int]) -> str:
    titles = [shortened([column.title], width)[0] for column, width in zip(columns, widths, strict=True)]
    lines = [_line(columns, widths, titles), _line(columns, widths, ["-" * width for width in widths])]
    cells = [_cells_of(column, width) for column, width in zip(columns, widths, strict=True)]
    for row in zip(*cells, strict=True):
        lines += [_line(columns, widths, texts) for texts in zip_longest(*row, fillvalue="")]
    return "\n".join(lines)


def _cells_of(column: TextColumn, width: int) -> list[list[str]]:
    if column.wraps:
        return [wrapped(text, width) for text in column.cells]
    return [[text] for text in shortened(column.cells, width)]


def _line(columns: Sequence[TextColumn], widths: Sequence[int], texts: Sequence[str]) -> str:
    padded = []
    for column, width, text in zip(columns, widths, texts, strict=True):
        space = " " * (width - cell_count(text))
        padded.append(space + text if column.is_number else text + space)
    return GAP.join(padded).rstrip()


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Return texts with the middle left out where they are too long, so that different ones stay different."""
    if all(cell_count(text) <= width for text in texts):
        return list(texts)
    room = max(0, width - cell_count(_ELLIPSIS))
    for head in sorted(range(room + 1), key=lambda head: (abs(2 * head - room), -head)):
        short = [text if cell_count(text) <= width else _cut(text, head, room - head) for text in texts]
        if len(set(short)) == len(set(texts)):
            return short
    numbers = {text: str(number) for number, text in enumerate(dict.fromkeys(texts), 1)}
    return [
        text if cell_count(text) <= width else _cut(text, room - len(numbers[text]), 0) + numbers[text]
        for text in texts
    ]


def _cut(text: str, head: int, tail: int) -> str:
    """Return the beginning and the end of a text, of at most that many cells, and an ellipsis between them."""
    start = end = ""
    for letter in text:
        if cell_count(start + letter) > head:
            break
        start += letter
    for letter in reversed(text):
        if cell_count(letter + end) > tail:
            break
        end = letter + end
    return f"{start.rstrip()}{_ELLIPSIS}{end.lstrip()}"
