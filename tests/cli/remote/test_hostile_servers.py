import contextlib
import io
import json
import socket
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.base.errors import ArenaError, SiteAwayError, SiteError, UsageError
from arena.cli.remote import exchange as exchange_module
from arena.cli.remote.credentials import site_address
from arena.cli.remote.exchange import exchange
from arena.cli.remote.site_client import SiteClient, account_of
from arena.store.people.secret import new_token
from tests.cli.remote.conftest import hostile, noting, response, saying


def asked(url, path="/account", token=None):
    return SiteClient(site_address(url), token).get_json(path)


def sentence_of(answer, call=asked):
    with hostile(answer) as url, pytest.raises(ArenaError) as caught:
        call(url)
    sentence = str(caught.value).replace(url, "SITE")
    assert sentence.startswith("SITE: ")
    assert sentence.isprintable()
    return type(caught.value), sentence


NO_ARENA = (SiteError, "SITE: what answers there is no arena, or one of another version")
CLOSED = (SiteAwayError, "SITE: the connection was closed before the answer was complete")
NO_HTTP = (SiteError, "SITE: the program that answers there is no arena: it does not speak HTTP")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", CLOSED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{}", CLOSED),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", CLOSED),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NO_HTTP),
        (b"HTTP/1.1 200 OK\r\n" + 101 * b"X: 1\r\n" + b"\r\n", NO_HTTP),
        (b"HTTP/1.1 200 OK\r\nX: " + 70_000 * b"1", NO_HTTP),
        (response(b"<html>", kind="text/html"), NO_ARENA),
        (response(b""), NO_ARENA),
        (response(b"[]"), NO_ARENA),
        (response(b"\xff"), NO_ARENA),
        (response(b"[" * 100_000), NO_ARENA),
        (response(b'{"a": ' + 5000 * b"1" + b"}"), NO_ARENA),
        (response(status="404 Not Found"), NO_ARENA),
        (response(b'{"error": 1}', status="400 Bad"), NO_ARENA),
        (response(status="401 Unauthorized"), (SiteError, "SITE: it answers with 401")),
        (response(status="502 Bad Gateway", kind="text/html"), (SiteAwayError, "SITE: it answers with 502")),
        (
            response(b'{"error": "Only who has signed in\\u001b[2J may\\n do\\u202e this."}', status="403 No"),
            (SiteError, "SITE: Only who has signed in\ufffd[2J may do\ufffd this."),
        ),
    ],
)
def test_what_is_no_answer_of_an_arena_is_one_sentence(data, expected):
    assert sentence_of(saying(data)) == expected


def test_sentences_and_answers_are_read_no_further_than_their_bounds():
    body = json.dumps({"error": 10_000 * "x y"}).encode()
    _, sentence = sentence_of(saying(response(body, status="400 No")))
    assert 500 < len(sentence) < 700
    sent = []

    def endless(handler, _, header="Content-Type: application/json", begin="{"):
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{header}\r\n\r\n{begin}".encode())
        while True:
            handler.wfile.write(2**16 * b" ")
            sent.append(2**16)

    assert sentence_of(endless) == (SiteError, "SITE: it answers with more than 4,194,304 bytes; no arena does")
    assert sum(sent) < 16 * 2**20
    sent.clear()
    assert sentence_of(lambda handler, _: endless(handler, _, "Transfer-Encoding: chunked", "-1\r\n")) == NO_HTTP
    assert sum(sent) < 32 * 2**20
    declared = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n" + 2**23 * b" "
    assert sentence_of(saying(declared))[1] == "SITE: it answers with more than 4,194,304 bytes; no arena does"


CONTINUE, BODY = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"


@pytest.mark.parametrize(
    ("begin", "piece"),
    [(b"", b"1"), (b"HTTP/1.1 200 OK\r\nX: ", b"1"), (BODY, b"1"), (b"", CONTINUE)],
    ids=["status", "header", "body", "interim responses"],
)
def test_who_sends_a_piece_now_and_then_is_given_up(begin, piece):
    ended = threading.Event()

    def drip(handler, _):
        try:
            handler.wfile.write(begin)
            while True:
                handler.wfile.write(piece)
                time.sleep(0.05)
        finally:
            ended.set()

    call = lambda url: exchange(site_address(url), "GET", "/", {}, reply_seconds=0.3)  # noqa: E731
    assert sentence_of(drip, call) == (SiteAwayError, "SITE: it does not answer in time")
    assert ended.wait(30), "the connection was closed"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Same", "308 Same"])
