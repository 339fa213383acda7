"""One self-contained HTML page: tables, plots and replayable matches. It works from a file, without a network.

Text from bots (names, notes) is in the page as escaped text, or in JSON that the viewer shows only as text; "<" never
occurs in that JSON, so that nothing can end a script early.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from arena.report.tables import Column, Row, printable, shown

CHUNK = 100
"""Matches compressed together; the viewer unpacks a chunk when one of its matches is opened."""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        title: its heading.
        columns: of its table; empty for none.
        rows: of its table.
        text: a paragraph under the table.
        plots: SVG, with a caption each.
    """

    title: str
    columns: Sequence[Column] = ()
    rows: Sequence[Row] = ()
    text: str = ""
    plots: Sequence[tuple[str, str]] = ()


def html_page(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    index: Sequence[dict[str, Any]],
    matches: Sequence[dict[str, Any]],
    about_matches: str,
) -> str:
    """Return the page.

    Args:
        title: the heading.
        subtitle: a line under it.
        sections: in order.
        index: of each match ``match``, ``game``, ``bots``, ``result`` and ``how``, as text.
        matches: of each match, in the same order, what ``match_frames`` gives.
        about_matches: a sentence above their list.
    """
    parts = files("arena.report") / "page"
    template = Template((parts / "page.html").read_text(encoding="utf-8"))
    links = [(_anchor(section.title), section.title) for section in sections] + [("matches", "Matches")]
    chunks = [matches[k : k + CHUNK] for k in range(0, len(matches), CHUNK)]
    return template.substitute(
        title=escape(printable(title)),
        subtitle=escape(printable(subtitle)),
        css=(parts / "page.css").read_text(encoding="utf-8"),
        js=(parts / "page.js").read_text(encoding="utf-8"),
        links=" ".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in links),
        sections="\n".join(_section(section) for section in sections),
        about_matches=escape(about_matches),
        index=_json(index),
        chunk=CHUNK,
        chunks="\n".join(
            f'<script type="text/plain" id="chunk-{number}">{_packed(chunk)}</script>'
            for number, chunk in enumerate(chunks)
        ),
    )


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def _packed(value: Any) -> str:
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _section(section: Section) -> str:
    parts = [f'<h2 id="{_anchor(section.title)}">{escape(section.title)}</h2>']
    if section.columns:
        parts.append(f'<div class="scroll">{_table(section.columns, section.rows)}</div>')
    if section.text:
        parts.append(f"<p>{escape(printable(section.text))}</p>")
    if section.plots:
        figures = "\n".join(
            f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>" for svg, caption in section.plots
        )
        parts.append(f'<div class="plots">{figures}</div>')
    return "\n".join(parts)


def _table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    head = "".join(f"<th{_kind(column)}>{escape(column.title)}</th>" for column in columns)
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{_kind(column)}>{escape(shown(row[column.key], column))}</td>" for column in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _kind(column: Column) -> str:
    return ' class="number"' if column.is_number else ""


def frames_of(drawings: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[list[int]]]]:
    """Return all shapes that occur, and for each drawing the numbers of those that appear and those that disappear."""
    numbers: dict[Any, int] = {}
    frames = []
    before: dict[Any, None] = {}
    for shapes in drawings:
        now = dict.fromkeys(tuple(shape) for shape in shapes)
        for shape in now:
            numbers.setdefault(shape, len(numbers))
        come = [numbers[shape] for shape in now if shape not in before]
        gone = [numbers[shape] for shape in before if shape not in now]
        frames.append([come, gone])
        before = now
    return list(numbers), frames
