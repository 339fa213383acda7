"""A feed of results.

Identifiers are tag URIs of RFC 4151. They do not depend on where the site is, nor on names, which may be changed.
"""

from __future__ import annotations

from arena.site.frame.model import Model
from arena.site.pages.results_model import ListedResult

AUTHORITY = "grid-arena.invalid"
"""Who gives the identifiers: a name that nobody can have."""

MAX_ENTRIES = 50


class FeedEntry(Model):
    """A result.

    Attributes:
        id: a tag URI.
        result: the result.
        at: when the match began, UTC, ISO 8601.
        authors: whose the bots are that people have handed in, by name.
    """

    id: str
    result: ListedResult
    at: str
    authors: tuple[str, ...] = ()


class Feed(Model):
    """Results, the latest first.

    Attributes:
        id: a tag URI.
        title: what the feed is about.
        at: when it changed last, UTC, ISO 8601.
        entries: the results.
    """

    id: str
    title: str
    at: str
    entries: tuple[FeedEntry, ...]


def tag_uri(created_at: str, *parts: str) -> str:
    """Return an identifier.

    Args:
        created_at: when that to which it belongs began, UTC, ISO 8601.
        parts: what makes it differ from others of that day; made of characters that URIs may have.
    """
    return f"tag:{AUTHORITY},{created_at[:10]}:{'/'.join(parts)}"
