import asyncio
import json
import logging
import re
from unittest.mock import Mock

import pytest
from sqlalchemy import event

from arena.server.gate import request as body
from arena.server.gate.operation import NoFields
from arena.server.gate.request import MAX_BODY_BYTES
from arena.server.gate.responses import place_of_ours
from arena.server.operations.account import FOR_A_NAME, FOR_A_NAME_FROM_AN_ADDRESS, FROM_AN_ADDRESS
from arena.server.operations.opened_people import OPERATIONS
from arena.store.people.secret import new_secret
from arena.store.people.values import Role, Scope
from tests.server.conftest import answered
from tests.server.operations.conftest import COOKIE, HOST, HTML, JSON, PASSWORD
from tests.server.operations.test_permissions import THERE

POSTS = [operation for operation in OPERATIONS if operation.method == "POST"]
LOGIN = {"name": "ann", "password": PASSWORD}


NOT_OURS = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "Same-Origin, cross-site"},
    {"sec-fetch-site": "cross-site", "origin": f"https://{HOST}"},
    {"sec-fetch-site": ""},
    {"sec-fetch-site": "", "origin": "https://evil.example"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": f"http://{HOST}"},
    {"origin": f"https://{HOST}:444"},
    {"origin": f"https://{HOST}.evil.example"},
    {"origin": f"https://evil.example/{HOST}"},
]


async def test_what_another_site_sends_changes_nothing(world):
    olga = world.browser("olga")
    del olga.headers["sec-fetch-site"]
    before = world.contents()
    for number, headers in enumerate(NOT_OURS):
        for operation in POSTS[number % 4 :: 4]:  # each is refused by the same function
            response = await answered(olga.post(operation.path.format_map(THERE), headers=headers, data=LOGIN), 403)
            assert "set-cookie" not in response.headers
            assert "A page of another site sent this" in response.text
    assert world.contents() == before


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {"origin": f"https://{HOST}"}, {}]
)
async def test_what_our_pages_and_programs_send_is_taken(world, headers):
    client = world.client()
    del client.headers["sec-fetch-site"]
    assert (await client.post("/sign-in", headers=headers, data=LOGIN)).status_code == 303


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data; boundary=x", "", "application/xml", None])
async def test_bodies_that_pages_elsewhere_can_send_as_something_else_are_refused(world, content_type):
    headers = {} if content_type is None else {"content-type": content_type}
    await answered(world.client().post("/sign-in", headers=headers, content=json.dumps(LOGIN).encode()), 415)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GET"])
async def test_nothing_is_changed_by_other_methods(world, method):
    olga = world.browser("olga")
    before = world.contents()
    for operation in POSTS:
        path = operation.path.format_map(THERE)
        if method != "GET" or not any(one.method == "GET" and one.path == operation.path for one in OPERATIONS):
            response = await answered(olga.request(method, path, headers={"x-http-method-override": "POST"}), 405)
            assert "access-control-allow-origin" not in response.headers
    assert world.contents() == before


async def test_no_page_for_a_person_is_framed_or_kept(world):
    olga = world.browser("olga")
    for path in ("/sign-in", "/account", "/account/data", "/people", "/log", "/invitations/x"):
        response = await olga.get(path)
        assert response.headers["referrer-policy"] == "same-origin"  # else browsers send "Origin: null" with our forms
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert "form-action 'self'" in response.headers["content-security-policy"]
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.slow
async def test_public_pages_are_the_same_bytes_for_everybody(world):
    clients = [world.client(), world.browser("ann"), world.browser("olga"), world.program("dora")]
    for path in ("/", "/index.json", "/bots", "/tournaments/t/matches", "/robots.txt", "/log"):
        while "<h1>Loading" in (await clients[0].get(path, headers={"accept": HTML})).text:
            await asyncio.sleep(0.05)
        answers = [await client.get(path, headers={"accept": HTML}) for client in clients]
        assert path != "/" or 'href="/submissions">Submit a bot</a>' in answers[0].text
        assert len({(answer.status_code, answer.content) for answer in answers}) == 1
        assert all("set-cookie" not in answer.headers for answer in answers)
        if path != "/log":
            assert all("Cookie" not in answer.headers.get("vary", "") for answer in answers)


@pytest.mark.parametrize("way", ["sign-in", "invitation"])
async def test_a_session_that_was_there_before_is_never_gone_on_with(world, way):
    client = world.browser("ann")
    client.cookies.set(COOKIE, fixed := client.cookies[COOKIE], domain=HOST)
    if way == "sign-in":
        response = await client.post("/sign-in", data={"name": "olga", "password": PASSWORD})
    else:
        secret = world.store.invitations.invite(Role.AUTHOR, "dora", 1)
        response = await client.post(f"/invitations/{secret}", data={"name": "newcomer", "password": PASSWORD})
    assert response.status_code == 303
    assert client.cookies[COOKIE] != fixed
    assert world.store.sessions.find(fixed) is None


