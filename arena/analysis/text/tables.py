"""Tables as text, GitHub, HTML, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from arena.analysis.text.text_layout import TextColumn, lay_out

# A table is a list of columns and a list of rows. Numbers are right-aligned and formatted here, never by ``tabulate``,
# which would print a bot named ``1e5`` as 100000. Text from bots is shown with its control characters escaped, and
# without any meaning to the reader of the table: a browser, GitHub, LaTeX, a spreadsheet, a terminal.

FORMATS = ("text", "github", "html", "latex", "csv", "json")

_TABULATE_FORMATS = {"github": "github", "html": "html", "latex": "latex_raw"}

_FORMULA = re.compile(r"""(^|;)([\s"']*)(?=[=+\-@＝＋－＠])""")
"""Where a spreadsheet would see a formula: in some countries a semicolon begins the next cell, and letters of full
width count as well.
"""

_PLAIN_IN_MARKDOWN = re.compile(
    r"(?!.*(?i:www\.|gh-\d))"
    r"(?:[^\W_]|(?<=[^\W_])_(?=[^\W_])|:(?= )|(?<=\d):(?=\d)|[ .,;%()±–—+/'=-])*"
)
"""Text that GitHub shows as it is. All else goes into a code span: after a backslash GitHub would still make links of
``@name``, ``#1`` and addresses.
"""


_LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        key: its name in JSON and CSV, in snake_case.
        decimals: how many to show; None for a text or a whole number.
        is_number: whether it is right-aligned.
        drop_order: in a terminal that is too narrow, columns with the largest number are left out first; those with 0
            always stay.
        wraps: whether its texts may be broken between words.
        is_parted: whether, in a terminal that is too narrow, the table is divided into parts, each with some of these
            columns.
    """

    key: str
    title: str
    decimals: int | None = None
    is_number: bool = True
    drop_order: int = 0
    wraps: bool = False
    is_parted: bool = False


Row = dict[str, Any]


def row_of(columns: Sequence[Column], value: object, **given: Any) -> Row:
    """Return the row of a value: for each column the argument with its key, or else the value's attribute."""
    return {column.key: given[column.key] if column.key in given else getattr(value, column.key) for column in columns}


def render_table(columns: Sequence[Column], rows: Sequence[Row], table_format: str = "text") -> str:
    """Return a table as text in one of ``FORMATS``; None is shown as ``-``, and is null in JSON."""
    if table_format == "json":
        return json.dumps([{column.key: row[column.key] for column in columns} for row in rows], indent=2)
    if table_format == "csv":
        return _as_csv(columns, rows)
    if table_format == "text":
        return fitted_table(columns, rows)[0]
    body = [[shown(row[column.key], column) for column in columns] for row in rows]
    headers = [printable(column.title) for column in columns]
    if table_format in _ESCAPED:
        escaped = _ESCAPED[table_format]
        headers, body = [escaped(title) for title in headers], [[escaped(cell) for cell in line] for line in body]
    import tabulate  # takes a tenth of a command's time

    tabulate.MIN_PADDING = 0  # the package would widen every numeric column by two
    return tabulate.tabulate(
        body,
        headers=headers,
        tablefmt=_TABULATE_FORMATS[table_format],
        disable_numparse=True,
        colalign=["right" if column.is_number else "left" for column in columns] if body else None,
    )


def fitted_table(columns: Sequence[Column], rows: Sequence[Row], width: int | None = None) -> tuple[str, list[str]]:
    """Return a table as text of at most ``width`` terminal cells, and the titles of the columns that are left out."""
    texts = [
        TextColumn(
            title=printable(column.title),
            cells=[shown(row[column.key], column) for row in rows],
            is_number=column.is_number,
            drop_order=column.drop_order,
            wraps=column.wraps,
            is_parted=column.is_parted,
        )
        for column in columns
    ]
    return lay_out(texts, width)


def shown(value: Any, column: Column) -> str:
    """Return a cell as people read it."""
    if value is None:
        return "-"
    if column.decimals is not None:
        return f"{value:.{column.decimals}f}"
    return printable(str(value))


def _as_csv(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_csv_text(column.key) for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(row[column.key], column) for column in columns])
    return file.getvalue().rstrip("\n")


def _csv_cell(value: Any, column: Column) -> Any:
    """Return a cell; what a spreadsheet would take for a formula begins with a quote."""
    if value is None:
        return ""
    if isinstance(value, float):
        return round(value, (column.decimals or 4) + 2)
    if isinstance(value, str):
        return _csv_text(value)
    return value if column.is_number or type(value) is int else _csv_text(json.dumps(value))


def _csv_text(text: str) -> str:
    return _FORMULA.sub(r"\1\2'", printable(text))


def _in_markdown(text: str) -> str:
    """Return a cell of a GitHub table; what could be markup is in a code span."""
    if _PLAIN_IN_MARKDOWN.fullmatch(text):
        return text
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    padding = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{padding}{text}{padding}{fence}".replace("|", "\\|")


def _in_latex(text: str) -> str:
    """Return a cell of a LaTeX table; ``[`` and ``*`` at the beginning would belong to the end of the line before."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in text)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def printable(text: str) -> str:
    """Return text that is safe to show: control characters, line separators and direction marks are escaped."""
    if text.isprintable():  # nearly every text, in a fiftieth of the time; nothing that Python prints is escaped here
        return text
    return "".join(letter if _is_harmless(letter) else _escaped(letter) for letter in text)


def printable_lines(text: str) -> str:
    """Return text of several lines that is safe to show, each line as ``printable`` gives it."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _is_harmless(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


_ESCAPED = {"github": _in_markdown, "latex": _in_latex}


# Text as HTML: whatever is not markup of the arena itself is escaped here.

MAX_UNBROKEN_CHARACTERS = 16
"""A name of up to this many characters fits wherever the report has one."""

_JOINTS = re.compile(r"(?<=\w[_-])(?=\w)")


def text(value: object) -> str:
    """Return a value as the text of an element or of a quoted attribute, with control characters visible."""
    return escape(printable(str(value)))


def lines_of_text(value: str) -> str:
    """Return a text of several lines as the text of an element that keeps them."""
    return escape(printable_lines(value.strip("\n")))


def name(shown: object) -> str:
    """Return a name as HTML that can break after ``_`` and ``-``; right-to-left letters reorder no neighbours."""
    escaped = text(shown)
    return f"<bdi>{_JOINTS.sub('<wbr>', escaped) if len(escaped) > MAX_UNBROKEN_CHARACTERS else escaped}</bdi>"
