import csv
import re
from urllib.parse import quote

import httpx
import pytest

from arena.store.home import open_people
from arena.store.people.secret import hash_password, is_token
from arena.store.people.values import Role, Scope
from tests.server.http.test_serve import served
from tests.server.operations.conftest import COOKIE, HOST, HTML, JSON, PASSWORD

NEW_PASSWORD = "a new one, quite long"


def refused(response, status, *words):
    assert response.status_code == status
    assert 'role="alert"' in response.text
    for word in words:
        assert word in response.text


async def sign_in(client, name, password=PASSWORD, **fields):
    return await client.post("/sign-in", data={"name": name, "password": password, **fields})


async def test_signing_in_leads_on_and_sets_a_cookie_for_this_host_alone(world):
    client = world.client()
    page = await client.get("/sign-in", params={"next": "/bots"})
    assert '<input type="hidden" name="next" value="/bots">' in page.text
    response = await sign_in(client, "Ann", next="/bots")
    assert (response.status_code, response.headers["location"]) == (303, "/bots")
    cookie = response.headers["set-cookie"]
    assert re.fullmatch(
        rf"{COOKIE}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Lax; Max-Age=15552000; Secure", cookie
    )  # what __Host- demands: Secure, Path=/, no Domain
    assert "<h1>ann</h1>" in (await client.get("/account")).text
    client = world.client(accept=JSON)
    response = await client.post("/sign-in", json={"name": "ann", "password": PASSWORD})
    assert response.json() == {"done": "signed in", "to": "/"}
    assert (await client.get("/account")).json()["name"] == "ann"
    client = world.client("127.0.0.1", "http", "localhost:8000")  # on this machine, without https
    cookie = (await sign_in(client, "ann")).headers["set-cookie"]
    assert re.fullmatch(r"arena-here=[\w-]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=15552000", cookie)
    assert (await client.get("/account")).status_code == 200


@pytest.mark.parametrize(
    ("name", "password"), [("ann", "wrong"), ("nobody", PASSWORD), ("ann", ""), ("", ""), ("without-password-yet", "")]
)
async def test_a_wrong_name_and_a_wrong_password_are_the_same_sentence(world, name, password):
    world.store.accounts.add("without-password-yet", Role.AUTHOR, "test")
    client = world.client()
    response = await sign_in(client, name, password)
    refused(response, 400, "The name or the password is not right.")
    assert f'name="name" value="{name}"' in response.text
    assert "set-cookie" not in response.headers
    problem = await client.post("/sign-in", json={"name": name, "password": password}, headers={"accept": JSON})
    assert problem.status_code == 400
    assert problem.json()["error"] == "The name or the password is not right."


async def test_signing_out_ends_the_session_and_who_must_sign_in_first_is_led_back(world):
    client = world.browser("ann")
    secret = client.cookies[COOKIE]
    response = await client.post("/sign-out")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert "Max-Age=0" in response.headers["set-cookie"]
    assert world.store.sessions.find(secret) is None
    client = world.client()
    response = await client.get("/account?code=BCDF-GHJK")
    assert response.headers["location"] == "/sign-in?next=%2Faccount%3Fcode%3DBCDF-GHJK"
    page = await client.get(response.headers["location"])
    assert 'value="/account?code=BCDF-GHJK"' in page.text