async def test_the_cookie_of_http_is_none_on_https_and_two_are_none(world):
    secret = world.store.sessions.begin(world.store.accounts.get("ann"), "", "")
    other = world.store.sessions.begin(world.store.accounts.get("olga"), "", "")
    client = world.client()
    for header, status in (
        (f"{COOKIE}={secret}", 200),
        (f'odd={{"a": [1, 2]}}; {COOKIE}={secret}', 200),  # of another program on this host
        (f"arena-here={secret}", 303),
        (f"{COOKIE}={other}; {COOKIE}={secret}", 303),
        (f"{COOKIE}={secret}\x00", 303),
        (f'{COOKIE}="{secret}"', 303),
        (f"x{COOKIE}={secret}", 303),
        (f"{COOKIE}={secret}; " + "x" * 4000, 303),
    ):
        assert (await client.get("/account", headers={"cookie": header})).status_code == status


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "bearer x", "Basic YW5uOmFubg==", "Bearer arena_" + "é" * 49, "Bearer " + "a" * 5000, ""],
)
async def test_a_token_that_is_none_is_refused_everywhere_and_not_repeated(world, header):
    ann = world.browser("ann")
    for path in ("/account", "/sign-in", "/log"):
        response = await ann.get(path, headers={"authorization": header.encode("latin-1"), "accept": JSON})
        assert response.status_code == 401
        assert header[10:] == "" or header[10:] not in response.text


@pytest.mark.parametrize(
    "place",
    ["//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "https:evil.example",
     "javascript:alert(1)", "data:text/html,x", f"https://{HOST}/bots", "evil.example", "", " //evil.example",
     "/\t/evil.example", "/\n/evil.example", "\t//evil.example", "/\r\nset-cookie: a=b", "/é", "/\0", "///evil.example",
     "/" + "a" * 500, "?x", "#x", "./x"],
)  # fmt: skip
async def test_signing_in_leads_nowhere_else(world, place):
    response = await world.client().post("/sign-in", json={**LOGIN, "next": place})
    assert response.status_code in (303, 400)
    if response.status_code == 303:
        assert response.headers["location"] == "/account"
    page = await world.client().get("/sign-in", params={"next": place})
    assert page.status_code in (400, 404) or 'name="next" value="/account"' in page.text


async def test_who_must_sign_in_is_led_back_to_this_site_alone(world):
    ours = ["/", "/bots?search=a", "/%2f%2fevil.example", "/%5cevil.example", "/a//b", "/.//x"]
    assert [place_of_ours(place) for place in ours] == ours
    for path in ("/account//evil.example", "/account?code=%0d%0aset-cookie:a=b", "/account?//evil.example"):
        response = await world.client().get(path)
        assert "set-cookie" not in response.headers
        assert response.headers.get("location", "/sign-in?").startswith("/sign-in?")


async def guess(world, name, address, times):
    client = world.client(address)
    return [
        (await client.post("/sign-in", data={"name": name, "password": "wrong guess"})).status_code
        for _ in range(times)
    ]


async def test_guesses_of_one_name_from_one_address_are_few(world):
    times = FOR_A_NAME_FROM_AN_ADDRESS.times
    for name in ("ann", "nobody"):
        assert await guess(world, name, "192.0.2.9", times + 3) == [400] * times + [429] * 3
    client = world.client("192.0.2.9")
    refused = await client.post("/sign-in", data=LOGIN)
    assert refused.status_code == 429, "also the right one, or guessing would go on"
    assert (await world.client("192.0.2.1").post("/sign-in", data=LOGIN)).status_code == 303, "nobody is kept out"
    assert int(refused.headers["retry-after"]) <= 60
    world.now.seconds += int(refused.headers["retry-after"])
    assert (await client.post("/sign-in", data=LOGIN)).status_code == 303


async def test_upper_case_and_spaces_are_no_other_name_nor_are_addresses_of_one_network_others(world):
    times = FOR_A_NAME_FROM_AN_ADDRESS.times
    names = ["ann", "ANN", " ann ", "aNn"]
    for tries in (
        [(names[number % 4], "192.0.2.9") for number in range(times + 2)],
        [("ann", f"2001:db8::{number:x}:1") for number in range(times + 2)],
    ):
        seen = [status for name, address in tries for status in await guess(world, name, address, 1)]
        assert seen == [400] * times + [429] * 2
    assert await guess(world, "ann", "2001:db8:0:1::1", 1) == [400]


