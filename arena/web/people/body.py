"""What is sent with a request, bounded while it is read: fields of a form, or JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from arena.web.problems import Problem, ProblemError

MAX_BODY_BYTES = 16 * 1024
MAX_FIELDS = 50
BODY_SECONDS = 10.0

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


async def fields_of(request: Request) -> dict[str, Any]:
    """Return what is sent with a request, by name; a field that is sent more than once is a list.

    Raises:
        ProblemError: if it is too long, too slow, or neither a form nor JSON.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _read(request)
    if not body:
        return {}
    if content_type == FORM:
        return _of_form(body)
    if content_type == JSON:
        return _of_json(body)
    raise _refused(415, f"Expected one of the types {FORM}, {JSON}.")


async def _read(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise _refused(413, f"What is sent here has at most {MAX_BODY_BYTES} bytes.")
    except TimeoutError:
        raise _refused(408, f"What is sent here comes within {BODY_SECONDS:g} s.") from None
    return bytes(body)


def _of_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise _refused(400, "The fields that were sent can't be read.") from None
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
        raise _refused(400, "What was sent is not JSON.") from None
    if not isinstance(value, dict):
        raise _refused(400, "What was sent is JSON, but no object.")
    return value


def _refused(status: int, sentence: str) -> ProblemError:
    return ProblemError(Problem(status=status, title="Not taken", error=sentence))
