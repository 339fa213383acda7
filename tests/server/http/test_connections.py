import asyncio
import contextlib

import pytest

from arena.server.http import connections
from arena.server.http.connections import (
    HEAD_SECONDS,
    MAX_HEAD_BYTES,
    MAX_WAITING_REQUESTS,
    UNREAD_SECONDS,
    Connections,
)
from tests.server.http.streams import listening
from tests.store.people.conftest import FakeClock

PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG_BYTES = 32 * 1024 * 1024
WHOLE = b"x" * LONG_BYTES


async def app(scope, _, send):
    length = LONG_BYTES if scope["path"] != "/" else 5
    headers = [(b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["path"] == "/whole":
        await send({"type": "http.response.body", "body": WHOLE})
        return
    for _ in range(length // 2**16):
        await send({"type": "http.response.body", "body": b"x" * 2**16, "more_body": True})
    await send({"type": "http.response.body", "body": b"x" * (length % 2**16)})


class Served:
    def __init__(self, most):
        self.clock = FakeClock(0.0)
        self.connections = Connections(most, self.clock)
        self.writers = []

    async def start(self):
        self.server, self.port = await listening(app, self.connections)

    async def open(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        address = writer.get_extra_info("sockname")
        while all(one.client != address for one in self.connections._all):
            await asyncio.sleep(0)
        return reader, writer


@contextlib.asynccontextmanager
async def served(most=100):
    server = Served(most)
    await server.start()
    try:
        yield server
    finally:
        server.server.close()
        for connection in list(server.connections._all):
            connection.transport.abort()
        for writer in server.writers:
            writer.transport.abort()
        while len(server.connections):
            await asyncio.sleep(0)
        for writer in server.writers:
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def is_answered(reader, writer):
    writer.write(PAGE)
    return (await reader.readuntil(b"xxxxx")).startswith(b"HTTP/1.1 200")


async def ends(reader):
    with contextlib.suppress(ConnectionResetError):
        return await reader.read() == b""
    return True


async def test_a_request_that_does_not_come_is_not_waited_for():
    async with served() as server:
        silent, slow, good = [await server.open() for _ in range(3)]
        slow[1].write(PAGE[:10])
        assert await is_answered(*good)
        server.clock.seconds = HEAD_SECONDS - 1
        assert await is_answered(*good)
        server.clock.seconds = HEAD_SECONDS + 1
        server.connections.end_overdue()
        assert await ends(silent[0])
        assert await ends(slow[0])
        assert await is_answered(*good)


async def test_a_head_without_end_is_cut_off():
    async with served() as server:
        reader, writer = await server.open()
        writer.write(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            for number in range(MAX_HEAD_BYTES // 1000 + 5):
                writer.write(f"X-{number}: {'x' * 1000}\r\n".encode())
                await writer.drain()
        assert await ends(reader)


async def test_a_reader_that_never_reads_is_not_waited_for():
    async with served() as server:
        idle, good = await server.open(), await server.open()
        idle[1].transport.pause_reading()
        idle[1].write(b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while not (stuck := [one for one in server.connections._all if one.transport.get_write_buffer_size()]):
            await asyncio.sleep(0)
        server.connections.end_overdue()
        assert await is_answered(*good)
        size = -1
        while size != (size := stuck[0].transport.get_write_buffer_size()):  # the system's buffers fill
            await asyncio.sleep(0.05)
        server.connections.end_overdue()
        server.clock.seconds = UNREAD_SECONDS + 1
        server.connections.end_overdue()
        while len(server.connections) > 1:
            await asyncio.sleep(0)


async def test_what_waits_for_its_readers_is_bounded_together(monkeypatch):
    monkeypatch.setattr(connections, "MAX_UNREAD_BYTES", 3 * LONG_BYTES)
    async with served() as server:
        readers = [await server.open() for _ in range(5)]
        for _, writer in readers:
            writer.transport.pause_reading()
            writer.write(PAGE.replace(b"/ ", b"/whole "))
        while len(server.connections) > 3:
            await asyncio.sleep(0)
        assert await is_answered(*await server.open())
        sizes = [one.transport.get_write_buffer_size() for one in server.connections._all]
        assert 0 < sum(sizes) <= 3 * LONG_BYTES


async def test_requests_before_the_first_is_answered_are_bounded():
    async with served() as server:
        reader, writer = await server.open()
        good = await server.open()
        writer.write(PAGE * MAX_WAITING_REQUESTS)
        assert (await reader.readuntil(b"xxxxx")).startswith(b"HTTP/1.1 200")
        for _ in range(MAX_WAITING_REQUESTS - 1):
            await reader.readuntil(b"xxxxx")
        writer.write(PAGE * 5000)
        assert await ends(reader)
        assert await is_answered(*good)


async def test_for_one_more_than_there_may_be_the_oldest_that_waits_is_ended():
    async with served(most=3) as server:
        first, second, third = [await server.open() for _ in range(3)]
        assert await is_answered(*first)
        newest = await server.open()
        assert await ends(second[0])
        assert await is_answered(*newest)
        assert await is_answered(*first)
        assert await is_answered(*third)


async def test_a_long_body_that_nobody_wants_is_cut_off():
    async with served() as server:
        reader, writer = await server.open()
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                writer.write(b"x" * 10_000)
                await writer.drain()
            pytest.fail("all was taken")
        assert await ends(reader) or True


def test_the_limit_of_descriptors_leaves_some_for_the_store(monkeypatch):
    limits = [100, 1000]
    monkeypatch.setattr(connections.resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(connections.resource, "setrlimit", lambda _, values: limits.__setitem__(slice(None), values))
    assert connections.raise_descriptor_limit() == 1000 - connections.RESERVED_DESCRIPTORS
    assert limits == [1000, 1000]