async def test_a_director_invites_and_the_invited_opens_an_account(world):
    made = await world.browser("dora").post("/people/invitations", data={"role": "author", "days": "3"})
    link = httpx.URL(re.search(r"<pre>(https://arena\.example/invitations/[\w-]{43})</pre>", made.text)[1])
    assert "can be used once within 3 days" in made.text
    newcomer = world.client()
    page = await newcomer.get(link)
    assert "You are invited to be an <b>author</b>" in page.text
    assert "Made by dora" in page.text
    for fields, sentence in (
        ({"name": "ann"}, "taken"),
        ({"name": "a b"}, "expected 2 to 32 letters"),
        ({"password": "short", "again": "short"}, "the password is rejected"),
        ({"again": "another one"}, "the two passwords differ"),
    ):
        sent = {"name": "newcomer", "password": NEW_PASSWORD, "again": NEW_PASSWORD} | fields
        response = await newcomer.post(link, data=sent)
        refused(response, 400)
        assert sentence.lower() in response.text.lower()
        assert f'name="name" value="{sent["name"]}"' in response.text
    done = await newcomer.post(link, data={"name": "newcomer", "password": NEW_PASSWORD, "again": NEW_PASSWORD})
    assert (done.status_code, done.headers["location"]) == (303, "/account")
    assert "<h1>newcomer</h1>" in (await newcomer.get("/account")).text
    assert (await sign_in(world.client(), "newcomer", NEW_PASSWORD)).status_code == 303
    for again in (await newcomer.get(link), await newcomer.post(link, data={"name": "x2", "password": NEW_PASSWORD})):
        assert again.status_code == 404
        assert "was used, or has expired" in again.text


