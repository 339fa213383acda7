"""Pages of the site that lie outside ``docs/``, and links from page to page.

README.md and its like are read in the repository, so their links are paths there. Each has a stub in
``docs/repository``, which is filled when it is read; and every relative link of every page is resolved in the
repository and then written as the site wants it. A link to what does not exist is a warning, which ends a build of CI.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "repository/readme",
    "CHANGELOG.md": "repository/changelog",
    "CODE_OF_CONDUCT.md": "repository/code_of_conduct",
    "CONTRIBUTING.md": "repository/contributing",
    "SECURITY.md": "repository/security",
    "arena/DESIGN.md": "repository/design",
    "benchmarks/README.md": "repository/measurements",
    "bots/README.md": "repository/bots",
    "protocol.md": "repository/protocol",
}
"""Files of the repository and the stubs that show them."""

_PATHS = {page: path for path, page in PAGES.items()}
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")

log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page as soon as it is read."""
    app.connect("source-read", _fill_and_relink)
    return {"parallel_read_safe": True}


def _fill_and_relink(app: Sphinx, page: str, content: list[str]) -> None:
    path = _PATHS.get(page, f"docs/{page}.md")
    if page in _PATHS:
        app.env.note_dependency(str(ROOT / path))
        content[0] = (ROOT / path).read_text(encoding="utf-8")
    here = posixpath.dirname(f"docs/{page}")

    def relinked(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[1]))
        if not (ROOT / target).is_file():
            log.warning("%s links to %s, which is no file of the repository", path, link[1])
        shown = f"docs/{PAGES[target]}.md" if target in PAGES else target
        return f"]({posixpath.relpath(shown, here)}{link[2] or ''})"

    parts = _FENCED.split(content[0])
    content[0] = "".join(part if part.startswith("```") else _LINK.sub(relinked, part) for part in parts)
