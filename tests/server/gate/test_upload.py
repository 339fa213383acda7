import asyncio
import contextlib

import pytest
from starlette.requests import ClientDisconnect, Request

from arena.base.errors import UsageError
from arena.community.submissions.upload_directory import MAX_RECEIVING, RECEIVING_OF_A_PERSON, UploadDirectory
from arena.server.gate import request as upload
from arena.server.gate.request import FILE, receive_upload
from arena.server.gate.request import UPLOAD_FORM as FORM
from arena.server.http.problems import ProblemError

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
    assert all("you send 2 uploads already" in str(one.exception()) for one in done)
    assert places_left(uploads, 2) == RECEIVING_OF_A_PERSON
    for one in pending:
        one.cancel()
    await asyncio.wait(pending)
    assert places_left(uploads, 1) == RECEIVING_OF_A_PERSON
