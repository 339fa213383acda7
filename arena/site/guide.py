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
"""What documents call a site: in its own guide, a site writes its address there."""

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


def guide_address(place: str) -> str | None:
    """Return the address of a document by its place in the checkout; None if the guide does not have it."""
    return None if place not in _places() else GUIDE if place == CONTENTS else f"{GUIDE}/{_name_of(place)}"


@cache
def _places() -> dict[str, str]:
    """Return the places of all documents by their names in addresses; some are nothing without Sphinx."""
    found = documents()
    return {place: _name_of(place) for place in found if "```{eval-rst}" not in found[place].read_text("utf-8")}


def _name_of(place: str) -> str:
    return _PLACE.sub(r"\1", place).lower()


def guide_names() -> Sequence[str]:
    """Return the names of all pages in addresses, such as "time" and "games/plaid"."""
    return [name for place, name in _places().items() if place != CONTENTS]


def guide_page(name: str) -> GuidePage | None:
    """Return a page by its name in addresses; None if no page has it."""
    place = next((place for place, own in _places().items() if own == name and place != CONTENTS), None)
    return None if place is None else _page(place)


def guide_contents() -> Markup:
    """Return the list of all pages, without its title and introduction."""
    html = _page(CONTENTS).html if CONTENTS in _places() else Markup("")
    return html[max(0, html.find("<h2")) :]


def example_bot() -> str:
    """Return the text of the bot of the README."""
    found = re.search(r"^```python\n(.*?)^```", documents()["README.md"].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@cache
def _page(place: str) -> GuidePage:
    text = _PICTURE.sub("", _REMARK.sub("", documents()[place].read_text("utf-8")))
    markdown = _markdown()
    tokens = [one for one in markdown.parse(text) if not (one.type == "fence" and one.info.startswith("{"))]
    seen = dict[str, int]()
    for before, one in zip([None, *tokens], tokens, strict=False):
        if one.type == "inline":
            one.children = list(_linked(one.children or [], posixpath.dirname(place)))
            if before is not None and before.type == "heading_open":
                before.attrSet("id", _anchor(_text_of(one), seen))
        elif one.attrs.pop("style", None) == _ALIGNED_RIGHT:
            one.attrSet("class", "number")
    texts = [one for one in tokens if one.type == "inline"]
    title = _text_of(texts[0]) if texts else place
    description = _text_of(texts[1]).replace("\n", " ").partition(". ")[0] if len(texts) > 1 else title
    html = markdown.renderer.render(tokens, markdown.options, {}).replace(
        "<th></th>", "<td></td>"
    )  # a heading of nothing
    return GuidePage(title, description, Markup(html))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only whoever reads a page needs it

    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    for kind, rule in (("fence", _code), ("code_block", _code), ("table_open", _table), ("table_close", _table)):
        made.add_render_rule(kind, rule)
    return made


def _code(_: object, tokens: Sequence[Token], index: int, __: object, ___: object) -> str:
    """Return a block of code, which scrolls by itself, so that a keyboard has to reach it."""
    text = Markup.escape(tokens[index].content)
    return f'<pre tabindex="0" role="group" aria-label="Code"><code>{text}</code></pre>\n'


def _table(_: object, tokens: Sequence[Token], index: int, __: object, ___: object) -> str:
    if tokens[index].type == "table_close":
        return "</table></div>\n"
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _linked(children: Sequence[Token], directory: str) -> Iterator[Token]:
    """Yield what is in a line: links lead to pages of the guide and to other sites; texts stay of all others."""
    is_link = True
    for one in children:
        if one.type == "link_open":
            target = _target(str(one.attrs["href"]), directory)
            is_link = target is not None
            one.attrs["href"] = target or ""
        if is_link or one.type not in ("link_open", "link_close"):
            yield one


def _target(written: str, directory: str) -> str | None:
    path, mark, anchor = written.partition("#")
    if written.startswith(f"{EXAMPLE_SITE}/"):
        return written.removeprefix(EXAMPLE_SITE)
    if not path or _SCHEME.match(written):
        return written
    address = guide_address(posixpath.normpath(posixpath.join(directory, path)))
    return None if address is None else f"{address}{mark}{anchor}"


def _text_of(line: Token) -> str:
    return "".join("\n" if one.type == "softbreak" else one.content for one in line.children or ())


def _anchor(title: str, seen: dict[str, int]) -> str:
    """Return the anchor of a heading, as the code hosts and Sphinx make it."""
    name = _NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")
    count = seen[name] = seen.get(name, -1) + 1
    return f"{name}-{count}" if count else name
