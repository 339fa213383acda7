"""One self-contained HTML page: it works from a file, without a network, and runs no script but its own.

Text from bots (names, notes) is in the page as escaped text, or in JSON that the viewer shows only as text; "<" never
occurs in that JSON, so that nothing can end a script early. The page's policy, by hashes, forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from arena.report.markup import text


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page.

    Attributes:
        anchor: its id.
        title: its heading.
        body: its contents, as HTML.
    """

    anchor: str
    title: str
    body: str


def html_page(title: str, header: str, sections: Sequence[Section]) -> str:
    """Return the page.

    Args:
        title: the heading, as text.
        header: what comes before the sections, as HTML.
        sections: in order.
    """
    parts = files("arena.report") / "page"
    css, script = ((parts / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return Template((parts / "page.html").read_text(encoding="utf-8")).substitute(
        title=text(title),
        css=css,
        css_hash=_policy_hash(css),
        script=script,
        script_hash=_policy_hash(script),
        links=" ".join(f'<a href="#{section.anchor}">{text(section.title)}</a>' for section in sections),
        header=header,
        sections="\n".join(_section(section) for section in sections),
    )


def _policy_hash(inline: str) -> str:
    """Return the source expression that allows one inline style or script (Content Security Policy, level 3)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


def _section(section: Section) -> str:
    heading = f"h-{section.anchor}"
    return (
        f'<section id="{section.anchor}" aria-labelledby="{heading}"><h2 id="{heading}">{text(section.title)}</h2>\n'
        f"{section.body}</section>"
    )


def json_data(anchor: str, value: Any) -> str:
    """Return a value as data for the page's script."""
    return f'<script type="application/json" id="{anchor}">{_json(value)}</script>'


def packed_data(anchor: str, value: Any) -> str:
    """Return a value as data for the page's script, compressed."""
    packed = base64.b64encode(zlib.compress(_json(value).encode(), 9)).decode()
    return f'<script type="text/plain" id="{anchor}">{packed}</script>'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
