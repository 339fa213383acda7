"""What is sent with a request, bounded while it is read: fields of a form, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from arena.server.http.bounded_body import content_type_of, not_taken, read_body

MAX_BODY_BYTES = 16 * 1024
MAX_FIELDS = 50
BODY_SECONDS = 10.0

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


async def fields_of(request: Request, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return what is sent with a request, by name; a field that is sent more than once is a list.

    Args:
        request: the request.
        max_bytes: that its body may have.

    Raises:
        ProblemError: if it is too long, too slow, or neither a form nor JSON.
    """
    content_type = content_type_of(request)
    body = await read_body(request, "What is sent here", max_bytes, BODY_SECONDS)
    if not body:
        return {}
    if content_type == FORM:
        return _of_form(body)
    if content_type == JSON:
        return _of_json(body)
    raise not_taken(415, f"Expected one of the types {FORM}, {JSON}.")


def _of_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise not_taken(400, "The fields that were sent can't be read.") from None
    return by_name(pairs)


def by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return fields by name; one that is sent more than once is a list."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        known = fields.get(name)
        if known is None:
            fields[name] = value
        else:
            fields[name] = [*(known if isinstance(known, list) else [known]), value]
    return fields


def _of_json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise not_taken(400, "What was sent is not JSON.") from None
    if not isinstance(value, dict):
        raise not_taken(400, "What was sent is JSON, but no object.")
    return value
