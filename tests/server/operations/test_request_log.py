import json
import re

import pytest

from arena.server.operations.opened_people import OPERATIONS
from arena.store.people.secret import new_secret
from arena.store.people.values import Scope
from tests.server.conftest import answered
from tests.server.operations.conftest import COOKIE, HOST, PASSWORD


async def test_a_request_is_a_line_with_its_template_and_who_asked(logged_world, lines):
    response = await answered(logged_world.browser("ann").get("/account"), 200)
    found = [value for value in lines.values if value["logger"] == "arena.requests"]
    ann = logged_world.store.accounts.get("ann").number
    [one] = found
    assert (one["method"], one["route"], one["status"], one["person"]) == ("GET", "/account", 200, ann)
    assert one["milliseconds"] >= 0
    assert "x-request-id" not in response.headers
    assert re.fullmatch(
        r"\S+ INFO arena.requests \[[0-9a-f]{12}\]: GET /account 200 \S+ ms person \d+", lines.texts[-1]
    )
    await logged_world.client().get("/sign-in")
    assert (lines.values[-1]["person"], "person" in lines.texts[-1]) == (None, False)


@pytest.mark.slow(sample=True)
async def test_no_secret_is_in_a_log(logged_world, lines):
    """Whatever is sent, wherever it is sent, whatever becomes of it."""
    canary = new_secret()
    link = logged_world.store.invitations.invite_person("ann", "test", 7)
    token = logged_world.store.tokens.make(logged_world.store.accounts.get("ann"), "test", (Scope.READ,), 1)
    session = logged_world.store.sessions.begin(logged_world.store.accounts.get("ann"), "a browser", "192.0.2.1")
    client = logged_world.client()
    fields = {"name": "ann", "password": canary, "code": canary, "token": canary, "note": canary}
    sent = (
        (canary, {"authorization": f"Bearer {canary}"}),
        (canary, {"authorization": f"Bearer {token}"}),
        (canary, {"cookie": f"{COOKIE}={canary}", "user-agent": canary, "referer": f"https://{HOST}/{canary}"}),
        (canary, {"cookie": f"{COOKIE}={session}"}),
        (canary, {"host": f"{canary}.example", "origin": f"https://{canary}.example"}),
        (link, {"cookie": f"{COOKIE}={session}"}),
    )
    for operation in OPERATIONS:
        for secret, headers in sent:
            path = re.sub(r"\{\w+\}", secret, operation.path)
            data = fields if operation.method == "POST" else None
            address = f"{path}?next=/{canary}&code={canary}"
            await client.request(operation.method, address, headers=headers, data=data)
    await client.get(f"/{canary}/../{canary}%00")
    assert len(lines.texts) >= len(sent) * len(OPERATIONS)
    everything = "\n".join(lines.texts) + json.dumps(lines.values)
    for secret in (canary, link, token, session, PASSWORD):
        assert secret not in everything


async def test_a_defect_is_logged_under_the_id_that_the_visitor_sees(world, lines, monkeypatch):
    monkeypatch.setattr("arena.server.http.app.query_of", lambda _: 1 / 0)
    response = await answered(world.client().get("/"), 500)
    assert "ZeroDivisionError" not in response.text
    [defect] = [one for one in lines.values if one["message"] == "a request failed"]
    assert defect["request"] == response.headers["x-request-id"]
    assert "ZeroDivisionError" in defect["traceback"]
