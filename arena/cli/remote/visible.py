"""Text of a site, so that it can be shown: it may be anything."""

from __future__ import annotations

from arena.base.names import is_visible

MAX_SENTENCE_CHARACTERS = 600


def visible_sentence(text: str) -> str:
    """Return a text as one line of bounded length, with a mark in place of each letter that can't be seen.

    >>> visible_sentence("not\\x1b[2J so\\n fast")
    'not�[2J so fast'
    """
    return visible_line(" ".join(text[: 2 * MAX_SENTENCE_CHARACTERS].split()))


def visible_line(line: str) -> str:
    """Return a line of several, such as one of a traceback, at bounded length: its spaces stay as they are.

    >>> visible_line("    open()\\x1b[2J")
    '    open()�[2J'
    """
    line = line[: 2 * MAX_SENTENCE_CHARACTERS].expandtabs().rstrip()
    shown = "".join(letter if is_visible(letter) else "\ufffd" for letter in line)
    return shown if len(shown) <= MAX_SENTENCE_CHARACTERS else f"{shown[: MAX_SENTENCE_CHARACTERS - 1]}…"
