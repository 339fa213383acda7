"""A request and its reply, both bounded: by size, and by a deadline for all of it.

No redirect is followed, certificates are checked, and whatever goes wrong is one sentence that names the site.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from arena.base.errors import SiteAwayError, SiteError, UsageError
from arena.base.text import size_text
from arena.cli.remote.proxy import Proxy, proxy_for
from arena.cli.remote.site_address import SiteAddress
from arena.cli.remote.timed_socket import Deadline, TimedSocket
from arena.cli.remote.visible import visible_sentence

MAX_REPLY_BYTES = 4 * 2**20
CONNECT_SECONDS = 10.0
REPLY_SECONDS = 30.0
PIECE_SECONDS = 30.0
"""For each piece of an upload."""

PIECE_BYTES = 64 * 1024

Progress = Callable[[int], None]
"""Called with the number of bytes that have been sent."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent, piece by piece.

    Attributes:
        file: at its beginning.
        size_bytes: how much of it is sent.
        progress: called after each piece.
    """

    file: BinaryIO
    size_bytes: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        method: such as "GET".
        target: a path with its query.
        headers: by name.
        body: what is sent with it.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | Upload = b""


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered.

    Attributes:
        status: of the response.
        headers: by name.
        body: all of it.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(site: SiteAddress, request: Request, reply_seconds: float = REPLY_SECONDS) -> Reply:
    """Send a request to a site and return the reply.

    Args:
        site: where it is sent.
        request: what is asked.
        reply_seconds: for the reply, all in all, and for a request without an upload.

    Raises:
        SiteAwayError: if the site can't be reached, or is too slow.
        SiteError: if what is there is no site that can be trusted, or answers too much.
        UsageError: if the proxy can't be used, or an upload's file is shorter than it was.
    """
    proxy = proxy_for(site)
    try:
        return _exchange(site, request, proxy, reply_seconds)
    except (OSError, http.client.HTTPException, ValueError) as error:
        through = f" (through the proxy {proxy.host}:{proxy.port})" if proxy is not None else ""
        raise _explained(f"{site}{through}", error) from error


def _exchange(site: SiteAddress, request: Request, proxy: Proxy | None, reply_seconds: float) -> Reply:
    connection = _connection(site, proxy)
    opened: socket.socket | None = None
    try:
        connection.connect()
        opened = connection.sock
        deadline = Deadline(reply_seconds)
        connection.sock = cast(Any, TimedSocket(opened, deadline))
        _send_head(connection, site, request, proxy)
        _send_body(connection, request.body, deadline)
        deadline.renew(reply_seconds)
        with closing(connection.getresponse()) as response:
            return _received(response, site)
    finally:
        connection.close()
        if opened is not None:
            opened.close()


def _connection(site: SiteAddress, proxy: Proxy | None) -> http.client.HTTPConnection:
    host, port = (site.host, site.port) if proxy is None else (proxy.host, proxy.port)
    if site.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
    context = ssl.create_default_context()
    connection = _TunnelledConnection(host, port, timeout=CONNECT_SECONDS, context=context)
    if proxy is not None:
        connection.set_tunnel(site.host, site.port, headers=proxy.headers)
    return connection


class _TunnelledConnection(http.client.HTTPSConnection):
    """A connection, also through a proxy: what a proxy refuses leaves no socket open.

    Up to Python 3.11.3, the proxy's response keeps the socket until somebody collects it (python/cpython#103472).
    """

    def _tunnel(self) -> None:
        opened = self.sock
        try:
            super()._tunnel()  # type: ignore[misc]
        except BaseException:
            with suppress(OSError):
                os.close(opened.detach())
            raise


def _send_head(
    connection: http.client.HTTPConnection, site: SiteAddress, request: Request, proxy: Proxy | None
) -> None:
    is_relayed = proxy is not None and site.scheme == "http"
    target = f"{site}{request.target}" if is_relayed else request.target
    connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
    size = request.body.size_bytes if isinstance(request.body, Upload) else len(request.body)
    headers = {"Host": site.netloc, "Connection": "close", **request.headers}
    if request.method != "GET":
        headers["Content-Length"] = str(size)
    if proxy is not None and is_relayed:
        headers |= proxy.headers
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()


def _send_body(connection: http.client.HTTPConnection, body: bytes | Upload, deadline: Deadline) -> None:
    with suppress(BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):  # refused early: the reply says why
        if isinstance(body, bytes):
            connection.send(body)
            return
        sent = 0
        while sent < body.size_bytes:
            piece = body.file.read(min(PIECE_BYTES, body.size_bytes - sent))
            if not piece:
                raise UsageError("the file became shorter while it was sent; try again")
            deadline.renew(PIECE_SECONDS)
            connection.send(piece)
            sent += len(piece)
            body.progress(sent)


def _received(response: http.client.HTTPResponse, site: SiteAddress) -> Reply:
    body = response.read(MAX_REPLY_BYTES + 1)
    if len(body) > MAX_REPLY_BYTES:
        raise SiteError(f"{site}: it answers with more than {size_text(MAX_REPLY_BYTES)}; no arena does")
    if response.length:
        raise http.client.IncompleteRead(body)
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(response.status, headers, body)


def _explained(site: str, error: Exception) -> Exception:
    """Return the error, as a sentence, for one of the libraries that we use."""
    match error:
        case TimeoutError():
            return SiteAwayError(f"{site}: it does not answer in time")
        case socket.gaierror():
            return SiteAwayError(f"{site}: its host can't be found ({_reason(error)})")
        case ssl.SSLCertVerificationError():
            return SiteError(f"{site}: its certificate is not accepted ({error.verify_message})")
        case ConnectionRefusedError():
            return SiteAwayError(f"{site}: nothing answers there (connection refused)")
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError() | ConnectionError() | http.client.IncompleteRead():
            return SiteAwayError(f"{site}: the connection was closed before the answer was complete")
        case ssl.SSLError():
            return SiteError(f"{site}: no encrypted connection comes about ({error.reason or _reason(error)})")
        case OSError():
            return SiteAwayError(f"{site}: it can't be reached ({_reason(error)})")
    return SiteError(f"{site}: what answers there is no arena: it does not keep to HTTP")


def _reason(error: OSError) -> str:
    return visible_sentence(error.strerror or str(error))
