"""Logs every request in a line."""

from __future__ import annotations

import logging

from arena.base.programs.log_lines import FIELDS
from arena.server.http.observation import Answered

_log = logging.getLogger("arena.requests")


def log_request(answered: Answered) -> None:
    """Write the line of a request."""
    milliseconds = round(1000 * answered.seconds, 1)
    fields = {
        "method": answered.method,
        "route": answered.route,
        "status": answered.status,
        "milliseconds": milliseconds,
        "person": answered.actor,
    }
    person = "" if answered.actor is None else f" person {answered.actor}"
    line = f"{answered.method} {answered.route} {answered.status} {milliseconds} ms{person}"
    _log.info("%s", line, extra={FIELDS: fields})


def let_requests_be_logged() -> None:
    """Let lines of requests through, whatever the level of other messages is."""
    _log.setLevel(logging.INFO)
