"""A request and its reply, both bounded: by size, and by a deadline for all of it, also through a proxy."""

from __future__ import annotations

import http.client
import io
import os
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from arena.base.errors import SiteAwayError, SiteError, UsageError
from arena.base.machine import is_loopback
from arena.base.names import is_printable
from arena.base.text import size_text
from arena.cli.remote.credentials import SiteAddress

# Text from a site, made printable: it may be anything.

MAX_SENTENCE_CHARACTERS = 600


def printable_sentence(text: str) -> str:
    """Return a text as one line of bounded length, with a mark in place of each character that can't be seen.

    >>> printable_sentence("not\\x1b[2J so\\n fast")
    'not�[2J so fast'
    """
    return printable_line(" ".join(text[: 2 * MAX_SENTENCE_CHARACTERS].split()))


def printable_text(text: str) -> str:
    """Return a text as up to 20 lines of bounded length, such as what a compiler says.

    >>> print(printable_text("it failed:\\n    mistake\\x1b[2J\\n\\n"))
    it failed:
        mistake�[2J
    """
    lines = [line for line in text[: 20 * MAX_SENTENCE_CHARACTERS].splitlines() if line.strip()]
    return "\n".join(map(printable_line, lines[:20]))


def printable_line(line: str) -> str:
    """Return a line of several, such as one of a traceback, at bounded length: its spaces stay as they are.

    >>> printable_line("    open()\\x1b[2J")
    '    open()�[2J'
    """
    line = line[: 2 * MAX_SENTENCE_CHARACTERS].expandtabs().rstrip()
    shown = "".join(letter if is_printable(letter) else "\ufffd" for letter in line)
    return shown if len(shown) <= MAX_SENTENCE_CHARACTERS else f"{shown[: MAX_SENTENCE_CHARACTERS - 1]}…"


# The proxy that the environment names: $HTTPS_PROXY, $HTTP_PROXY or $ALL_PROXY, and $NO_PROXY for exceptions.

DEFAULT_PORT = 80
EXPECTED = "expected an address such as http://proxy.example.org:3128"


@dataclass(frozen=True, slots=True)
class Proxy:
    host: str
    port: int
    headers: dict[str, str] = field(default_factory=dict, repr=False)


def proxy_for(site: SiteAddress) -> Proxy | None:
    """Return the proxy for a site; None for this machine, and where the environment names none."""
    if is_loopback(site.host) or proxy_bypass(f"{site.host}:{site.port}"):
        return None
    proxies = getproxies()
    text = proxies.get(site.scheme) or proxies.get("all")
    return _parsed(text, site.scheme) if text else None


def _parsed(text: str, scheme: str) -> Proxy:
    name = f"the proxy in ${scheme.upper()}_PROXY or $ALL_PROXY"
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme != "http" or not host or not host.isprintable() or " " in host:
        raise UsageError(f"{name} can't be used; {EXPECTED}")  # it may hold a password, and is not shown
    headers = {}
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(secret.encode()).decode('ascii')}"
    return Proxy(host, port or DEFAULT_PORT, headers)


# A connection that ends at a deadline, however slowly the other end sends its bytes.


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left_seconds(self) -> float:
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Stream(io.RawIOBase):
    def __init__(self, source: socket.socket, deadline: Deadline) -> None:
        self._source, self._deadline = source, deadline
        self._left_bytes = MAX_STREAM_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        self._source.settimeout(self._deadline.left_seconds())
        count = self._source.recv_into(buffer)
        self._left_bytes -= count
        if self._left_bytes < 0:
            raise http.client.LineTooLong("reply")
        return count


class TimedSocket:
    """The part of a socket that ``http.client`` uses. Whoever opened the socket closes it."""

    def __init__(self, opened: socket.socket, deadline: Deadline) -> None:
        self._opened, self._deadline = opened, deadline

    def makefile(self, *_: object) -> io.BufferedReader:
        return io.BufferedReader(_Stream(self._opened, self._deadline))

    def sendall(self, data: bytes) -> None:
        self._opened.settimeout(self._deadline.left_seconds())
        self._opened.sendall(data)

    def close(self) -> None:
        """Do nothing: a response may still be read."""


