"""A rulebook as HTML: numbered rules, paragraphs between them, and what stands in double backquotes as code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from arena.analysis.text.tables import printable

_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=\d+\. )")
_RULE = re.compile(r"(\d{1,4})\. (.*)")
_CODE = re.compile("``(.+?)``")


def rulebook_html(rules: str) -> Markup:
    """Return a rulebook as HTML."""
    return Markup("\n".join(_elements(rules)))  # every text in it is escaped where it is written


def _elements(rules: str) -> Iterator[str]:
    is_open = False
    for paragraph in _PARAGRAPH.split(rules.strip()):
        text = " ".join(paragraph.split())
        rule = _RULE.fullmatch(text)
        if bool(rule) != is_open:
            yield "</ol>" if is_open else '<ol class="rules">'
            is_open = not is_open
        if rule:
            yield f'<li value="{int(rule[1])}">{_inline(rule[2])}</li>'
        elif text:
            yield f"<p>{_inline(text)}</p>"
    if is_open:
        yield "</ol>"


def _inline(text: str) -> str:
    parts = _CODE.split(text.replace("**", ""))
    return "".join(f"<code>{_shown(part)}</code>" if k % 2 else _shown(part) for k, part in enumerate(parts))


def _shown(text: str) -> str:
    return str(escape(printable(text)))
