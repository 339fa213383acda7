import asyncio
import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.server.http import events as events_module
from arena.server.http import hub as hub_module
from arena.server.http.app import Site
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.connections import Connections
from arena.server.http.events import Events
from arena.server.http.opened_home import OpenedHome
from arena.server.http.page_cache import PageCache
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.tournament_model import TournamentParameters
from tests.server.conftest import FakeVersions
from tests.server.http.streams import listening, parsed
from tests.store.results.samples import definition, line, record

SECONDS = 60


class Stream:
    def __init__(self, reader, writer):
        self.reader, self.writer, self.text, self.id = reader, writer, b"", ""

    async def head(self):
        return (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), SECONDS)).decode()

    async def next(self, count=1):
        while True:
            whole, end, rest = self.text.rpartition(b"\n\n")
            found, self.id = parsed(whole + end) if end else ([], self.id)
            if len(found) >= count:
                self.text = rest
                return found
            await self._read()

    async def _read(self):
        size = int(await asyncio.wait_for(self.reader.readline(), SECONDS), 16)
        self.text += (await self.reader.readexactly(size + 2))[:-2]
        return size

    async def last(self):
        while await self._read():
            pass

    async def close(self):
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


class Served:
    async def start(self, directory, url=None):
        self.home = OpenedHome(directory, url)
        self.events = Events(self.home)
        self.site = Site(self.home, versions=self.events.watcher, events=self.events)
        self.server, self.port = await listening(self.site, Connections(1000))
        await self.site.start()

    async def read(self, address, local="127.0.0.1", **headers):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(local, 0))
        given = (f"{name.replace('_', '-')}: {value}" for name, value in headers.items())
        lines = [f"GET {address} HTTP/1.1", "Host: localhost", *given]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        return Stream(reader, writer)

    async def stream(self, topics, local="127.0.0.1", **headers):
        stream = await self.read(f"/events?topics={topics}", local, **headers)
        assert "200 OK" in await stream.head()
        return stream

    async def close(self):
        await self.site.close()
        self.server.close()
        self.home.close()


@pytest.fixture
def tournament(home):
    return home.store.create_tournament(definition(name="t"), [line(match) for match in range(1, 21)])


@pytest.fixture
async def served(home, tournament):
    served = Served()
    await served.start(home.directory)
    yield served
    await served.close()


async def test_what_is_committed_is_sent(home, tournament, served):
    stream = await served.read("/events?topics=tournaments/t")
    head = await stream.head()
    assert "content-type: text/event-stream; charset=utf-8\r\n" in head
    assert "cache-control: no-store\r\n" in head
    assert "content-length" not in head
    home.store.record(tournament, [record(1), record(2)])
    (event,) = await stream.next()
    assert (event.kind, event.data["topic"], event.data["seq"]) == ("results", "tournaments/t", 2)
    assert (event.data["matches"], event.data["match_count"]) == ([1, 2], 2)
    await stream.close()


async def test_a_reader_resumes_where_it_was(home, tournament, served):
    stream = await served.stream("arena,tournaments/t")
    home.store.record(tournament, [record(1)])
    first = await stream.next(2)
    await stream.close()
    for match in (2, 3, 4):
        home.store.record(tournament, [record(match)])
    stream = await served.stream("arena,tournaments/t", last_event_id=first[-1].id)
    assert [event.data["seq"] for event in await stream.next(3) if event.kind == "results"] == [3, 4, 5]
    await stream.close()
    later = first[-1].id.replace("1.2", "1.4")
    stream = await served.stream(f"tournaments/t&cursor={first[-1].id}", last_event_id=later)
    assert [event.data["seq"] for event in await stream.next()] == [5], "the later one of the two"
    await stream.close()


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("", 400, "no topics: expected arena, tournaments/NAME, tournaments/NAME/matches/NUMBER, bots/NAME"),
        ("?topics=" + ",".join(["arena"] * 21), 400, "expected at most 20"),
        ("?topics=tournaments/s", 404, "unknown tournament 's'"),
        ("?topics=arena&cursor=1", 400, "cursor '1': expected the id of an event as it was sent"),
        ("?topics=" + "x" * 5000, 400, "topic 'xxx"),
    ],
)
async def test_what_can_not_be_sent_is_said_in_a_sentence(served, query, status, message):
    stream = await served.read(f"/events{query}", accept="application/json")
    head = await stream.head()
    assert f" {status} " in head.splitlines()[0]
    length = int(head.lower().partition("content-length: ")[2].split("\r\n")[0])
    assert message in json.loads(await stream.reader.readexactly(length))["error"]
    await stream.close()