def test_no_redirect_is_followed_and_no_token_goes_elsewhere(status):
    heads = []
    with hostile(lambda handler, head: heads.append(head)) as elsewhere:
        moved = response(status=status, headers=[f"Location: {elsewhere}/account"])
        kind, sentence = sentence_of(saying(moved), lambda url: asked(url, token=new_token()))
    assert kind is SiteError
    message = "redirects are not followed, so give that address if it is right"
    assert sentence == f"SITE: it leads to '{elsewhere}/account'; {message}"
    assert heads == []


def test_what_is_asked_can_not_become_another_header():
    heads = []
    with hostile(noting(heads)) as url:
        client = SiteClient(site_address(url), "x")
        assert client.get_json("/bots/a b\r\nX-Evil: 1", note="1\r\nX-Evil: 2 &x=1") == {}
        assert client.post_json("/x", {"a": "\r\n"}) == {}
    first, second = heads
    assert first.startswith("GET /bots/a%20b%0D%0AX-Evil%3A%201?note=1%0D%0AX-Evil%3A+2+%26x%3D1 HTTP/1.1\r\n")
    for head in heads:
        names = [line.split(":")[0] for line in head.splitlines()[1:]]
        assert len(names) == len(set(names))
        assert "X-Evil" not in names
    assert "Authorization: Bearer x\r\n" in first
    assert "Content-Length: 13\r\n" in second  # {"a": "\r\n"}


def test_a_host_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=socket.gaierror(-2, "Name or service not known")))
    with pytest.raises(SiteAwayError) as caught:
        asked("https://arena.example.org")
    assert str(caught.value) == ("https://arena.example.org: its host can't be found (Name or service not known)")


