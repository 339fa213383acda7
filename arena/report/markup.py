"""Text as HTML: whatever is not markup of the arena itself is escaped here."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from arena.report.tables import printable, printable_lines


def text(value: object) -> str:
    """Return a value as the text of an element or of a quoted attribute, with control characters visible."""
    return escape(printable(str(value)))


def lines_of_text(value: str) -> str:
    """Return a text of several lines as the text of an element that keeps them."""
    return escape(printable_lines(value.strip("\n")))


def name(shown: object) -> str:
    """Return a name; letters that run from right to left do not reorder what is beside them."""
    return f"<bdi>{text(shown)}</bdi>"


def linked(shown: str, anchors: Mapping[str, str]) -> str:
    """Return a bot's name as a link to its section, if it has one.

    Args:
        shown: the name that tables show.
        anchors: of the sections, by that name.
    """
    anchor = anchors.get(shown)
    return name(shown) if anchor is None else f'<a href="#{anchor}">{name(shown)}</a>'
