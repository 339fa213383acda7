"""What is sent with a request, of every odd kind: one sentence, nothing changed; fields are in
test_invalid_fields.py.
"""

import asyncio
import json

import pytest

from arena.server.gate import request as body
from arena.server.gate.operation import NoFields
from arena.server.gate.request import MAX_BODY_BYTES
from arena.server.operations.opened_people import OPERATIONS
from arena.store.people.values import Role
from tests.server.conftest import answered
from tests.server.operations.conftest import JSON, PASSWORD
from tests.server.operations.test_permissions import THERE

FORM = "application/x-www-form-urlencoded"

ODD = [
    (FORM, b"name=%ff&password=x"),
    (FORM, b"\xff\xfe"),
    (FORM, b"&".join(b"a%d=1" % number for number in range(60))),
    (FORM, b"name=a%0ann&password=x"),
    (FORM, b"%00=1"),
    (FORM, b"="),
    (FORM + "; charset=utf-16", "name=ann".encode("utf-16")),
    (JSON, b"{"),
    (JSON, b"[]"),
    (JSON, b"null"),
    (JSON, b"1" * 10_000),
    (JSON, b"\xff"),
    (JSON, b"[" * 16_000),
    (JSON, b'{"a":' * 3000),
    (JSON, b'{"name": "a\\u0000nn", "password": "x"}'),
    (JSON, b'{"name": null, "password": NaN}'),
    (JSON, b'{"": "", "__class__": "x"}'),
    (JSON, b'{"scopes": ["\\ud800"], "name": "x"}'),
    (JSON, b'{"days": 1e400, "number": "\xd9\xa1", "before": -1}'),
]


@pytest.mark.slow(sample=("json",))
@pytest.mark.parametrize("accept", ["text/html", JSON], ids=["page", "json"])
async def test_invalid_bodies(world, accept):
    """Of each operation, some of all; they are read by the same function."""
    olga = world.browser("olga")
    before = world.contents()
    posts = [one for one in OPERATIONS if one.method == "POST" and one.fields is not NoFields]
    for number, (content_type, content) in enumerate(ODD):
        for operation in posts[number % 4 :: 4]:
            headers = {"content-type": content_type, "accept": accept}
            response = await olga.post(operation.path.format_map(THERE), content=content, headers=headers)
            assert response.status_code in (400, 404, 415), (operation, content[:50])
            assert len(response.text) < 30_000
        assert world.contents() == before, content[:50]


async def test_what_is_too_long_is_not_read_on(world):
    read = []

    async def endless():
        while True:
            read.append(1)
            yield b"x" * 1024

    await answered(world.client().post("/sign-in", content=endless(), headers={"content-type": FORM}), 413)
    assert len(read) <= MAX_BODY_BYTES / 1024 + 2


async def test_what_is_too_slow_is_not_waited_for_and_of_who_may_not_nothing_is_read(world, monkeypatch):
    monkeypatch.setattr(body, "BODY_SECONDS", 0.05)

    async def slow():
        yield b"name=ann"
        await asyncio.Event().wait()

    await answered(world.client().post("/sign-in", content=slow(), headers={"content-type": FORM}), 408)

    async def never():
        raise AssertionError("it was read")
        yield b""

    response = await world.client().post("/people/invitations", content=never(), headers={"content-type": FORM})
    assert response.status_code == 401


async def test_fields_of_a_path_are_those_of_the_path_and_of_an_empty_body_it_is_said_what_is_missing(world):
    world.add("bob", Role.AUTHOR)
    dora = world.browser("dora")
    fields = {"person": "bob", "reason": "x"}
    for sent in ({"data": fields}, {"content": json.dumps(fields), "headers": {"content-type": JSON}}):
        await dora.post("/people/ann/close", **sent)
    assert world.store.accounts.get("bob").closed_at is None
    assert world.store.accounts.get("ann").closed_at is not None
    await answered(world.client().post("/sign-in"), 400, "this is missing")
    assert (await world.client().post("/sign-in", data={"name": "dora", "password": PASSWORD})).status_code == 303
