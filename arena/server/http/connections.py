"""Connections: the server ends those that send no request or read no response.

uvicorn bounds neither the time and size of a request's head, nor how many requests come before the first is answered,
nor how long and how much a response waits for its reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""From the connection, or the response before, to the end of the head of a request."""

UNREAD_SECONDS = 20.0
"""How long a client may take no byte of a response."""

MAX_UNREAD_BYTES = 128 * 2**20
"""Of responses that clients have not taken, on all connections together."""

MAX_WAITING_REQUESTS = 32
"""On a connection, behind the one that is being answered; browsers send none."""

SWEEP_SECONDS = 2.0
MAX_HEAD_BYTES = 32 * 1024
RESERVED_DESCRIPTORS = 256
WANTED_DESCRIPTORS = 65_536


class Connections:
    """All connections of a server."""

    def __init__(self, most: int, now: Callable[[], float] = lambda: time.monotonic()) -> None:
        """Begin with none; beyond ``most``, a new connection ends the one that waits longest for a request."""
        self._most, self.now = most, now
        self._all: set[Connection] = set()
        self._waiting_since: dict[Connection, float] = {}
        """The oldest first."""
        self._unread: dict[Connection, int] = {}
        """The bytes that were not taken at the last look, the oldest look first."""
        self._unread_bytes = 0
        self.is_ending = False

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection) -> None:
        """Add a new connection."""
        self._all.add(connection)
        if len(self._all) > self._most:
            next(iter(self._waiting_since), connection).transport.abort()

    def end_after_response(self) -> None:
        """Close each connection after its present or next response."""
        self.is_ending = True
        for connection in self._all:
            connection.end_after_response()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self._all.discard(connection)
        self._waiting_since.pop(connection, None)
        self._set_unread(connection, 0)

    def wait(self, connection: Connection) -> None:
        """Note that a connection waits for the head of a request from now on."""
        self._waiting_since.pop(connection, None)
        self._waiting_since[connection] = self.now()

    def is_waiting(self, connection: Connection) -> bool:
        """Return whether a connection waits for the head of a request."""
        return connection in self._waiting_since

    def answer(self, connection: Connection) -> None:
        """Note that a connection has a request that is being answered."""
        self._waiting_since.pop(connection, None)

    def written(self, connection: Connection) -> None:
        """Note that a response was written; beyond a bound of unread bytes, end the connections that wait longest."""
        self._set_unread(connection, connection.transport.get_write_buffer_size())
        if self._unread_bytes <= MAX_UNREAD_BYTES:
            return
        for waiting in list(self._unread):
            self._set_unread(waiting, waiting.transport.get_write_buffer_size())
        for waiting in list(self._unread):
            if self._unread_bytes <= MAX_UNREAD_BYTES // 2:
                break
            self._set_unread(waiting, 0)
            waiting.transport.abort()

    def _set_unread(self, connection: Connection, unread_bytes: int) -> None:
        self._unread_bytes += unread_bytes - self._unread.get(connection, 0)
        if unread_bytes:
            self._unread[connection] = unread_bytes
        else:
            self._unread.pop(connection, None)

    def end_overdue(self) -> None:
        """End the connections whose clients are too slow."""
        now = self.now()
        for connection in [candidate for candidate in self._all if candidate.is_unread(now)]:
            connection.transport.abort()
        for connection in [candidate for candidate, since in self._waiting_since.items() if now - since > HEAD_SECONDS]:
            if connection.transport.get_write_buffer_size() == 0:
                connection.transport.abort()

    async def watch(self) -> None:
        """End overdue connections at intervals, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.end_overdue()


class Connection(HttpToolsProtocol):
    """A connection that is watched."""

    def __init__(self, *args: Any, connections_of_server: Connections, **values: Any) -> None:
        super().__init__(*args, **values)
        self._connections = connections_of_server
        self._head_bytes = 0
        self._unread_bytes = 0
        self._read_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._connections.remove(self)

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, unless the head of the request is too long."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._connections.is_waiting(self) and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        if not self._connections.is_waiting(self):
            self._wait()

    def on_headers_complete(self) -> None:
        """Answer a request, unless too many wait already."""
        if len(self.pipeline) >= MAX_WAITING_REQUESTS:
            self.transport.abort()
            raise ConnectionAbortedError("too many requests before a response")  # ends the parsing of what has arrived
        self._connections.answer(self)
        super().on_headers_complete()
        if self._connections.is_ending:
            self.end_after_response()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._connections.written(self)
        if not self.pipeline and not self.transport.is_closing():
            self._wait()

    def end_after_response(self) -> None:
        """Close the connection after the response that is being made."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def _wait(self) -> None:
        self._head_bytes = 0
        self._connections.wait(self)

    def is_unread(self, now: float) -> bool:
        """Return whether its client has taken no byte of a response for too long."""
        unread_bytes = self.transport.get_write_buffer_size()
        if unread_bytes == 0 or unread_bytes != self._unread_bytes:
            self._unread_bytes, self._read_at = unread_bytes, now
        return now - self._read_at > UNREAD_SECONDS


def raise_descriptor_limit() -> int:
    """Raise the limit of open files to the most that the system allows; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    available = WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(64, available - RESERVED_DESCRIPTORS)
