"""Reports of browsers that something on a page was not allowed to run: counted, and a few of them logged."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from arena.analysis.text.tables import printable
from arena.server.http.bounded_body import content_type_of, not_taken, read_body

MAX_REPORT_BYTES = 8 * 1024
MAX_LOGGED_PER_MINUTE = 10
MAX_LOGGED_CHARACTERS = 500
BODY_SECONDS = 5.0

CONTENT_TYPES = ("application/csp-report", "application/reports+json", "application/json")

_log = logging.getLogger("arena.server.http")


class CspReports:
    """The reports since the server started.

    Attributes:
        count: how many there were.
    """

    def __init__(self, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        self.count = 0
        self._now = now
        self._minute_began = now()
        self._logged = 0

    async def receive(self, request: Request) -> Response:
        """Take a report.

        Raises:
            ProblemError: if it is too long, or not a report.
        """
        if content_type_of(request) not in CONTENT_TYPES:
            raise not_taken(415, f"Expected one of the types {', '.join(CONTENT_TYPES)}.")
        self._take(await read_body(request, "A report", MAX_REPORT_BYTES, BODY_SECONDS))
        return Response(status_code=204)

    def _take(self, body: bytes) -> None:
        self.count += 1
        if self._now() - self._minute_began >= 60.0:
            self._minute_began, self._logged = self._now(), 0
        self._logged += 1
        if self._logged <= MAX_LOGGED_PER_MINUTE:
            text = printable(body.decode("utf-8", "replace")[:MAX_LOGGED_CHARACTERS])
            _log.warning("a browser reports a violation of the content security policy: %s", text)