async def test_a_director_makes_accounts_for_a_class(world):
    dora = world.browser("dora")
    before = world.contents()
    sent = {"roster": "name,role\r\nada,\r\n=1+1,\r\nbob,director\r\nann,author\r\n", "days": "3"}
    refusal = await dora.post("/people/import", data=sent)
    refused(refusal, 400)
    for sentence in (
        "line 3</a>: name &#39;=1+1&#39;: a spreadsheet would take this",
        "line 4</a>: role &#39;director&#39;: expected &#39;author&#39;",
        "line 5</a>: name &#39;ann&#39;: it is taken",
        "ada,\n=1+1,\nbob,director\nann,author",
    ):
        assert sentence in refusal.text
    assert world.contents() == before
    answer = await dora.post("/people/import", data={"roster": "ada\r\nbob", "days": "3"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="invitations.csv"'
    rows = list(csv.DictReader(answer.text.splitlines()))
    assert [(row["name"], row["role"]) for row in rows] == [("ada", "author"), ("bob", "author")]
    assert "Choose a password" in (await world.client().get(httpx.URL(rows[0]["link"]))).text
    [line] = world.store.log.lines(hidden=())[:1]
    assert (line.by, line.action, line.subject) == ("dora", "made accounts from a list for", "2 authors")


async def test_links_that_cannot_be_used_are_answered_alike(world):
    invitations = world.store.invitations
    used, expired, ended = (invitations.invite(Role.AUTHOR, "dora", days) for days in (9, 1, 9))
    replaced, open_one = (invitations.invite_person("ann", "dora", 9) for _ in range(2))
    invitations.accept(used, "newcomer", "$argon2")
    invitations.end(next(one.number for one in invitations.all() if one.person is None), "dora")
    world.now.seconds += 86_401
    dead = [used, expired, ended, replaced, "x" * 43, "x", "<b>", "x" * 44]
    fields = {"name": "other", "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    assert (await world.client().get(f"/invitations/{open_one}")).status_code == 200
    for accept in (HTML, JSON):
        client = world.client(accept=accept)
        answers = [await client.get(f"/invitations/{quote(one)}") for one in dead]
        answers += [await client.post(f"/invitations/{quote(one)}", data=fields) for one in dead]
        assert {(one.status_code, one.content, one.headers["cache-control"]) for one in answers} == {
            (404, answers[0].content, "no-store")
        }
    for one in ("x" * 3000, "%00", "%0a"):
        assert (await world.client().get(f"/invitations/{one}")).status_code == 404


async def test_open_invitations_are_listed_and_ended(world):
    dora = world.browser("dora")
    made = await dora.post("/people/invitations", json={}, headers={"accept": JSON})
    link = made.json()["link"]
    [line] = (await dora.get("/people", headers={"accept": JSON})).json()["invitations"]
    assert (line["role"], line["person"], line["made_by"], line["may_be_ended"]) == ("author", None, "dora", True)
    assert "Open invitations" in (await dora.get("/people")).text
    response = await dora.post(f"/people/invitations/{line['number']}/end")
    assert (response.status_code, response.headers["location"]) == (303, "/people")
    assert (await world.client().get(link)).status_code == 404
    assert "ended an invitation for <b>a new author</b>" in (await world.client().get("/log")).text


async def test_a_new_link_for_who_forgot_the_password(world):
    dora, ann = world.browser("dora"), world.browser("ann")
    made = await dora.post("/people/ann/link", headers={"accept": JSON})
    link = made.json()["link"]
    client = world.client()
    page = await client.get(link)
    assert "For the account of <b>ann</b>" in page.text
    assert 'name="name"' not in page.text
    done = await client.post(link, data={"name": "other", "password": NEW_PASSWORD, "again": NEW_PASSWORD})
    assert done.status_code == 303
    assert (await ann.get("/account")).status_code == 303, "sessions from before end"
    assert (await sign_in(world.client(), "ann", NEW_PASSWORD)).status_code == 303
    assert "made a link to choose a password for <b>ann</b>" in (await world.client().get("/log")).text
    assert (await dora.post("/people/nobody/link")).status_code == 404


async def test_sessions_are_listed_and_ended_in_another_browser_and_all_at_once(world):
    here, there = world.browser("ann"), world.browser("ann")
    page = await here.get("/account", headers={"accept": JSON})
    mine, other = sorted(page.json()["sessions"], key=lambda line: not line["is_this"])
    assert (mine["is_this"], other["is_this"]) == (True, False)
    response = await here.post(f"/account/sessions/{other['number']}/end")
    assert (response.status_code, response.headers["location"]) == (303, "/account")
    assert (await there.get("/account")).status_code == 303
    assert (await here.get("/account")).status_code == 200
    there, olga = world.browser("ann"), world.browser("olga")
    assert (await here.post("/account/sessions/end")).headers["location"] == "/sign-in"
    assert [(await client.get("/account")).status_code for client in (here, there, olga)] == [303, 303, 200]


async def test_changing_the_password_keeps_this_browser_alone(world):
    here, there = world.browser("ann"), world.browser("ann")
    before = here.cookies[COOKIE]
    link = world.store.invitations.invite_person("ann", "dora", 7)
    for fields, sentence in (
        ({"present": "wrong"}, "The present password is not right."),
        ({"password": "short"}, "The password is rejected"),
        ({"again": "another"}, "The two new passwords differ."),
    ):
        sent = {"present": PASSWORD, "password": NEW_PASSWORD, "again": NEW_PASSWORD} | fields
        refused(await here.post("/account/password", data=sent), 400, sentence)
    sent = {"present": PASSWORD, "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    assert (await here.post("/account/password", data=sent)).headers["location"] == "/account"
    assert here.cookies[COOKIE] != before
    assert (await here.get("/account")).status_code == 200
    assert (await there.get("/account")).status_code == 303
    assert (await sign_in(world.client(), "ann")).status_code == 400
    assert (await sign_in(world.client(), "ann", NEW_PASSWORD)).status_code == 303
    assert (await world.client().get(f"/invitations/{link}")).status_code == 404, "a link from before ends"


async def test_a_token_is_shown_once_used_and_ended(world):
    ann = world.browser("ann")
    made = await ann.post("/account/tokens", data={"name": "laptop", "scopes": ["read", "submit"], "days": "30"})
    token = re.search(r"<pre>(arena_[\w-]+)</pre>", made.text)[1]
    assert is_token(token)
    program = world.client(accept=JSON, authorization=f"Bearer {token}")
    account = (await program.get("/account")).json()
    [line] = account["tokens"]
    assert (account["name"], line["name"], line["scopes"]) == ("ann", "laptop", ["read", "submit"])
    page = await ann.get("/account")
    assert "laptop" in page.text
    assert token not in page.text
    assert (await ann.post(f"/account/tokens/{line['number']}/end")).headers["location"] == "/account"
    assert (await program.get("/account")).status_code == 401


async def test_a_token_that_is_refused_and_one_that_may_not_is_told_what_would_help(world):
    for fields, sentence in (
        ({"name": "x", "scopes": ["direct"]}, "can&#39;t have the scope direct"),
        ({"name": "", "scopes": ["everything"], "days": "400"}, "scopes"),
    ):
        refused(await world.browser("ann").post("/account/tokens", data=fields), 400, sentence)
    assert world.contents()["tokens"] == []
    for who, scopes, path, sentence in (
        ("ann", ["read"], "/submissions", "make one with the scope submit on your account page"),
        ("ann", ["read"], "/contests", "Your role, author, may not do this."),
        ("dora", ["direct"], "/account/password", "A token may not do this; sign in with a browser."),
    ):
        response = await world.program(who, *map(Scope, scopes)).post(path, json={})
        assert (response.status_code, response.json()["error"].endswith(sentence)) == (403, True)


async def test_an_account_is_closed_and_opened_again_everybody_reads_why_and_an_operator_changes_roles(world):
    dora = world.browser("dora")
    assert "Close the account" in (await dora.get("/people")).text
    response = await dora.post("/people/ann/close", data={"reason": "two <b>accounts"})
    assert (response.status_code, response.headers["location"]) == (303, "/people")
    refused(await sign_in(world.client(), "ann"), 400, "is not right")
    assert (await dora.post("/people/ann/open", data={"reason": "a mistake"})).status_code == 303
    assert (await sign_in(world.client(), "ann")).status_code == 303
    lines = (await world.client().get("/log", headers={"accept": JSON})).json()["lines"]
    assert [(line["by"], line["action"], line["subject"], line["reason"]) for line in lines[:2]] == [
        ("dora", "opened the account again of", "ann", "a mistake"),
        ("dora", "closed the account of", "ann", "two <b>accounts"),
    ]
    assert "two &lt;b&gt;accounts" in (await world.client().get("/log")).text
    refused(await dora.post("/people/ann/close", data={"reason": ""}), 400, "reason")
    assert (await dora.post("/people/nobody/close", data={"reason": "x"})).status_code == 404
    olga = world.browser("olga")
    response = await olga.post("/people/ann/role", data={"role": "director", "reason": "helps"})
    assert response.headers["location"] == "/people"
    assert world.store.accounts.get("ann").role is Role.DIRECTOR
    for role in ("visitor", "emperor", ""):
        refused(await olga.post("/people/ann/role", data={"role": role, "reason": "x"}), 400)


async def test_the_log_has_pages(world):
    for number in range(101):
        world.store.invitations.invite(Role.AUTHOR, f"by-{number}", 1)
    first = (await world.client().get("/log", headers={"accept": JSON})).json()
    last = (await world.client().get(f"/log?before={first['older']}", headers={"accept": JSON})).json()
    numbers = [line["number"] for line in first["lines"] + last["lines"]]
    assert numbers == list(range(len(numbers), 0, -1))
    assert last["older"] is None
    assert f'href="/log?before={first["older"]}"' in (await world.client().get("/log")).text


async def test_a_closed_account_ends_at_once_and_a_role_holds_from_the_next_request_on(world):
    ann, program, dora = world.browser("ann"), world.program("ann"), world.browser("dora")
    await dora.post("/people/ann/close", data={"reason": "x"})
    assert (await ann.get("/account")).status_code == 303
    assert (await ann.post("/account/tokens", data={"name": "x", "scopes": "read"})).status_code == 401
    assert (await program.get("/account")).status_code == 401
    await dora.post("/people/ann/open", data={"reason": "x"})
    assert (await ann.get("/account")).status_code == 303, "what has ended stays so"
    assert (await program.get("/account")).status_code == 401
    program, olga = world.program("dora", Scope.DIRECT), world.browser("olga")
    assert (await dora.get("/people")).status_code == (await program.get("/people")).status_code == 200
    await olga.post("/people/dora/role", data={"role": "author", "reason": "x"})
    assert (await dora.get("/people")).status_code == (await program.get("/people")).status_code == 403
    await olga.post("/people/dora/role", data={"role": "director", "reason": "x"})
    assert (await dora.get("/people")).status_code == 200


async def test_a_link_that_a_director_made_for_an_author_opens_no_operator(world):
    dora, olga = world.browser("dora"), world.browser("olga")
    made = await dora.post("/people/ann/link", headers={"accept": JSON})
    await olga.post("/people/ann/role", data={"role": "operator", "reason": "x"})
    fields = {"password": PASSWORD + " of another"}
    assert (await world.client().post(made.json()["link"], data=fields)).status_code == 404
    assert (await world.client().post("/sign-in", data={"name": "ann", "password": PASSWORD})).status_code == 303


@pytest.mark.parametrize("what", ["link", "close", "open"])
async def test_a_director_has_no_power_over_who_is_promoted_while_it_is_looked_at(world, monkeypatch, what):
    dora, accounts = world.browser("dora"), world.store.accounts
    if what == "open":
        accounts.close("ann", "olga", "x")
    look = accounts.get

    def look_and_be_promoted_then(name):
        found = look(name)
        accounts.set_role(name, Role.OPERATOR, "olga", "x")
        return found

    monkeypatch.setattr(accounts, "get", look_and_be_promoted_then)
    answer = await dora.post(
        f"/people/ann/{what}", data={"reason": "x"} if what != "link" else {}, headers={"accept": JSON}
    )
    assert (answer.status_code, "the role has just been changed" in answer.text) == (400, True)
    assert (look("ann").closed_at is None) == (what != "open")
    assert world.store.invitations.all() == []


LOGIN = {"name": "dora", "password": PASSWORD}


@pytest.fixture
def home(directory):
    with open_people(directory) as store:
        store.accounts.set_password(store.accounts.add("dora", Role.DIRECTOR, "test"), hash_password(PASSWORD))
    return directory


def addresses(home):
    with open_people(home) as store:
        return [session.address for session in store.sessions.all(store.accounts.get("dora"))]


def site(home, *options):
    return served("--home", home, "--only", "web", "--open-to", "authors", "--allowed-host", HOST, *options)


def client_of(server, **headers):
    given = {"host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Client(base_url=f"http://127.0.0.1:{server.address.rpartition(':')[2]}", headers=given)


@pytest.mark.slow
def test_what_a_named_proxy_says_is_believed(home):
    with site(home, "--trusted-proxy", "127.0.0.1", "--host", "::", "--public") as server:
        forged = "127.0.0.1, 203.0.113.66, 198.51.100.1"  # a proxy appends the one that is true
        with client_of(server, x_forwarded_proto="https", x_forwarded_for=forged) as client:
            response = client.post("/sign-in", data=LOGIN)
            assert response.status_code == 303
            assert response.headers["set-cookie"].startswith(f"{COOKIE}=")
            cookie = response.headers["set-cookie"].partition(";")[0]
            headers = {"cookie": cookie, "x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
            made = client.post("/people/invitations", headers=headers)
            assert re.search(r"<pre>https://arena\.example/invitations/[\w-]{43}</pre>", made.text)
        assert addresses(home) == ["198.51.100.1"]
        for headers in ({"x_forwarded_proto": "http"}, {"x_forwarded_proto": "gopher"}, {}):
            with client_of(server, **headers) as client:
                assert client.post("/sign-in", data=LOGIN).status_code == 403
        with client_of(server, x_forwarded_proto="https", host="evil.example") as client:
            assert client.post("/sign-in", data=LOGIN).status_code == 421
        code, errors = server.end()
    assert (code, errors) == (0, "")


@pytest.mark.slow
def test_what_a_proxy_says_that_nobody_named_is_not(home):
    with site(home, "--trusted-proxy", "192.0.2.0/24") as server:
        for headers in ({"x_forwarded_proto": "https"}, {"x_forwarded_proto": "https", "forwarded": "proto=https"}):
            with client_of(server, x_forwarded_for="127.0.0.1", **headers) as client:
                response = client.post("/sign-in", data=LOGIN)
                assert response.status_code == 403
                assert "--trusted-proxy" in response.text
        with client_of(server, x_forwarded_for="198.51.100.1", host="localhost") as client:
            response = client.post("/sign-in", data=LOGIN)
            assert response.headers["set-cookie"].startswith("arena-here=")
        assert addresses(home) == ["127.0.0.1"]
