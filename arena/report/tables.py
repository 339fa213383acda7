"""Tables as text, GitHub, HTML, LaTeX, CSV or JSON.

A table is a list of columns and a list of rows. Numbers are right-aligned and formatted here, never by ``tabulate``,
which would print a bot named ``1e5`` as 100000. What comes from bots is shown with its control characters escaped.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import tabulate

FORMATS = ("text", "github", "html", "latex", "csv", "json")

_TABULATE_FORMATS = {"text": "simple", "github": "github", "html": "html", "latex": "latex"}
tabulate.MIN_PADDING = 0  # the package would widen every numeric column by two

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        key: its name in JSON and CSV, in snake_case.
        title: its heading.
        decimals: how many to show; None for a text or a whole number.
        is_number: whether it is right-aligned.
    """

    key: str
    title: str
    decimals: int | None = None
    is_number: bool = True


Row = dict[str, Any]


def render_table(columns: Sequence[Column], rows: Sequence[Row], table_format: str = "text") -> str:
    """Return a table as text.

    Args:
        columns: in order.
        rows: a value for each column's key; None is shown as ``-``, and is null in JSON.
        table_format: one of ``FORMATS``.
    """
    if table_format == "json":
        return json.dumps([{column.key: row[column.key] for column in columns} for row in rows], indent=2)
    if table_format == "csv":
        return _as_csv(columns, rows)
    body = [[shown(row[column.key], column) for column in columns] for row in rows]
    if table_format == "github":
        body = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in line] for line in body]
    return tabulate.tabulate(
        body,
        headers=[column.title for column in columns],
        tablefmt=_TABULATE_FORMATS[table_format],
        disable_numparse=True,
        colalign=["right" if column.is_number else "left" for column in columns] if body else None,
    )


def shown(value: Any, column: Column) -> str:
    """Return a cell as people read it."""
    if value is None:
        return "-"
    if column.decimals is not None:
        return f"{value:.{column.decimals}f}"
    return printable(str(value))


def _as_csv(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(row[column.key], column) for column in columns])
    return out.getvalue().rstrip("\n")


def _csv_cell(value: Any, column: Column) -> Any:
    """Return a cell; a text that a spreadsheet would take for a formula is given a quote in front."""
    if value is None:
        return ""
    if column.is_number:
        return value
    text = printable(value if isinstance(value, str) else json.dumps(value))
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def printable(text: str) -> str:
    """Return text that is safe to show: control characters, line separators and direction marks are escaped."""
    return "".join(letter if _is_harmless(letter) else _escaped(letter) for letter in text)


def printable_lines(text: str) -> str:
    """Return text of several lines that is safe to show, each line as ``printable`` gives it."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _is_harmless(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
