"""The headers of every response: browsers run nothing but our own files, and tell us when something else tried."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}; report-uri /csp-reports; report-to csp"
)

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer, forms of ours would be sent with "Origin: null"
    (b"reporting-endpoints", b'csp="/csp-reports"'),
]

CLOSED = [*_HEADERS, (b"content-security-policy", _POLICY.format(ancestors="'none'").encode())]
EMBEDDABLE = [*_HEADERS, (b"content-security-policy", _POLICY.format(ancestors="*").encode())]

IS_EMBEDDABLE = "arena.is_embeddable"
"""In the scope of a request: whether other sites may show the response in a frame."""


def with_security_headers(app: ASGIApp) -> ASGIApp:
    """Return an application that adds the headers to every response."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = EMBEDDABLE if scope.get(IS_EMBEDDABLE) else CLOSED
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await app(scope, receive, send_with_headers)

    return guarded
