"""Runs the site: listens, answers until a signal comes, and ends at once."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from arena.base.errors import UsageError
from arena.base.programs.service_program import come_first
from arena.base.programs.systemd import notify, watchdog_seconds
from arena.server.http.addresses import as_accepted
from arena.server.http.app import Site
from arena.server.http.connections import Connection, Connections, raise_descriptor_limit

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 5
GRACE_SECONDS = 1
"""For responses that are being sent when the server ends; streams are ended before."""
HANDOVER_SECONDS = 1.0
"""How long the server still answers requests on connections that it has accepted before the handover."""
HANDOVER_GRACE_SECONDS = 10

SWITCH_SECONDS = 0.0005
"""How long a computing thread may delay the loop each time that the loop has waited or sent. With Python's 0.005 s, a
page that is being rendered delays every request meanwhile several times.
"""

DATE_SECONDS = 1.0
"""Between two updates of the date in responses."""

OBJECTS_PER_COLLECTION = 2_000
"""Nothing is answered while garbage is collected: a tenth of a second of CPU time after 50,000 objects of pages, a
hundredth after these, with as much in all.
"""

_M_ARENA_MAX = -8

LOW_PORTS = 1024
MAX_BESIDE = 20
"""Connections to the second address."""

_log = logging.getLogger("uvicorn.error")


def listen(host: str, port: int, host_option: str = "--host", port_option: str = "--port") -> socket.socket:
    """Return a socket that listens; port 0 takes any. Raise UsageError with the names of the options if it can't."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{host_option} {host!r}: this is no name or address of this machine") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(_bind_failure(f"{host_option} {host!r}", f"{port_option} {port}", port, error)) from error
    listening.setblocking(False)
    return listening


def _bind_failure(host: str, port_text: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{port_text}: another program listens on it; expected a free one, such as {port % 65535 + 1}"
    if error.errno == errno.EACCES:
        return f"{port_text}: only root may listen on it; expected one of at least {LOW_PORTS}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host}: this is no address of this machine"
    return f"{host}, {port_text}: {os.strerror(error.errno or 0)}"


class _Server(uvicorn.Server):
    """A server that ends its streams first, and handles signals in the loop."""

    def __init__(
        self,
        config: uvicorn.Config,
        when_ready: Callable[[], None],
        end_streams: Callable[[], None],
        handed_over: Connections | None,
    ) -> None:
        """Prepare; ``handed_over`` are the connections, if another server will listen on the same socket."""
        super().__init__(config)
        self._when_ready, self._end_streams, self._handed_over = when_ready, end_streams, handed_over
        self._is_to_end = asyncio.Event()
        self.is_interrupted = False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        caught = (signal.SIGINT, signal.SIGTERM)
        for number in caught:
            loop.add_signal_handler(number, self._end, number)
        try:
            yield
        finally:
            for number in caught:
                loop.remove_signal_handler(number)

    def _end(self, number: signal.Signals) -> None:
        self.is_interrupted = self.is_interrupted or number == signal.SIGINT
        _log.setLevel(logging.CRITICAL)  # silences uvicorn's error about ending slow responses
        self.force_exit = self.should_exit
        self.should_exit = True
        self._is_to_end.set()
        notify("STOPPING=1")

    async def main_loop(self) -> None:
        """Answer until the server is to end, without waking ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_to_end.wait(), DATE_SECONDS)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._when_ready()
        notify("READY=1")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        if self._handed_over is not None:
            await self._answer_accepted(self._handed_over)
        await super().shutdown(sockets)

    async def _answer_accepted(self, connections: Connections) -> None:
        """Leave new connections to the next server, and answer requests on those already accepted."""
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listening in server.sockets:
                loop.remove_reader(listening.fileno())
        connections.end_after_response()
        deadline = time.monotonic() + HANDOVER_SECONDS
        await asyncio.sleep(HANDOVER_SECONDS / 20)  # until connections just accepted are registered
        for server in self.servers:
            server.close()  # this drops sockets that are accepted but not registered
        while len(connections) and time.monotonic() < deadline and not self.force_exit:
            await asyncio.sleep(HANDOVER_SECONDS / 100)


class _SecondServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the main server."""
        yield


@dataclass(frozen=True, slots=True)
class Beside:
    """An application at an address of its own."""

    app: ASGIApp
    listening: socket.socket


def serve(
    site: Site,
    listening: socket.socket,
    when_ready: Callable[[], None],
    proxies: Sequence[str] = (),
    beside: Beside | None = None,
    *,
    is_inherited: bool = False,
) -> bool:
    """Answer requests until SIGTERM or Ctrl-C, and return whether it was Ctrl-C.

    Args:
        proxies: addresses whose headers about the real client are believed.
        beside: another application, at another address.
        is_inherited: whether the socket stays open for the next server; then every request that has come is answered.
    """
    _log.setLevel(logging.ERROR)  # "Invalid HTTP request received."
    sys.setswitchinterval(SWITCH_SECONDS)
    use_one_heap()
    gc.freeze()  # what was made until now stays, and no request waits while it is searched for garbage
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    return asyncio.run(_serve(site, listening, when_ready, proxies, beside, is_inherited))


def use_one_heap() -> None:
    """Have all threads take memory from one heap: pages that are rendered leave holes in that of each thread."""
    with contextlib.suppress(AttributeError):  # only glibc has heaps for threads
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


async def _serve(
    site: Site,
    listening: socket.socket,
    when_ready: Callable[[], None],
    proxies: Sequence[str],
    beside: Beside | None,
    is_inherited: bool,
) -> bool:
    come_first(os.getpid())
    connections = Connections(raise_descriptor_limit())
    config = _config(
        site,
        http=cast(Any, partial(Connection, connections_of_server=connections)),
        proxy_headers=bool(proxies),
        forwarded_allow_ips=as_accepted(proxies),
        backlog=BACKLOG,
        timeout_graceful_shutdown=HANDOVER_GRACE_SECONDS if is_inherited else GRACE_SECONDS,
    )
    server = _Server(config, when_ready, site.end_streams, connections if is_inherited else None)
    watching = asyncio.create_task(connections.watch())
    watched = asyncio.create_task(_answer_watchdog())
    try:
        await site.start()
        async with _served_beside(beside):
            await server.serve([listening])
    finally:
        watching.cancel()
        watched.cancel()
        await site.close()
    return server.is_interrupted


def _config(app: ASGIApp, **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        **options,
    )


async def _answer_watchdog() -> None:
    seconds = watchdog_seconds()
    while seconds is not None:
        notify("WATCHDOG=1")
        await asyncio.sleep(seconds / 2)


@contextlib.asynccontextmanager
async def _served_beside(beside: Beside | None) -> AsyncIterator[None]:
    if beside is None:
        yield
        return
    config = _config(
        beside.app, proxy_headers=False, limit_concurrency=MAX_BESIDE, timeout_graceful_shutdown=GRACE_SECONDS
    )
    server = _SecondServer(config)
    serving = asyncio.create_task(server.serve([beside.listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
