"""``arena login`` and ``arena logout``: what is printed, and with which exit code."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest

from arena.client import program_login
from arena.client.credentials import Credentials, credentials_path
from arena.client.site_address import site_address
from arena.people.secret import new_token
from tests.cli.calls import called, refusal
from tests.client.conftest import hostile, response, saying


@pytest.fixture
def arena(capsys):
    return partial(called, capsys)


def typed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


@pytest.fixture
def confirming(arena_site, monkeypatch):
    """Somebody types the code while the program waits."""
    codes = []
    begin = program_login.begin_login

    def begun(client, scopes):
        shown = begin(client, scopes)
        codes.append(shown.code)
        return shown

    def confirm(*_):
        arena_site.people.device_logins.confirm(codes[-1], arena_site.ada)

    monkeypatch.setattr(program_login, "begin_login", begun)
    monkeypatch.setattr(program_login.Wait, "pause", confirm)
    return codes


def kept(arena_site):
    return Credentials().find(site_address(arena_site.url))


def test_it_shows_a_code_waits_and_says_as_whom(arena_site, arena, confirming):
    code, out, err = arena("login", arena_site.url)
    assert code == 0, err
    assert f"Open {arena_site.url}/programs and type the code\n\n    {confirming[0]}\n\n" in err
    sentence = out.replace(arena_site.url, "SITE")
    assert re.fullmatch(
        r"You are signed in at SITE as ada \(author\), until 20\d\d-\d\d-\d\d; good for: read, submit\.\n", sentence
    )
    assert kept(arena_site) not in out + err
    code, out, _ = arena("login", "--json")
    (row,) = json.loads(out)
    assert (code, row["site"], row["name"], row["scopes"]) == (0, arena_site.url, "ada", ["read", "submit"])


def test_signing_in_again_ends_the_earlier_token(arena_site, arena, confirming):
    assert arena("login", arena_site.url)[0] == 0
    first = kept(arena_site)
    assert arena("login", arena_site.url, "--scope", "play")[0] == 0
    assert kept(arena_site) != first
    assert len(arena_site.tokens()) == 1
    assert json.loads(arena("login", "--json")[1])[0]["scopes"] == ["play"]


def test_the_page_is_opened_if_that_is_wanted(arena_site, arena, confirming, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    assert arena("login", arena_site.url, "--open")[0] == 0
    assert opened == [f"{arena_site.url}/programs?code={confirming[0]}"]


def test_a_token_comes_from_stdin(arena_site, arena, monkeypatch):
    token = arena_site.token("read")
    typed(monkeypatch, f"{token}\n".encode())
    code, out, _ = arena("login", arena_site.url, "--token", "-")
    assert (code, "good for: read." in out) == (0, True)
    assert kept(arena_site) == token


@pytest.mark.parametrize("text", [b"", b"\n", b"x\n", b"\xff\xfe\n", 10_000 * b"x"])
def test_what_is_no_token_on_stdin_is_one_sentence(arena, monkeypatch, text):
    typed(monkeypatch, text)
    sentence = "--token -: there is no token on stdin; expected arena_ and 49 more characters"
    assert refusal(arena, "login", "http://127.0.0.1:1", "--token", "-") == sentence


def test_a_token_that_is_nobodys_is_not_kept(arena_site, arena, monkeypatch):
    typed(monkeypatch, new_token().encode())
    assert "The token is not right, or has expired" in refusal(arena, "login", arena_site.url, "--token", "-")
    assert not credentials_path().exists()


def test_logout_ends_the_token_there_and_forgets_it_here(arena_site, arena, confirming):
    arena("login", arena_site.url)
    assert arena("logout", f"{arena_site.url}/") == (0, f"You are signed out of {arena_site.url}.\n", "")
    assert (arena_site.tokens(), Credentials().all()) == ([], [])
    sentence = f"site '{arena_site.url}': you are not signed in there; arena login lists where you are"
    assert refusal(arena, "logout", arena_site.url) == sentence
    assert refusal(arena, "logout") == "you are signed in nowhere"
    assert arena("login")[1].endswith("You are signed in nowhere; sign in with: arena login URL\n")


def test_without_an_address_logout_needs_one_site_alone(arena_site, arena, confirming):
    arena("login", arena_site.url)
    Credentials().put(site_address("https://arena.example.org"), new_token())
    sentence = f"you are signed in at {arena_site.url}, https://arena.example.org; expected one of them"
    assert sentence in refusal(arena, "logout")
    Credentials().remove(site_address("https://arena.example.org"))
    code, out, _ = arena("logout", "--json")
    assert (code, json.loads(out)) == (0, {"site": arena_site.url, "has_ended": True})
    assert arena_site.tokens() == []


def test_a_token_that_has_ended_there_is_forgotten(arena_site, arena, confirming):
    arena("login", arena_site.url)
    (token,) = arena_site.people.tokens.all(arena_site.ada)
    arena_site.people.tokens.end(arena_site.ada, token.number)
    code, out, err = arena("login", "--json")
    assert (code, json.loads(out)[0]["name"]) == (1, None)
    assert "The token is not right, or has expired" in err
    assert arena("logout") == (0, f"You are signed out of {arena_site.url}.\n", "")


def test_a_token_that_can_not_be_ended_is_forgotten_and_said(arena, port):
    site = site_address(f"http://127.0.0.1:{port}")
    Credentials().put(site, new_token())
    assert arena("logout") == (
        1,
        "",
        f"arena: {site}: nothing answers there (connection refused); the token is removed here, but may still be good"
        f" for something: end it at {site}/account\n",
    )
    assert Credentials().all() == []


def test_a_token_in_the_environment_is_mentioned(arena, monkeypatch):
    monkeypatch.setenv("ARENA_TOKEN", new_token())
    _, _, err = arena("login")
    assert err == "arena: $ARENA_TOKEN is set, and is used in place of the tokens that are kept\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("login", "arena.example.org"), "site 'arena.example.org': expected an address such as https://"),
        (("login", "http://192.168.0.7"), "could read the token; expected https://, or --plain-http"),
        (("login", "https://a", "--token", "arena_x"), "--token: expected -, and the token on stdin"),
        (("login", "https://a", "--scope", "all"), "'all' is not one of 'read', 'submit', 'play', 'direct'"),
        (("logout", "x\x1b[2Jy"), "site 'x\\x1b[2Jy': expected an address"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(arena, words, sentence):
    assert sentence in refusal(arena, *words)


def test_a_site_that_is_away_is_exit_code_1(arena, port):
    code, out, err = arena("login", f"http://127.0.0.1:{port}")
    assert (code, out) == (1, "")
    assert err == f"arena: http://127.0.0.1:{port}: nothing answers there (connection refused)\n"


def test_a_file_that_others_can_read_is_refused_before_a_code_is_shown(arena, arena_site):
    Credentials().put(site_address("https://arena.example.org"), new_token())
    credentials_path().chmod(0o644)
    sentence = refusal(arena, "login", arena_site.url)
    assert sentence.endswith(f"others can read it; take that from them with: chmod 600 {credentials_path()}")


def test_what_a_hostile_site_says_does_nothing_to_the_terminal(arena):
    evil = response('{"error": "\x1b]0;x\x07\x1b[2J\u202eno\\u0000\\n\\u2028"}'.encode(), status="400 No")
    with hostile(saying(evil)) as url:
        assert refusal(arena, "login", url).isprintable()


def test_ctrl_c_ends_the_wait_quietly(arena_site):
    program = subprocess.Popen(
        [sys.executable, "-m", "arena", "login", arena_site.url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    )  # fmt: skip
    with program:
        killer = threading.Timer(60, program.kill)
        killer.start()
        line = program.stderr.readline()
        while "Ctrl-C" not in line:
            line = program.stderr.readline()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate()
        killer.cancel()
    assert (program.returncode, out, err) == (130, "", "\n"), "the line of the ^C ends"
    assert Credentials().all() == []
