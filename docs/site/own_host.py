"""The site is read without a request to anybody else: no fonts, scripts, styles or pictures from other hosts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

_POLICY = "default-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'"
_ELSEWHERE = r"((?:https?:)?//[^\"' >)]+)"
_LOADED = (
    re.compile(rf"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"']?{_ELSEWHERE}"),
    re.compile(rf"<link\b(?![^>]*\brel=[\"']?(?:canonical|next|prev))[^>]*\bhref=[\"']?{_ELSEWHERE}"),
    re.compile(rf"(?:url\(|@import )[\"']?{_ELSEWHERE}"),
)

log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Forbid browsers such requests, and look at the pages when they are written."""
    app.connect("html-page-context", _add_policy)
    app.connect("build-finished", _look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_policy(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    context["metatags"] = (
        context.get("metatags", "") + f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    )


def _look(app: Sphinx, failed: Exception | None) -> None:
    if failed is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        for pattern in _LOADED:
            found = pattern.search(text)
            if found is not None:
                log.warning("%s loads %s from another host", path.relative_to(site), found[1])
