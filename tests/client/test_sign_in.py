"""Signing in at a real site: the code, the wait for it, the account, the end."""

import io
import shutil
import ssl
import subprocess

import pytest

from arena.client.account import account_of, end_token
from arena.client.program_login import ShownCode, begin_login, machine_name, wait_for_token
from arena.client.site_address import site_address
from arena.client.site_client import SiteClient
from arena.errors import SiteAwayError, SiteError
from arena.home import ArenaHome
from arena.people.roles import Scope
from arena.people.secret import is_token, new_secret, new_token
from tests import needs
from tests.client.conftest import answering, hostile, response, saying


class FakeWait:
    """Time that passes at once. Something happens in the pauses."""

    def __init__(self, *happens):
        self.seconds, self.pauses, self._happens = 0.0, [], list(happens)

    def now_seconds(self):
        return self.seconds

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.seconds += seconds
        if self._happens:
            self._happens.pop(0)()


def client_of(url, token=None):
    return SiteClient(site_address(url), token)


def test_a_program_is_signed_in_by_a_code_that_somebody_types(arena_site):
    client = client_of(arena_site.url)
    shown = begin_login(client, [Scope.READ, Scope.SUBMIT])
    assert shown.confirm_at == f"{arena_site.url}/programs"
    assert arena_site.people.device_logins.find(shown.code).machine == machine_name()
    wait = FakeWait(str, str, lambda: arena_site.people.device_logins.confirm(shown.code, arena_site.ada))
    token = wait_for_token(client, shown, wait)
    assert is_token(token)
    assert wait.pauses == 3 * [shown.interval_seconds]
    account = account_of(client_of(arena_site.url, token))
    assert (account.name, account.role, account.scopes) == ("ada", "author", ("read", "submit"))
    assert account.expires_at > "2026"
    assert arena_site.tokens() == [f"arena login on {machine_name()}"]
    with pytest.raises(SiteError, match=r"(?i)there is no such code, or it has expired"):
        wait_for_token(client, shown, FakeWait())  # a token is given once


def test_a_token_ends_itself_and_no_other(arena_site):
    mine, other = arena_site.token("read"), arena_site.token("submit")
    end_token(client_of(arena_site.url, mine))
    with pytest.raises(SiteError) as caught:
        account_of(client_of(arena_site.url, mine))
    assert caught.value.status == 401
    assert account_of(client_of(arena_site.url, other)).scopes == ("submit",)


def test_a_browser_and_a_visitor_end_no_token_in_this_way(arena_site):
    secret = arena_site.people.sessions.begin(arena_site.ada, "a browser", "127.0.0.1")
    arena_site.token()
    for headers, status in (({"Cookie": f"arena-here={secret}"}, 403), ({}, 401)):
        client = client_of(arena_site.url)
        client._headers |= headers
        with pytest.raises(SiteError) as caught:
            end_token(client)
        assert caught.value.status == status
    assert len(arena_site.tokens()) == 1


def test_an_arena_without_accounts_says_who_can_change_that(tmp_path):
    directory = tmp_path / "closed"
    ArenaHome(directory).close()
    with answering(directory, is_open=False) as address, pytest.raises(SiteError) as caught:
        begin_login(client_of(f"http://{address}"), [Scope.READ])
    assert str(caught.value) == (
        f"http://{address}: nobody can sign in there; its director can change that: arena serve --open-to authors"
    )


def shown(seconds=100, interval=2):
    return ShownCode(new_secret(), "BCDF-GHJK", "http://x/programs", interval, seconds)


def test_a_code_that_nobody_types_ends_the_wait():
    wait = FakeWait()
    with hostile(saying(response(b'{"token": null}'))) as url, pytest.raises(SiteError) as caught:
        wait_for_token(client_of(url), shown(10, 3), wait)
    assert str(caught.value) == f"{url}: nobody typed the code BCDF-GHJK in time; run the command again"
    assert wait.pauses == [3, 3, 3]


def test_while_the_site_is_away_it_is_asked_less_often_and_then_as_before():
    token = new_token()
    away = response(b"{}", status="503 Away")
    late = response(b"{}", status="429 Slow", headers=["Retry-After: 45"])
    null, given = response(b'{"token": null}'), response(f'{{"token": "{token}"}}'.encode())
    answers = [away, away, away, away, away, late, null, given]
    wait = FakeWait()
    with hostile(lambda handler, _: handler.wfile.write(answers.pop(0))) as url:
        assert wait_for_token(client_of(url), shown(600), wait) == token
    assert wait.pauses == [2, 4, 8, 16, 30, 30, 45, 2]


def test_a_site_that_stays_away_ends_the_wait_as_it_is():
    wait = FakeWait()
    with hostile(saying(response(b"{}", status="503 Away"))) as url, pytest.raises(SiteAwayError, match="with 503"):
        wait_for_token(client_of(url), shown(20), wait)
    assert wait.seconds < 20


@pytest.mark.parametrize("answer", [b"{}", b'{"token": 1}', b'{"token": ""}', b'{"token": "arena_x"}'])
def test_what_is_no_token_is_refused(answer):
    with hostile(saying(response(answer))) as url, pytest.raises(SiteError, match="is no arena"):
        wait_for_token(client_of(url), shown(), FakeWait())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("box", "box"), ("", "a machine without a name"), ("a\x1b", "a machine without a name"), (99 * "x", 64 * "x")],
)
def test_a_machine_has_a_name_that_the_site_takes(name, expected):
    assert machine_name(lambda: name) == expected


def test_an_address_that_takes_no_files_says_so(arena_site):
    client = client_of(arena_site.url, arena_site.token())
    with pytest.raises(SiteError) as caught:
        client.upload("/programs/requests", io.BytesIO(b"abc"), 3)
    assert caught.value.status == 415


@pytest.fixture
def encrypted(tmp_path):
    """The address of a server with a certificate for 127.0.0.1 that nobody has signed, and the certificate."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [shutil.which("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=arena", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with hostile(saying(response(b'{"a": 1}')), context) as url:
        yield url.replace("http:", "https:"), certificate


@needs.program("openssl")
def test_a_certificate_is_checked(encrypted, monkeypatch):
    url, certificate = encrypted
    with pytest.raises(SiteError) as caught:
        client_of(url).get_json("/x")
    assert str(caught.value) == f"{url}: its certificate is not accepted (self-signed certificate)"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert client_of(url).get_json("/x") == {"a": 1}
    other = url.replace("127.0.0.1", "localhost")
    with pytest.raises(SiteError, match=r"its certificate is not accepted .*mismatch.*'localhost'"):
        client_of(other).get_json("/x")