@pytest.mark.slow
async def test_guesses_of_one_name_from_everywhere_are_few_but_not_where_the_person_is_signed_in(world):
    world.browser("ann")  # from 192.0.2.1
    statuses = []
    for number in range(FOR_A_NAME.times // 10 + 1):
        statuses += await guess(world, "ann", f"198.51.100.{number}", 10)
    assert statuses == [400] * FOR_A_NAME.times + [429] * 10
    assert (await world.client("203.0.113.7").post("/sign-in", data=LOGIN)).status_code == 429
    assert (await world.client("192.0.2.1").post("/sign-in", data=LOGIN)).status_code == 303


async def test_a_name_that_ends_with_an_address_keeps_nobody_out_there(world):
    for number in range(2):
        await guess(world, "ann 192.0.2.1", f"198.51.100.{number}", FOR_A_NAME_FROM_AN_ADDRESS.times)
    assert (await world.client("192.0.2.1").post("/sign-in", data=LOGIN)).status_code == 303


@pytest.mark.slow
async def test_guesses_of_many_names_from_one_address_are_bounded(world):
    client = world.client("192.0.2.9")
    times = FROM_AN_ADDRESS.times
    sent = [client.post("/sign-in", data={"name": f"name-{n}", "password": "wrong"}) for n in range(times + 5)]
    assert [response.status_code for response in await asyncio.gather(*sent)].count(429) == 5


async def test_a_present_password_is_not_guessed_in_a_session_that_was_left_open(world):
    ann = world.browser("ann")
    fields = {"present": "wrong", "password": "a new one, quite long"}
    statuses = [(await ann.post("/account/password", data=fields)).status_code for _ in range(12)]
    assert statuses == [400] * 10 + [429] * 2
    assert (await ann.post("/account/erase", data={"present": PASSWORD})).status_code == 429


async def test_as_much_is_hashed_for_a_name_that_nobody_has(world, monkeypatch):
    from arena.store.people import secret

    hashed = []
    hasher = secret._hasher()

    class Counting:
        hash = hasher.hash

        def verify(self, *given):
            hashed.append(given)
            return hasher.verify(*given)

    monkeypatch.setattr(secret, "_hasher", Counting)
    world.store.accounts.add("newcomer", Role.AUTHOR, "test")
    world.store.accounts.close("dora", "test", "")
    for name in ("ann", "nobody", "newcomer", "dora", "", "a\u00e9"):
        before = len(hashed)
        await world.client().post("/sign-in", data={"name": name, "password": "wrong"})
        assert len(hashed) == before + 1, name


async def test_forged_headers_of_a_proxy_change_nothing_and_what_it_says_of_the_client_is_an_address_or_nothing(world):
    client = world.client("192.0.2.9", "http", "192.0.2.5:8000")
    forged = {"x-forwarded-proto": "https", "x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1;proto=https",
              "x-forwarded-host": "localhost", "x-real-ip": "127.0.0.1"}  # fmt: skip
    await answered(client.post("/sign-in", headers=forged, data=LOGIN), 403, "by https")
    dora = world.browser("dora")
    made = await dora.post("/people/invitations", headers={**forged, "x-forwarded-host": "evil.example"})
    assert "https://arena.example/invitations/" in made.text
    assert "evil.example" not in made.text
    times = FOR_A_NAME_FROM_AN_ADDRESS.times
    client = world.client("192.0.2.9")
    for number in range(times + 1):
        headers = {"x-forwarded-for": f"198.51.100.{number}"}
        last = await client.post("/sign-in", headers=headers, data={"name": "ann", "password": "x"})
    assert last.status_code == 429
    assert (await world.client("x" * 5000).post("/sign-in", data=LOGIN)).status_code == 303
    assert (await world.client("::ffff:192.0.2.77").post("/sign-in", data=LOGIN)).status_code == 303
    addresses = {session.address for session in world.store.sessions.all(world.store.accounts.get("ann"))}
    assert addresses == {"", "192.0.2.77"}


@pytest.mark.parametrize(
    ("address", "scheme", "host", "status"),
    [
        ("192.0.2.9", "http", HOST, 403),
        ("192.0.2.9", "http", "localhost", 403),
        ("127.0.0.1", "http", HOST, 403),  # through a proxy that nobody has named
        ("127.0.0.1", "http", "127.0.0.1:8000", 303),
        ("::1", "http", "[::1]:8000", 303),
        ("192.0.2.9", "https", HOST, 303),
    ],
)
async def test_secrets_are_sent_encrypted_or_stay_on_this_machine(world, address, scheme, host, status):
    client = world.client(address, scheme, host)
    assert (await client.post("/sign-in", data=LOGIN)).status_code == status
    assert (await client.get("/sign-in")).status_code == (200 if status == 303 else 403), "before it is typed"
    assert (await client.get("/log")).status_code == 200


SECRETS = ["a secret that is typed", "another secret, typed"]


async def test_what_is_secret_is_repeated_nowhere(world, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    ann, olga = world.browser("ann"), world.browser("olga")
    invitation = world.store.invitations.invite(Role.AUTHOR, "dora", 1)
    first, second = SECRETS
    answers = []
    for accept in (HTML, JSON):
        for client, path, fields in (
            (world.client(), "/sign-in", {"name": "ann", "password": first}),
            (world.client(), "/sign-in", {"name": "ann", "password": first, "more": second}),
            (world.client(), f"/invitations/{invitation}", {"name": "b b", "password": first, "again": second}),
            (world.client(), f"/invitations/{invitation}", {"name": "bob", "password": first, "again": second}),
            (ann, "/account/password", {"present": first, "password": second}),
            (ann, "/account/password", {"present": PASSWORD, "password": first, "again": second}),
            (ann, "/account/password", {"present": [first, first], "password": second}),
            (ann, "/account/erase", {"present": first}),
            (ann, "/account/erase", {"present": first + "\0"}),
            (olga, "/account/erase", {"present": PASSWORD, "password": first}),
        ):
            response = await answered(client.post(path, data=fields, headers={"accept": accept}), 400)
            answers.append(response.text + str(response.headers))

    with monkeypatch.context() as broken:
        broken.setattr(type(world.store.sessions), "begin", Mock(side_effect=RuntimeError("a defect")))
        response = await answered(world.client().post("/sign-in", data=LOGIN | {"next": "/"}), 500)
        answers.append(response.text)
    assert "a defect" in caplog.text
    output = "\n".join(answers) + caplog.text + "".join(capfd.readouterr())
    for secret in (*SECRETS, PASSWORD, ann.cookies[COOKIE], olga.cookies[COOKIE]):
        assert secret not in output


async def test_the_database_has_digests_alone(world, tmp_path):
    ann, dora = world.browser("ann"), world.browser("dora")
    made = await ann.post("/account/tokens", json={"name": "x", "scopes": ["read"]}, headers={"accept": JSON})
    link = await dora.post("/people/invitations", headers={"accept": JSON})
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("people.sqlite3*"))
    secrets = [PASSWORD, ann.cookies[COOKIE], made.json()["token"], link.json()["link"][-43:]]
    for secret in secrets:
        assert re.fullmatch(r"[ -~]{10,}", secret)
        assert secret.encode() not in stored


async def test_where_nothing_can_be_written_people_read_and_hear_why_nothing_is_done(world, caplog):
    browsers = world.browser("olga"), world.program("olga", Scope.SUBMIT)
    world.now.seconds += 3600  # so that who asks would be written down
    event.listen(world.store._database._engine, "begin", lambda one: one.exec_driver_sql("PRAGMA query_only = ON"))
    for client in browsers:
        assert (await client.get("/account")).status_code == 200
    posts = [one for one in POSTS if one.path in ("/people/{person}/close", "/sign-in", "/account/tokens")]
    for operation in posts:
        for accept in (HTML, JSON):
            sent = {**LOGIN, "reason": "x", "name": "ann", "scopes": "read", "days": "1"}
            wanted = {name: sent[name] for name in operation.fields.model_fields if name in sent}
            response = await browsers[0].post(operation.path.format_map(THERE), data=wanted, headers={"accept": accept})
            assert response.status_code == 503, (operation.path, response.text)
            assert "be written now, so nothing was done" in response.text
    output = f"{world.store._database.shown}: the database can't be written; check the permissions of the file and its"
    assert caplog.messages == [f"{output} directory"] * 2  # the gate and the site, once each


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


@pytest.mark.parametrize("way", ["closed", "token ended", "other role"])
async def test_who_is_stopped_while_a_body_comes_changes_nothing(world, way):
    world.add("cleo", Role.DIRECTOR)
    program, cleo = world.program("cleo", Scope.DIRECT), world.store.accounts.get("cleo")
    changed = []

    async def slow():
        yield b"role=author&"
        if way == "closed":
            world.store.accounts.close("cleo", "test", "")
        elif way == "token ended":
            world.store.tokens.end(cleo, world.store.tokens.all(cleo)[0].number)
        else:
            world.store.accounts.set_role("cleo", Role.AUTHOR, "test", "")
        changed.append(world.contents())
        yield b"days=3"

    response = await program.post("/people/invitations", content=slow(), headers={"content-type": FORM})
    assert (response.status_code, response.json()["title"]) == (403, "Not allowed any more")
    assert world.contents() == changed[0]


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