def test_a_server_without_encryption_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            connection, _ = listening.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(SiteError) as caught:
            asked(f"https://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()
    assert "the encrypted connection failed" in str(caught.value)


TOKEN = {"is_this": True, "scopes": ["read"], "expires_at": "2027-01-01T00:00:00+00:00"}
ACCOUNT = {"name": "ada", "role": "author", "tokens": [TOKEN]}


@pytest.mark.parametrize(
    "change",
    [
        {"name": None}, {"name": 1}, {"name": ""}, {"name": 301 * "x"}, {"name": "a\x1b[2J"}, {"role": []},
        {"tokens": None}, {"tokens": []}, {"tokens": [1]}, {"tokens": [{}]}, {"tokens": 1001 * [{}]},
        {"tokens": [TOKEN | {"is_this": 1}]}, {"tokens": [TOKEN | {"scopes": [1]}]},
        {"tokens": [TOKEN | {"scopes": 51 * ["x"]}]}, {"tokens": [TOKEN | {"expires_at": "\u202e"}]},
    ],
)  # fmt: skip
def test_an_account_that_is_none_is_one_sentence(change):
    call = lambda url: account_of(SiteClient(site_address(url)))  # noqa: E731
    assert sentence_of(saying(response(json.dumps(ACCOUNT | change).encode())), call) == NO_ARENA


def test_what_a_newer_arena_adds_is_left_alone():
    with hostile(saying(response(json.dumps(ACCOUNT | {"more": 1}).encode()))) as url:
        account = account_of(SiteClient(site_address(url)))
    assert (account.name, account.role, account.scopes) == ("ada", "author", ("read",))


def test_a_file_goes_up_piece_by_piece(monkeypatch):
    got, done = [], []

    def take(handler, head):
        size = int(head.split("Content-Length: ")[1].split("\r\n")[0])
        got.append((head.split("\r\n")[0], handler.rfile.read(size)))
        handler.wfile.write(response(b'{"bot": 7}'))

    class Pieces(io.BytesIO):
        def read(self, size):
            done.append(size)
            return super().read(size)

    data = bytes(range(256)) * 600
    with hostile(take) as url:
        client = SiteClient(site_address(url), "x")
        answer = client.upload("/submissions", Pieces(data), len(data), name="a&b")
    assert answer == {"bot": 7}
    assert got == [("POST /submissions?name=a%26b HTTP/1.1", data)]
    assert done == [65536, 65536, 22528]


def test_an_upload_that_is_rejected_early_says_why():
    def refuse(handler, _):
        handler.wfile.write(response(b'{"error": "At most 8 MiB."}', status="413 Too Large"))
        handler.connection.shutdown(socket.SHUT_WR)
        handler.rfile.read(2**20)  # the rest is not read

    big = 64 * 2**20

    class Zeros:
        def read(self, size):
            return bytes(size)

    def send(url):
        SiteClient(site_address(url)).upload("/x", Zeros(), big)

    kind, sentence = sentence_of(refuse, send)
    assert (kind, sentence) in [(SiteError, "SITE: At most 8 MiB."), CLOSED]  # a reset may overtake the sentence


def test_a_file_that_became_shorter_is_one_sentence():
    with hostile(lambda handler, _: handler.rfile.read()) as url, pytest.raises(UsageError) as caught:
        SiteClient(site_address(url)).upload("/x", io.BytesIO(b"abc"), 4)
    assert str(caught.value) == "the file became shorter while it was sent; try again"


def test_a_reader_of_uploads_that_stalls_is_given_up(monkeypatch):
    monkeypatch.setattr(exchange_module, "PIECE_SECONDS", 0.3)
    over = threading.Event()

    def send(url):
        try:
            SiteClient(site_address(url)).upload("/x", io.BytesIO(bytes(2**26)), 2**26)
        finally:
            over.set()

    stalled = lambda *_: over.wait(30)  # noqa: E731
    assert sentence_of(stalled, send) == (SiteAwayError, "SITE: it does not answer in time")


def test_plain_requests_go_through_the_proxy_with_the_whole_address(monkeypatch):
    heads = []
    with hostile(noting(heads)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.replace("://", "://ada:x@"))
        assert SiteClient(site_address("http://far.example:8000", may_be_plain=True)).get_json("/x") == {}
    assert heads[0].startswith("GET http://far.example:8000/x HTTP/1.1\r\nHost: far.example:8000\r\n")
    assert "Proxy-Authorization: Basic YWRhOng=\r\n" in heads[0]


def test_encrypted_requests_go_through_a_tunnel_that_knows_no_token(monkeypatch):
    heads = []
    with hostile(noting(heads, b"HTTP/1.1 407 Proxy\x1b[2J Authentication Required\r\n\r\n")) as proxy:
        monkeypatch.setenv("https_proxy", proxy)
        with pytest.raises(SiteAwayError) as caught:
            asked("https://far.example", token="secret")
    assert heads[0].startswith("CONNECT far.example:443 HTTP/1.")
    assert "secret" not in heads[0]
    assert "(through the proxy 127.0.0.1:" in str(caught.value)
    assert "407" in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_proxy_whose_head_does_not_end_is_given_up(monkeypatch):
    def drip(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"X: 1\r\n")
            time.sleep(0.05)

    monkeypatch.setattr(exchange_module, "CONNECT_SECONDS", 0.3)
    with hostile(drip) as proxy, pytest.raises(SiteAwayError, match="it does not answer in time"):
        monkeypatch.setenv("https_proxy", proxy)
        asked("https://far.example")


def open_sockets():
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(descriptor.readlink()))
    return {name for name in found if name.startswith("socket:")}


def test_what_a_proxy_refuses_leaves_no_socket_open(monkeypatch):
    before = open_sockets()
    with hostile(saying(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")) as proxy:
        monkeypatch.setenv("https_proxy", proxy)
        with pytest.raises(SiteAwayError, match="403 Forbidden") as caught:
            SiteClient(site_address("https://far.example")).get_json("/account")
    while open_sockets() - before:  # the server's own is closed in a moment; the test's time limit ends the wait
        time.sleep(0.01)
    assert caught  # which keeps alive whatever was there
