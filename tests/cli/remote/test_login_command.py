"""``arena site login`` and ``arena site logout``: what is printed, and with which exit code."""

import io
import json
import re
import shutil
import ssl
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from arena.base.errors import SiteError
from arena.cli.remote.credentials import Credentials, site_address
from arena.cli.remote.site_client import SiteClient, account_of, end_token
from arena.store.home import ArenaHome
from arena.store.people.secret import new_token
from tests import needs
from tests.cli.calls import as_json, called, refusal
from tests.cli.remote.conftest import answering, hostile, response, saying
from tests.cli.typed_terminal import arena_at_a_terminal


@pytest.fixture
def arena(capsys):
    return partial(called, capsys)


def typed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


@pytest.fixture
def sign_in(arena_site, arena, monkeypatch):
    """Signs ada in with a new token on stdin; its result is that of the command."""

    def sign_in(*scopes, arguments=()):
        typed(monkeypatch, f"{arena_site.token(*scopes)}\n".encode())
        return arena("login", arena_site.url, *arguments)

    return sign_in


def kept(arena_site):
    return Credentials().find(site_address(arena_site.url))


def test_a_token_comes_from_stdin_and_it_says_as_whom(arena_site, arena, sign_in):
    code, out, err = sign_in()
    assert code == 0, err
    sentence = r"You are signed in at SITE as ada \(author\), until 20\d\d-\d\d-\d\d; good for: read, submit\.\n"
    assert re.fullmatch(sentence, out.replace(arena_site.url, "SITE"))
    assert kept(arena_site) not in out + err
    code, out, _ = arena("login", "--json")
    (row,) = json.loads(out)
    assert (code, row["site"], row["name"], row["scopes"]) == (0, arena_site.url, "ada", ["read", "submit"])


def test_signing_in_again_ends_the_earlier_token(arena_site, arena, sign_in):
    assert sign_in()[0] == 0
    first = kept(arena_site)
    assert sign_in("play", arguments=("--token", "-"))[0] == 0, "as it was written before"
    assert kept(arena_site) != first
    assert len(arena_site.tokens()) == 1
    assert as_json(arena, "login")[0]["scopes"] == ["play"]


@pytest.mark.slow
def test_a_terminal_is_asked_and_shows_no_token(arena_site):
    token = arena_site.token("read")
    with arena_at_a_terminal(["login", arena_site.url]) as terminal:
        shown = terminal.read_until("Token: ")
        terminal.type(f"{token}\n".encode())
        shown += terminal.read_until(None)
        assert terminal.process.wait() == 0
    assert f"Make a token at {arena_site.url}/account and paste it here" in shown
    assert "You are signed in" in shown
    assert (kept(arena_site), token in shown) == (token, False)


def test_ctrl_c_ends_the_question_quietly(arena_site, arena, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("click.termui.hidden_prompt_func", interrupted)
    code, out, err = arena("login", arena_site.url)
    assert (code, out, err.splitlines()[1:]) == (130, "", [""])
    assert Credentials().all() == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("login", "arena.example.org"), "site 'arena.example.org': expected an address such as https://"),
        (("login", "http://192.168.0.7"), "could read the token; expected https://, or --plain-http"),
        (("login", "https://a", "--token", "arena_x"), "--token: expected -, and the token on stdin"),
        (("logout", "x\x1b[2Jy"), "site 'x\\x1b[2Jy': expected an address"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(arena, words, sentence):
    assert sentence in refusal(arena, *words)


def test_a_site_that_is_away_is_exit_code_1(arena, port, monkeypatch):
    typed(monkeypatch, new_token().encode())
    code, out, err = arena("login", f"http://127.0.0.1:{port}")
    assert (code, out) == (1, "")
    assert err == f"arena: http://127.0.0.1:{port}: nothing answers there (connection refused)\n"


def test_what_a_hostile_site_says_does_nothing_to_the_terminal(arena, monkeypatch):
    typed(monkeypatch, new_token().encode())
    evil = response('{"error": "\x1b]0;x\x07\x1b[2J\u202eno\\u0000\\n\\u2028"}'.encode(), status="400 No")
    with hostile(saying(evil)) as url:
        assert refusal(arena, "login", url).isprintable()


def client_of(url, token=None):
    return SiteClient(site_address(url), token)


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
