"""The guide: the documentation as pages of the site, with links between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from arena.base.shipped import documents

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

GUIDE = "/guide"
CONTENTS = "docs/index.md"
"""The list of all pages, a part of the first one of the guide."""

EXAMPLE_SITE = "https://arena.example.org"
"""The site in documents; the guide of a site replaces it by the site's own address."""

_REMARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
_PICTURE = re.compile(r"^!\[.*\]\(.*\)\n", re.MULTILINE)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
_PLACE = re.compile(r"^(?:docs/)?(.*?)(?:/README)?\.md$")
_SCHEME = re.compile(r"^https?://")
_FORM = re.compile(r'<a href="/(?:people|contests/new)[^"]*">(.*?)</a>')
_ALIGNED_RIGHT = "text-align:right"


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A document as HTML; ``description`` is its first sentence."""

    title: str
    description: str
    html: Markup

    def at(self, site: str) -> Markup:
        """Return the HTML for a site, by its address, such as "http://localhost:8000"."""
        return self.html.replace(EXAMPLE_SITE, Markup.escape(site))

    def without_accounts(self) -> GuidePage:
        """Return the page for a site without accounts: links to forms that are not there are plain text."""
        return replace(self, html=Markup(_FORM.sub(r"\1", self.html)))


def guide_address(path: str) -> str | None:
    """Return the address of a document by its path in the checkout; None if the guide does not have it."""
    return None if path not in _names_by_path() else GUIDE if path == CONTENTS else f"{GUIDE}/{_name_of(path)}"


@cache
def _names_by_path() -> dict[str, str]:
    """Return the names in addresses of all documents by path; without those that need Sphinx."""
    paths = documents()
    return {path: _name_of(path) for path in paths if "```{eval-rst}" not in paths[path].read_text("utf-8")}


def _name_of(path: str) -> str:
    return _PLACE.sub(r"\1", path).lower()


def guide_names() -> Sequence[str]:
    """Return the names of all pages in addresses, such as "time" and "games/plaid"."""
    return [name for path, name in _names_by_path().items() if path != CONTENTS]


def guide_page(name: str) -> GuidePage | None:
    """Return a page by its name in addresses; None if no page has it."""
    path = next((path for path, own_name in _names_by_path().items() if own_name == name and path != CONTENTS), None)
    return None if path is None else _page(path)


def guide_contents() -> Markup:
    """Return the list of all pages, without its title and introduction."""
    html = _page(CONTENTS).html if CONTENTS in _names_by_path() else Markup("")
    return html[max(0, html.find("<h2")) :]


def example_bot() -> str:
    """Return the text of the bot of the README."""
    block = re.search(r"^```python\n(.*?)^```", documents()["README.md"].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return block[1] if block else ""


@cache
def _page(path: str) -> GuidePage:
    text = _PICTURE.sub("", _REMARK.sub("", documents()[path].read_text("utf-8")))
    markdown = _markdown()
    tokens = [token for token in markdown.parse(text) if not (token.type == "fence" and token.info.startswith("{"))]
    seen = dict[str, int]()
    for previous, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline":
            token.children = list(_linked(token.children or [], posixpath.dirname(path)))
            if previous is not None and previous.type == "heading_open":
                previous.attrSet("id", _anchor(_text_of(token), seen))
        elif token.attrs.pop("style", None) == _ALIGNED_RIGHT:
            token.attrSet("class", "number")
    texts = [token for token in tokens if token.type == "inline"]
    title = _text_of(texts[0]) if texts else path
    description = _text_of(texts[1]).replace("\n", " ").partition(". ")[0] if len(texts) > 1 else title
    html = markdown.renderer.render(tokens, markdown.options, {}).replace("<th></th>", "<td></td>")  # an empty heading
    return GuidePage(title, description, Markup(html))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # loaded only to render a page

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for kind, rule in (("fence", _code), ("code_block", _code), ("table_open", _table), ("table_close", _table)):
        markdown.add_render_rule(kind, rule)
    return markdown


def _code(_: object, tokens: Sequence[Token], index: int, __: object, ___: object) -> str:
    """Return a block of code that the keyboard can reach, as it scrolls by itself."""
    text = Markup.escape(tokens[index].content)
    return f'<pre tabindex="0" role="group" aria-label="Code"><code>{text}</code></pre>\n'


def _table(_: object, tokens: Sequence[Token], index: int, __: object, ___: object) -> str:
    if tokens[index].type == "table_close":
        return "</table></div>\n"
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _linked(children: Sequence[Token], directory: str) -> Iterator[Token]:
    """Yield the tokens of a line: links to the guide and to other sites; of other links only the text."""
    is_link = True
    for token in children:
        if token.type == "link_open":
            target = _target(str(token.attrs["href"]), directory)
            is_link = target is not None
            token.attrs["href"] = target or ""
        if is_link or token.type not in ("link_open", "link_close"):
            yield token


def _target(written: str, directory: str) -> str | None:
    path, mark, anchor = written.partition("#")
    if written.startswith(f"{EXAMPLE_SITE}/"):
        return written.removeprefix(EXAMPLE_SITE)
    if not path or _SCHEME.match(written):
        return written
    address = guide_address(posixpath.normpath(posixpath.join(directory, path)))
    return None if address is None else f"{address}{mark}{anchor}"


def _text_of(line: Token) -> str:
    return "".join("\n" if token.type == "softbreak" else token.content for token in line.children or ())


def _anchor(title: str, seen: dict[str, int]) -> str:
    """Return the anchor of a heading, as the code hosts and Sphinx make it."""
    name = _NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")
    count = seen[name] = seen.get(name, -1) + 1
    return f"{name}-{count}" if count else name
