import asyncio
import contextlib

import anyio
import pytest
from starlette.requests import ClientDisconnect, Request

from arena.base.errors import StoreError, UsageError
from arena.community.submissions.upload_directory import MAX_RECEIVING, RECEIVING_OF_A_PERSON, UploadDirectory
from arena.server.gate import request as upload
from arena.server.gate.homes import HomeBuilders, HomePlace
from arena.server.gate.request import FILE, receive_upload
from arena.server.gate.request import UPLOAD_FORM as FORM
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.page_cache import FAILURE_SECONDS
from arena.server.http.problems import ProblemError
from arena.site.frame.model import Lane
from arena.store.home import DATABASE_FILE
from tests.store.people.conftest import FakeClock


class Public:
    public_place = None


class FakeBuilders(HomeBuilders):
    def __init__(self, now):
        super().__init__(Public(), now)
        self.built, self.seconds, self.error = 0, 0.5, None
        self.may_build = asyncio.Event()
        self.may_build.set()

    async def _value(self, place, page, parameters):
        self.built += 1
        number = self.built
        await self.may_build.wait()
        if self.error is not None:
            raise self.error
        return BuiltValue(b"%d" % number, self.seconds, self.seconds)


class NumberPage:
    name, lane = "number", Lane.RATINGS

    class model:  # noqa: N801 - the field of a page
        model_validate_json = int


class Shown:
    def __init__(self, directory):
        self.directory, self.clock = directory, FakeClock()
        self.builders = FakeBuilders(self.clock)
        self.commit()

    def commit(self):
        path = self.directory / DATABASE_FILE
        path.write_bytes((path.read_bytes() if path.exists() else b"") + b"x")

    async def ask(self):
        return await self.builders.kept(HomePlace(self.directory), NumberPage, "a page", is_program=False)


@pytest.fixture
async def shown(tmp_path):
    shown = Shown(tmp_path)
    yield shown
    await shown.builders.close()


async def test_a_page_is_built_once_until_its_home_has_changed_and_shown_while_the_next_is_built(shown):
    assert [await shown.ask() for _ in range(3)] == [1, 1, 1]
    shown.clock.seconds += 1000.0
    assert await shown.ask() == 1
    shown.commit()
    assert await shown.ask() == 2
    shown.commit()
    shown.clock.seconds += 10.0
    shown.builders.may_build.clear()
    assert await shown.ask() == 2
    shown.builders.may_build.set()
    assert await shown.ask() == 3


async def test_a_page_whose_home_changes_all_the_time_rests(shown):
    """It takes half a second, so it rests for five."""
    numbers = []
    for _ in range(10):
        numbers.append(await shown.ask())
        shown.commit()
        shown.clock.seconds += 1.0
    assert numbers == [1] * 5 + [2] * 5


@pytest.mark.parametrize("error", [StoreError("it is malformed"), ZeroDivisionError()])
async def test_a_page_that_cannot_be_built_is_not_built_at_each_request(shown, error):
    await shown.ask()
    shown.commit()
    shown.clock.seconds += 10.0
    shown.builders.error = error
    assert [await shown.ask() for _ in range(10)] == [None] * 10
    assert shown.builders.built == 2
    shown.clock.seconds += FAILURE_SECONDS
    shown.builders.error = None
    assert await shown.ask() == 3


async def test_the_newest_page_of_an_embargoed_home_is_built_when_that_has_changed_and_does_not_rest(shown):
    place = HomePlace(shown.directory, is_apart=True)
    for number in (1, 2, 3):
        assert [await shown.builders.newest(place, NumberPage, "a page") for _ in range(3)] == [number] * 3
        shown.commit()
    shown.builders.error = StoreError("it is malformed")
    with pytest.raises(StoreError, match="it is malformed"):
        await shown.builders.newest(place, NumberPage, "a page")
    shown.builders.error = None
    assert await shown.builders.newest(place, NumberPage, "a page") == 5
    place = HomePlace(shown.directory, "postgresql://elsewhere")  # the arena's own, whose store may be elsewhere
    assert [await shown.builders.newest(place, NumberPage, "a page") for _ in range(2)] == [6, 7]


