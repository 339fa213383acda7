"""A client of a site: JSON in, JSON out, and files up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

from arena.base.errors import SiteAwayError, SiteError
from arena.base.text import shortened_text
from arena.base.version import __version__
from arena.cli.remote.exchange import Progress, Reply, Request, Upload, exchange
from arena.cli.remote.site_address import SiteAddress
from arena.cli.remote.visible import visible_sentence

JSON, BYTES = "application/json", "application/octet-stream"
UNAUTHORIZED, NOT_FOUND, TOO_OFTEN = 401, 404, 429
MAX_RETRY_SECONDS = 3600


def _no_progress(_: int) -> None:
    pass


class SiteClient:
    """Asks a site.

    Attributes:
        site: where it is.
    """

    def __init__(self, site: SiteAddress, token: str | None = None) -> None:
        """Prepare.

        Args:
            site: where it is.
            token: that proves who asks; None for a visitor.
        """
        self.site = site
        self._headers = {"Accept": JSON, "User-Agent": f"arena/{__version__}"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def get_json(self, path: str, **query: str | int) -> dict[str, Any]:
        """Return the object at a path.

        Args:
            path: such as "/account".
            query: what follows the question mark.

        Raises:
            SiteError: if the site refuses, or what answers is no arena.
            SiteAwayError: if it can't be reached, or fails.
        """
        return self._asked(Request("GET", _target(path, query), self._headers))

    def post_json(self, path: str, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send an object and return the one that is answered.

        Args:
            path: such as "/account/token/end".
            value: what is sent.

        Raises:
            SiteError: if the site refuses, or what answers is no arena.
            SiteAwayError: if it can't be reached, or fails.
        """
        headers = {**self._headers, "Content-Type": JSON}
        return self._asked(Request("POST", _target(path), headers, json.dumps(value or {}).encode()))

    def upload(
        self, path: str, file: BinaryIO, size_bytes: int, *, progress: Progress = _no_progress, **query: str | int
    ) -> dict[str, Any]:
        """Send a file, piece by piece, and return the object that is answered.

        Args:
            path: where it is sent.
            file: at its beginning.
            size_bytes: how much of it is sent.
            progress: called with the number of bytes that have been sent, after each piece.
            query: what follows the question mark.

        Raises:
            SiteError: if the site refuses, or what answers is no arena.
            SiteAwayError: if it can't be reached, or fails.
            UsageError: if the file is shorter than ``size_bytes``.
        """
        headers = {**self._headers, "Content-Type": BYTES}
        return self._asked(Request("POST", _target(path, query), headers, Upload(file, size_bytes, progress)))

    def no_arena(self) -> SiteError:
        """Return the error for what no arena answers."""
        return SiteError(f"{self.site}: what answers there is no arena, or one of another version")

    def _asked(self, request: Request) -> dict[str, Any]:
        reply = exchange(self.site, request)
        if 300 <= reply.status < 400:
            place = shortened_text(visible_sentence(reply.headers.get("location", "")))
            raise SiteError(
                f"{self.site}: it leads to {place!r}; redirects are not followed, so give that address if it is right",
                reply.status,
            )
        value = _object_in(reply)
        if not 200 <= reply.status < 300:
            raise self._refusal(reply, value)
        if value is None:
            raise self.no_arena()
        return value

    def _refusal(self, reply: Reply, value: Mapping[str, Any] | None) -> SiteError | SiteAwayError:
        """Return the error for a response that is a refusal: with the site's own sentence if there is one."""
        said = value.get("error") if value is not None else None
        is_ours = isinstance(said, str) and bool(said)
        sentence = visible_sentence(said) if isinstance(said, str) and said else f"it answers with {reply.status}"
        if reply.status >= 500 or reply.status == TOO_OFTEN:
            return SiteAwayError(f"{self.site}: {sentence}", _retry_after(reply))
        if not is_ours and reply.status != UNAUTHORIZED:
            return self.no_arena()
        return SiteError(f"{self.site}: {sentence}", reply.status)


def _target(path: str, query: Mapping[str, str | int] | None = None) -> str:
    return quote(path, safe="/%") + (f"?{urlencode(query)}" if query else "")


def _object_in(reply: Reply) -> dict[str, Any] | None:
    """Return the JSON object of a reply; None if it has none."""
    if not reply.headers.get("content-type", "").lower().startswith(JSON):
        return None
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _retry_after(reply: Reply) -> int | None:
    text = reply.headers.get("retry-after", "")
    return min(int(text), MAX_RETRY_SECONDS) if text.isascii() and text.isdigit() and len(text) <= 9 else None
