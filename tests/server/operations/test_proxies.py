import re

import httpx
import pytest

from arena.store.home import open_people
from arena.store.people.secret import hash_password
from arena.store.people.values import Role
from tests.server.http.test_serve import served
from tests.server.operations.conftest import COOKIE, HOST, PASSWORD

pytestmark = pytest.mark.slow

LOGIN = {"name": "dora", "password": PASSWORD}


@pytest.fixture
def home(directory):
    with open_people(directory) as store:
        dora = store.accounts.add("dora", Role.DIRECTOR, "test")
        store.accounts.set_password(dora, hash_password(PASSWORD))
    return directory


def addresses(home):
    with open_people(home) as store:
        return [session.address for session in store.sessions.all(store.accounts.get("dora"))]


def site(home, *options):
    return served("--home", home, "--only", "web", "--open-to", "authors", "--allowed-host", HOST, *options)


def client_of(server, **headers):
    given = {"host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Client(base_url=f"http://127.0.0.1:{server.address.rpartition(':')[2]}", headers=given)


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