TYPES = pytest.mark.parametrize("content_type", [FILE, f"{FORM}; boundary=x"])
HEAD = b'--x\r\nContent-Disposition: form-data; name="file"; filename="bot.py"\r\n\r\n'


@pytest.fixture
def uploads(tmp_path):
    return UploadDirectory(tmp_path / "uploads")


class Sender:
    """Who sends an upload: first what is given, then whatever the test says."""

    def __init__(self, content_type, *pieces):
        self._headers = [(b"content-type", content_type.encode())]
        self._messages = asyncio.Queue()
        for piece in pieces:
            self.send(piece)

    def send(self, piece, is_last=False):
        self._messages.put_nowait({"type": "http.request", "body": piece, "more_body": not is_last})

    def leave(self):
        self._messages.put_nowait({"type": "http.disconnect"})

    async def upload_to(self, uploads, person=1):
        request = Request({"type": "http", "method": "POST", "headers": self._headers}, self._messages.get)
        return await receive_upload(request, uploads, person)


def places_left(uploads, person):
    count = 0
    with contextlib.ExitStack() as stack, contextlib.suppress(UsageError):
        for _ in range(MAX_RECEIVING + 1):
            stack.enter_context(uploads.receive(person))
            count += 1
    return count


@TYPES
async def test_who_sends_next_to_nothing_is_refused_and_keeps_no_place(uploads, monkeypatch, content_type):
    monkeypatch.setattr(upload, "GRACE_SECONDS", 0.1)
    sender = Sender(content_type, HEAD[:1])
    with pytest.raises(ProblemError) as refused:
        await sender.upload_to(uploads)
    assert refused.value.problem.status == 408
    assert refused.value.problem.error == "A file is sent at 8 KiB each second or faster, after 0.1 s."
    assert places_left(uploads, 1) == RECEIVING_OF_A_PERSON


@TYPES
async def test_who_is_fast_enough_is_waited_for(uploads, monkeypatch, content_type):
    monkeypatch.setattr(upload, "GRACE_SECONDS", 0.1)
    sender = Sender(content_type, HEAD, b"x" * 8 * 1024 * 100)
    work = asyncio.ensure_future(sender.upload_to(uploads))
    with pytest.raises(TimeoutError):  # what has come is enough for 100 s
        await asyncio.wait_for(asyncio.shield(work), 0.5)
    sender.send(b"\r\n--x--\r\n", is_last=True)
    _, received = await work
    assert received.size_bytes >= 8 * 1024 * 100


@TYPES
async def test_who_leaves_gives_the_place_up_at_once(uploads, content_type):
    sender = Sender(content_type, HEAD)
    work = asyncio.ensure_future(sender.upload_to(uploads))
    while places_left(uploads, 1) == RECEIVING_OF_A_PERSON:
        await asyncio.sleep(0)
    sender.leave()
    with pytest.raises(ClientDisconnect):
        await work
    assert places_left(uploads, 1) == RECEIVING_OF_A_PERSON
    assert list(uploads.path("0" * 16 + "-" + "0" * 16).parent.iterdir()) == []


async def test_of_a_person_who_sends_many_at_once_others_have_their_places(uploads):
    works = [asyncio.ensure_future(Sender(FILE, b"x").upload_to(uploads)) for _ in range(MAX_RECEIVING)]
    done, pending = await asyncio.wait(works, return_when=asyncio.FIRST_EXCEPTION)
    while len(pending) > RECEIVING_OF_A_PERSON:
        more, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
        done |= more
    assert all("you are sending 2 uploads already" in str(one.exception()) for one in done)
    assert places_left(uploads, 2) == RECEIVING_OF_A_PERSON
    for one in pending:
        one.cancel()
    await asyncio.wait(pending)
    assert places_left(uploads, 1) == RECEIVING_OF_A_PERSON


async def test_closing_ends_what_is_being_built(shown):
    shown.builders.may_build.clear()
    asking = asyncio.create_task(shown.ask())
    while not shown.builders.built:
        await asyncio.sleep(0)
    with anyio.fail_after(20):
        await shown.builders.close()
    assert await asking is None
