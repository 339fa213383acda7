"""Text as HTML: whatever is not markup of the arena itself is escaped here."""

from __future__ import annotations

import re
from html import escape

from arena.analysis.text.tables import printable, printable_lines

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
    """Return a name; letters that run from right to left do not reorder what is beside them.

    A long one breaks after an underscore or a hyphen, before it breaks anywhere else.
    """
    escaped = text(shown)
    return f"<bdi>{_JOINTS.sub('<wbr>', escaped) if len(escaped) > MAX_UNBROKEN_CHARACTERS else escaped}</bdi>"
