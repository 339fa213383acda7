"""A small client of the site for many connections: requests at a steady rate, and readers of events."""

import asyncio
import json
import time
from dataclasses import dataclass, field

HEADERS = "Host: {host}\r\nAccept-Encoding: gzip\r\nUser-Agent: benchmark\r\n"


@dataclass
class Answer:
    """What came back.

    Attributes:
        status: the status code; 0 if there was none.
        seconds: from the time it should have been asked to the last byte.
        size_bytes: of the body as it was sent.
    """

    status: int
    seconds: float
    size_bytes: int = 0


@dataclass
class Reader:
    """A reader of events.

    Attributes:
        arrivals: when each event came, on the monotonic clock.
    """

    arrivals: list[float] = field(default_factory=list)


async def ask(host, port, path, asked_at=None):
    """Ask for a page on a connection of its own."""
    asked_at = asked_at or time.monotonic()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nConnection: close\r\n{HEADERS.format(host=f'{host}:{port}')}\r\n".encode()
        )
        data = await reader.read(-1)
        writer.close()
    except OSError:
        return Answer(0, time.monotonic() - asked_at)
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head else 0
    return Answer(status, time.monotonic() - asked_at, len(body))


async def ask_json(host, port, path, token=None, body=None, fields=None):
    """Ask for JSON on a connection of its own, or send a file or fields; return the status and what the JSON says."""
    kind = "application/octet-stream" if fields is None else "application/json"
    body = body if fields is None else json.dumps(fields).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
    head += "Accept: application/json\r\nUser-Agent: benchmark\r\n"
    if token is not None:
        head += f"Authorization: Bearer {token}\r\n"
    if body is not None:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(head.encode() + b"\r\n" + (body or b""))
    data = await reader.read(-1)
    writer.close()
    head, _, content = data.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), json.loads(content) if content else {}


async def ask_at_a_rate(host, port, paths, per_second, seconds):
    """Ask for pages in turn, whether or not earlier ones have been answered; return the answers."""
    begun, tasks = time.monotonic(), []
    for number in range(int(per_second * seconds)):
        due = begun + number / per_second
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(ask(host, port, paths[number % len(paths)], due)))
    return await asyncio.gather(*tasks)


async def read_events(host, port, topics, into, stop):
    """Read events until ``stop`` is set; note when each came."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET /events?topics={topics} HTTP/1.1\r\n{HEADERS.format(host=f'{host}:{port}')}\r\n".encode())
    reading = asyncio.create_task(_note_events(reader, into))
    await stop.wait()
    reading.cancel()
    writer.close()


async def _note_events(reader, into):
    """Note when events came; whole pieces are searched, for a thousand readers must not take a core of their own."""
    rest = b"\n"
    while piece := await reader.read(65_536):
        piece = rest + piece
        into.arrivals += [time.monotonic()] * piece.count(b"\ndata:")
        rest = piece[-5:] if not piece.endswith(b"\ndata:") else b""


def ms(seconds):
    """Return a time as text."""
    return f"{1000 * seconds:.1f} ms"


def percentile(values, share):
    """Return the value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
