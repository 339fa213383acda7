"""A feed of results as XML: Atom, RFC 4287."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from arena.analysis.text.tables import printable
from arena.base.text import all_of, score_text
from arena.site.links import address_of
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.results_model import Feed, ListedResult

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