# The client follows no redirects, checks certificates, and reports every failure in one sentence that names the site.

MAX_REPLY_BYTES = 4 * 2**20
MAX_STREAM_BYTES = 4 * MAX_REPLY_BYTES
"""With heads and the lengths of chunks; ``http.client`` itself reads a chunk of the length -1 to the end."""

CONNECT_SECONDS = 10.0
REPLY_SECONDS = 30.0
PIECE_SECONDS = 30.0
"""The time for each piece of an upload."""

PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    file: BinaryIO
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(
    site: SiteAddress,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes | Upload | None = None,
    reply_seconds: float = REPLY_SECONDS,
) -> Reply:
    proxy = proxy_for(site)
    is_relayed = proxy is not None and site.scheme == "http"
    own = {"Host": site.netloc, "Accept-Encoding": "identity", "Connection": "close"}
    if proxy is not None and is_relayed:
        own |= proxy.headers
    if isinstance(body, Upload):
        own["Content-Length"] = str(body.size_bytes)
    try:
        with closing(_connection(site, proxy)) as connection:
            connection.connect()
            with connection.sock as opened:
                deadline = Deadline(reply_seconds)
                connection.sock = cast(Any, TimedSocket(opened, deadline))
                data = _pieces(body, deadline) if isinstance(body, Upload) else body
                # if it is refused early, the reply says why
                with suppress(BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
                    connection.request(method, f"{site}{target}" if is_relayed else target, data, {**own, **headers})
                deadline.renew(reply_seconds)
                with closing(connection.getresponse()) as response:
                    return _received(response, site)
    except (OSError, http.client.HTTPException, ValueError) as error:
        through = f" (through the proxy {proxy.host}:{proxy.port})" if proxy is not None else ""
        raise _explained(f"{site}{through}", error) from error


def _pieces(upload: Upload, deadline: Deadline) -> Iterator[bytes]:
    left = upload.size_bytes
    while left:
        piece = upload.file.read(min(PIECE_BYTES, left))
        if not piece:
            raise UsageError("the file became shorter while it was sent; try again")
        deadline.renew(PIECE_SECONDS)
        yield piece
        left -= len(piece)


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
    """A connection, also through a proxy: it has a deadline, and if the proxy refuses, no socket stays open.

    Up to Python 3.11.3, the proxy's response keeps the socket until somebody collects it (python/cpython#103472).
    """

    def _tunnel(self) -> None:
        opened = self.sock
        self.sock = TimedSocket(opened, Deadline(CONNECT_SECONDS))
        try:
            super()._tunnel()  # type: ignore[misc]
        except BaseException:
            with suppress(OSError):
                os.close(opened.detach())
            raise
        opened.settimeout(CONNECT_SECONDS)
        self.sock = opened


def _received(response: http.client.HTTPResponse, site: SiteAddress) -> Reply:
    body = response.read(MAX_REPLY_BYTES + 1)
    if len(body) > MAX_REPLY_BYTES:
        raise SiteError(f"{site}: it answers with more than {size_text(MAX_REPLY_BYTES)}; no arena does")
    if response.length:
        raise http.client.IncompleteRead(body)
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _explained(site: str, error: Exception) -> Exception:
    match error:
        case TimeoutError():
            return SiteAwayError(f"{site}: it does not answer in time")
        case socket.gaierror():
            return SiteAwayError(f"{site}: its host can't be found ({_reason(error)})")
        case ssl.SSLCertVerificationError():
            return SiteError(f"{site}: this machine does not trust its certificate ({error.verify_message})")
        case ConnectionRefusedError():
            return SiteAwayError(f"{site}: nothing answers there (connection refused)")
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError() | ConnectionError() | http.client.IncompleteRead():
            return SiteAwayError(f"{site}: the connection was closed before the answer was complete")
        case ssl.SSLError():
            return SiteError(f"{site}: the encrypted connection failed ({error.reason or _reason(error)})")
        case OSError():
            return SiteAwayError(f"{site}: it can't be reached ({_reason(error)})")
    return SiteError(f"{site}: the program that answers there is no arena: it does not speak HTTP")


def _reason(error: OSError) -> str:
    return printable_sentence(error.strerror or str(error))
