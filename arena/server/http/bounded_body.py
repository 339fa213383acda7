"""The body of a request, bounded while it is read."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from arena.server.http.problems import Problem, ProblemError


async def read_body(request: Request, what: str, max_bytes: int, seconds: float) -> bytes:
    """Return the body of a request.

    Args:
        request: the request.
        what: the beginning of a sentence about it, such as "A report".
        max_bytes: that it may have.
        seconds: within which it has to come.

    Raises:
        ProblemError: if it is too long or too slow.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > max_bytes:
                    raise not_taken(413, f"{what} has at most {max_bytes} bytes.")
    except TimeoutError:
        raise not_taken(408, f"{what} comes within {seconds:g} s.") from None
    return bytes(body)


def content_type_of(request: Request) -> str:
    """Return the type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def not_taken(status: int, sentence: str) -> ProblemError:
    """Return the error for a body that is not taken."""
    return ProblemError(Problem(status=status, title="Not taken", error=sentence))
