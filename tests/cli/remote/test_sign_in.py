"""Signing in at a real site: the account, the end."""

import shutil
import ssl
import subprocess

import pytest

from arena.base.errors import SiteError
from arena.cli.remote.credentials import site_address
from arena.cli.remote.site_client import SiteClient, account_of, end_token
from arena.store.home import ArenaHome
from tests import needs
from tests.cli.remote.conftest import answering, hostile, response, saying


def client_of(url, token=None):
    return SiteClient(site_address(url), token)


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
        account_of(client_of(f"http://{address}"))
    assert str(caught.value) == (
        f"http://{address}: nobody can sign in there; its director can change that: arena serve --open-to authors"
    )


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
