"""Tables as HTML fragments for notebooks, each of which has themes and style sheets of its own.

Every style is inline, because some notebooks remove style sheets. Text has the colour of the notebook's text, and what
lies behind text is translucent, so a fragment can be read on light and on dark paper without knowing which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.analysis.text.markup import text

GOOD, BAD = "#25866d", "#c2572d"
"""As visible on white as on black."""

SOFT = "opacity:.7"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlCell:
    """A cell of a table.

    Attributes:
        html: its contents.
        is_number: whether it is right-aligned.
        style: more declarations.
        title: what a pointer shows, as text.
    """

    html: str
    is_number: bool = False
    style: str = ""
    title: str = ""


def table(headings: Sequence[HtmlCell], rows: Sequence[Sequence[HtmlCell]], label: str) -> str:
    """Return a table that scrolls by itself.

    Args:
        headings: of the columns.
        rows: the cells of each; a row with fewer cells than columns is one cell that spans all.
        label: what the table is, for screen readers.
    """
    head = "".join(_element("th", cell, f"{SOFT};font-weight:400;vertical-align:bottom") for cell in headings)
    body = "\n".join(_row(cells, len(headings)) for cells in rows)
    return (
        f'<div style="overflow-x:auto" role="region" aria-label="{text(label)}, table">'
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0">'
        f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def _row(cells: Sequence[HtmlCell], columns: int) -> str:
    if len(cells) < columns:
        return f'<tr><td colspan="{columns}" style="text-align:left;padding:.3em .5em;{SOFT}">{cells[0].html}</td></tr>'
    return f"<tr>{''.join(_element('td', cell) for cell in cells)}</tr>"


def _element(tag: str, cell: HtmlCell, style: str = "") -> str:
    align = "right" if cell.is_number else "left"
    declarations = ";".join(
        filter(None, (f"text-align:{align};padding:.3em .5em;white-space:nowrap", style, cell.style))
    )
    title = f' title="{text(cell.title)}"' if cell.title else ""
    return f'<{tag} style="{declarations}"{title}>{cell.html}</{tag}>'


def paragraph(sentence: str, style: str = "") -> str:
    """Return a paragraph of plain text; nothing if it is empty."""
    return f'<p style="margin:.4em 0;max-width:60em;{style}">{text(sentence)}</p>' if sentence else ""


def ends(items: Sequence[Item], first: int, last: int) -> tuple[Sequence[Item], int, Sequence[Item]]:
    """Return the first items, how many are left out, and the last ones.

    All of them are first if that leaves out one at most.
    """
    if len(items) <= first + last + 1:
        return items, 0, items[:0]
    return items[:first], len(items) - first - last, items[len(items) - last :]


def shade(share: float) -> str:
    """Return the background of a share from 0 (bad) to 1 (good), none in the middle."""
    red, green, blue = (int((GOOD if share > 0.5 else BAD)[start : start + 2], 16) for start in (1, 3, 5))
    return f"background:rgba({red},{green},{blue},{round(abs(share - 0.5), 2)})"
