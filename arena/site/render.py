"""From the value of a page to HTML, and from results to a feed in XML: Atom, RFC 4287."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.analysis.text.standings_columns import meaning_of, percent_text
from arena.analysis.text.tables import lines_of_text, printable
from arena.analysis.text.tables import name as name_html
from arena.base.text import all_of, counted, duration_text, halves_text, minute_text, rate_text, score_text
from arena.site.frame.model import Frozen, Model, Page, Parameters
from arena.site.links import Links, address_of, query_value
from arena.site.matches.boards import (
    board_svg,
    clocks_at,
    places_svg,
    position_at,
    scores_svg,
    seat_key,
    seconds_text,
    targets_svg,
    worths_svg,
)
from arena.site.matches.match_model import MatchPage
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages import charts
from arena.site.pages.charts import RatingChart
from arena.site.pages.results_model import Feed, ListedResult
from arena.site.pages.standings_model import scale_of

# A rulebook as HTML: numbered rules, paragraphs between them, and what stands in double backquotes as code.

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


# From the value of a page to HTML.
#
# Whatever a template writes is escaped, and characters that are not visible are shown as such: text of bots can neither
# be markup nor turn round what is beside it.

_NOT_IN_SCRIPT = re.compile("[<>&]|[^ -~]")
_DOCUMENT = re.compile(r"\bdocs/[a-z_/]{1,60}\.md\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a page is shown.

    Attributes:
        topics: the events after which a reader has to ask again.
        is_asked_for_again: whether readers ask for it every few seconds: it changes without an event.
        as_of: when an outdated page was right; "" for one that is not known to be outdated.
        notice_address: of the page that it is about; "" for none.
        frozen: the embargo on results of its tournament; None without one.
        contest: the address of the contest of its tournament; "" outside contests.
        unseen: how many messages of contests are new for the reader; 0 on pages that all readers share.
    """

    links: Links
    is_served: bool = True
    topics: tuple[str, ...] = ()
    is_asked_for_again: bool = False
    age_seconds: float | None = None
    as_of: str = ""
    notice: str = ""
    notice_address: str = ""
    frozen: Frozen | None = None
    contest: str = ""
    unseen: int = 0


def render(
    page: Page, parameters: Parameters, model: Model, setting: Setting, featured: MatchPage | None = None
) -> str:
    """Return a page as HTML; ``featured`` is the match whose board the first page shows."""
    values = parameters.model_dump()
    twin = setting.links.page(page.name, ".json", **values)
    own = {name: values[name] for name in page.path_fields}
    feed = setting.links.page(page.name, "/feed.atom", **own) if page.has_feed else None
    shown = {"room": page.room, "twin": twin, "feed": feed, "featured": featured}
    return render_template(page.name, setting, parameters=parameters, model=model, **shown)


def render_template(template: str, setting: Setting, **values: Any) -> str:
    """Return a template as HTML, by its name; ``base.html.jinja`` needs the values ``room`` and ``twin``."""
    return (
        environment().get_template(f"{template}.html.jinja").render(setting=setting, link=setting.links.page, **values)
    )