async def test_a_watched_match_is_asked_for_as_long_as_it_is_watched(home, tournament, served, monkeypatch):
    monkeypatch.setattr(events_module, "RENEW_SECONDS", 0.05)
    state = home.store.live_state(tournament)
    stream = await served.stream("tournaments/t/matches/3")
    await until(lambda: state.watched() == {3})
    await stream.close()
    home.store.record(tournament, [record(3)])
    recorded = await served.stream("tournaments/t/matches/3")
    await until(lambda: not served.events._hub.watched.places)
    await recorded.close()


async def test_one_address_can_not_take_all_streams_and_readers_that_have_gone_are_forgotten(served, monkeypatch):
    monkeypatch.setattr(hub_module, "MAX_READERS", 3)
    streams = [await served.stream("arena") for _ in range(3)]
    other = await served.stream("arena", local="127.0.0.2")
    await streams[2].last()  # the newest of who has most
    refused = await served.read("/events?topics=arena")
    assert " 503 " in (await refused.head()).splitlines()[0]
    for stream in (*streams, other, refused):
        await stream.close()
    await until(lambda: served.events._hub.readers == 0)


async def test_head_is_answered_without_a_stream(served):
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(b"HEAD /events?topics=arena HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), SECONDS)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")
    writer.close()


async def until(is_so):
    async with asyncio.timeout(SECONDS):
        while not is_so():
            await asyncio.sleep(0.01)


PAGE, PARAMETERS = PAGE_BY_NAME["tournament"], TournamentParameters(tournament="t")
ACTIONS = ("event", "run", "ask", "built", "restart", "wait")


class SlowBuilder:
    """Builds from what there was when it began, and is ready when the test says so; keeps the last value."""

    def __init__(self, versions):
        self.versions, self.kept, self.ready = versions, None, asyncio.Event()

    def is_busy(self, _):
        return False

    async def build(self, page, parameters, is_first):
        seen = shown(self.versions)
        await self.ready.wait()
        return BuiltValue(seen, 5.0)

    async def earlier(self, page, parameters, has_all_words):
        return self.kept

    async def keep(self, page, parameters, version, value, has_all_words):
        self.kept = (version, value)


def shown(versions):
    return f"{versions.version}, {versions.progress or 'not played'}".encode()


class ServedSite:
    def __init__(self):
        self.now, self.changes = 100.0, 1
        self.versions = FakeVersions()
        self.builder = SlowBuilder(self.versions)
        self.start()

    def start(self):
        self.cache = PageCache(self.builder, self.versions, lambda: self.now)

    async def act(self, action):
        self.changes += 1
        match action:
            case "event":
                self.versions.version = str(self.changes)
            case "run":  # it begins, or it ends
                self.versions.progress = "" if self.versions.progress else f"since {self.changes}"
            case "ask":
                await self.ask()
            case "built":
                self.builder.ready.set()
                for _ in range(10):
                    await asyncio.sleep(0)
                self.builder.ready.clear()
            case "restart":
                await self.cache.close()
                self.start()
            case "wait":
                self.now += 20.0

    async def ask(self):
        found = await self.cache.find(PAGE, PARAMETERS, 0.0)
        assert not found.is_current or found.value.json == shown(self.versions)
        await asyncio.sleep(0)  # the build begins, and reads: not after a run that begins and ends meanwhile
        return found

    async def settle(self):
        for _ in range(5):
            found = await self.ask()
            if found.is_current:
                return
            await self.act("built")
            self.now += found.ready_seconds
        raise AssertionError("it is behind for ever")


@given(st.lists(st.sampled_from(ACTIONS), max_size=30))
@example(["run", "ask", "built", "run", "restart", "ask"])
@example(["ask", "run", "built", "run", "ask"])
def test_a_page_is_as_new_as_what_was_seen_or_says_that_it_is_late(actions):
    async def follow():
        site = ServedSite()
        for action in actions:
            await site.act(action)
        await site.settle()
        await site.cache.close()

    asyncio.run(follow())
