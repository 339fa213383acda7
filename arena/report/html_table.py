"""Tables of the report: headings that explain themselves, names that are links, and what a click on a heading sorts by.

A table is readable as it is. The page's script makes its headings buttons, so a page without scripts has none that do
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from arena.report.column_meanings import meaning_of
from arena.report.markup import linked, text
from arena.report.tables import Column, Row, shown

BOT_KEYS = ("bot", "rival")
"""Columns with names of bots."""

WRAPPED_KEYS = ("faults", "result", "ended")
"""Columns of texts that may be long."""

DENSE_COLUMNS = 13
"""With more columns, they are closer together."""

Cell = Callable[[Row], str]
"""Returns the markup inside a cell, from its row."""


def html_table(
    columns: Sequence[Column],
    rows: Sequence[Row],
    label: str,
    anchors: Mapping[str, str],
    cells: Mapping[str, Cell] | None = None,
    sorted_by: str = "",
    row_class: Cell = lambda _: "",
) -> str:
    """Return a table in a card that scrolls by itself.

    Args:
        columns: in order.
        rows: a value for each column's key.
        label: what the table is, for screen readers.
        anchors: the sections of bots, by the name that tables show.
        cells: the markup of columns that are more than text.
        sorted_by: the key of the column by which the rows are in order, the least first; empty for none.
        row_class: the class of a row; empty for none.
    """
    head = "".join(_heading(column, column.key == sorted_by) for column in columns)
    body = "\n".join(
        f"<tr{_class(row_class(row))}>{''.join(_cell(column, row, cells or {}, anchors) for column in columns)}</tr>"
        for row in rows
    )
    dense = " dense" if len(columns) > DENSE_COLUMNS else ""
    table = f'<table class="sortable{dense}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}, table">{table}</div>'


def _heading(column: Column, is_sorted: bool) -> str:
    classes = _class(" ".join(filter(None, ("number" if column.is_number else "", _layout(column)))))
    order = ' aria-sort="ascending"' if is_sorted else ""
    meaning = meaning_of(column.key)
    about = f' title="{text(meaning)}" aria-describedby="{meaning_anchor(column.key)}"' if meaning else ""
    return f'<th scope="col"{classes}{order}{about}>{text(column.title)}</th>'


def _cell(column: Column, row: Row, cells: Mapping[str, Cell], anchors: Mapping[str, str]) -> str:
    value = row[column.key]
    classes = _class(" ".join(filter(None, ("number" if column.is_number else "", _layout(column)))))
    own = cells.get(column.key)
    if own is not None:
        content = own(row)
    elif column.key in BOT_KEYS:
        content = linked(str(value), anchors)
    else:
        content = "" if column.is_number and value is None else text(shown(value, column))
    if column.key in BOT_KEYS:
        return f'<th scope="row"{classes}>{content}</th>'
    return f"<td{classes}>{content}</td>"


def _layout(column: Column) -> str:
    """Return the class of a column whose width matters, or that stays in view while the others scroll."""
    if column.wraps or column.key in WRAPPED_KEYS:
        return "wraps"
    if column.key in BOT_KEYS:
        return "who"
    return {"rank": "rank", "place": "rank", "chart": "chart"}.get(column.key, "")


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def meaning_anchor(key: str) -> str:
    """Return the anchor of a column's explanation; numbered columns of one kind share it."""
    return "column-" + re.sub(r"_\d+(?=_|$)", "_n", key).replace("_", "-")