@cache
def environment() -> Environment:
    """Return what compiles templates, with the filters they use."""
    made = Environment(
        loader=PackageLoader("arena.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
        auto_reload=False,
    )
    made.filters |= {
        "bot_name": lambda shown: Markup(name_html(shown)),
        "lines_of_text": lambda text: Markup(lines_of_text(text)),
        "with_guide_links": with_guide_links,
        "counted": counted,
        "minute": minute_text,
        "places_svg": places_svg,
        "position_at": position_at,
        "clocks_at": clocks_at,
        "board_svg": board_svg,
        "scores_svg": scores_svg,
        "worths_svg": worths_svg,
        "seat_key": seat_key,
        "seconds": seconds_text,
        "targets_svg": targets_svg,
        "rulebook": rulebook_html,
        "script_data": script_data,
        "shell_word": shlex.quote,
        "query_value": query_value,
        "duration": duration_text,
        "whole": lambda count: f"{count:,}",
        "fixed": lambda value, decimals: f"{value:,.{decimals}f}",
        "score": score_text,
        "halves": halves_text,
        "chance": percent_text,
        "signed": lambda value: f"{value:+z.1f}".replace("-", "−"),
        "rate": rate_text,
        "meaning": meaning_of,
        "scale": scale_of,
        "have_faults": lambda lines: any(line.faults for line in lines),
    }
    made.globals |= {"chart": charts, "RatingChart": RatingChart}
    return made


def _printable(value: Any) -> Any:
    """Return a value for HTML: hidden characters of texts become visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def with_guide_links(text: str) -> Markup:
    """Return a sentence as HTML in which a path such as docs/time.md leads to that page of the guide."""
    return Markup(_DOCUMENT.sub(_link_to_guide, _shown(text)))


def _link_to_guide(match: re.Match[str]) -> str:
    from arena.site.guide import guide_address

    address = guide_address(match[0])
    return match[0] if address is None else f'<a href="{address}">{match[0]}</a>'


def script_data(model: Model) -> Markup:
    """Return a value as JSON for a script; nothing in it ends the element, begins another or is invisible."""
    return Markup(_NOT_IN_SCRIPT.sub(_in_json, model.model_dump_json(exclude_defaults=True)))


def _in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


@cache
def asset(name: str) -> bytes:
    """Return a file of ``static``."""
    return (files("arena.site") / "static" / name).read_bytes()


@cache
def asset_digests() -> dict[str, str]:
    """Return the digest of each file in ``static``."""
    names = sorted(file.name for file in (files("arena.site") / "static").iterdir() if file.is_file())
    return {name: hashlib.blake2b(asset(name), digest_size=8).hexdigest() for name in names}


ATOM = "http://www.w3.org/2005/Atom"


def feed_xml(feed: Feed, site: str, address: str, page: str) -> bytes:
    """Return a feed of a server as XML.

    Args:
        site: the address of the site, such as "http://localhost:8000".
        address: of the feed, from the root of the site.
        page: the address of the page that shows the same to people.
    """

    def match_address(result: ListedResult) -> str | None:
        path = address_of(PAGE_BY_NAME["match"], {"tournament": result.tournament, "match": result.match})
        return None if path is None else f"{site}{path}"

    return feed_with(feed, f"{site}{address}", f"{site}{page}", match_address)


def feed_with(feed: Feed, own: str, page: str, match_address: Callable[[ListedResult], str | None]) -> bytes:
    """Return a feed at its ``own`` address as XML; ``page`` shows the same to people, ``match_address`` may be None."""
    root = ElementTree.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    _add(root, "updated", feed.at)
    _add(root, "generator", "Grid arena")
    _add(ElementTree.SubElement(root, "author"), "name", "Grid arena")
    _link(root, "self", own, "application/atom+xml")
    _link(root, "alternate", page, "text/html")
    for entry in feed.entries:
        element = ElementTree.SubElement(root, "entry")
        _add(element, "id", entry.id)
        _add(element, "title", result_title(entry.result))
        _add(element, "updated", entry.at)
        for author in entry.authors:
            _add(ElementTree.SubElement(element, "contributor"), "name", printable(author))
        if (match := match_address(entry.result)) is not None:
            _link(element, "alternate", match, "text/html")
        ElementTree.SubElement(element, "category", {"term": printable(entry.result.game)})
        _add(element, "summary", _summary(entry.result))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def result_title(result: ListedResult) -> str:
    """Return what happened in a match, in a few words, such as "stepper beats greedy 9–7 (differences)"."""
    return f"{_outcome(result)} ({result.game})"


def _outcome(result: ListedResult) -> str:
    order = sorted(range(len(result.names)), key=lambda seat: (result.ranks[seat], seat))
    names = [result.names[seat] for seat in order]
    score = "–".join(score_text(result.scores[seat]) for seat in order)
    first = [result.names[seat] for seat in order if result.ranks[seat] == 1]
    if result.faults:
        how = "by forfeit: " + ", ".join(f"{fault.kind} at ply {fault.ply}" for fault in result.faults)
    else:
        how = score
    if len(first) == len(names):
        return f"{all_of(names)} draw {how}"
    if len(first) > 1:
        return f"{all_of(first)} share the first rank against {all_of(names[len(first) :])}, {how}"
    return f"{names[0]} beats {all_of(names[1:])} {how}"


def _summary(result: ListedResult) -> str:
    faults = "; ".join(f"{result.names[fault.seat]}: {fault.kind} at ply {fault.ply}" for fault in result.faults)
    return f"Match {result.match} of {result.tournament}, {result.plies} plies{f'; {faults}' if faults else ''}."


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = printable(text)


def _link(parent: ElementTree.Element, relation: str, address: str, kind: str) -> None:
    ElementTree.SubElement(parent, "link", {"rel": relation, "href": address, "type": kind})
