import io
import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from arena.base.errors import SiteError
from arena.cli.group import run
from arena.cli.remote import submit_command
from arena.cli.remote.credentials import Credentials, site_address
from arena.cli.remote.site_client import SiteClient, account_of, end_token
from arena.community.play.host_program import playable_game
from arena.community.submissions.checker import Checker
from arena.community.submissions.upload_directory import Containment, UploadDirectory
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.store.home import ArenaHome
from arena.store.people.secret import new_token
from tests import needs
from tests.cli.calls import as_json, called, ended, printed_alone, refusal, shown
from tests.cli.remote.conftest import answering, hostile, response, saying
from tests.cli.typed_terminal import arena_at_a_terminal
from tests.community.submissions.test_checker import BROKEN, GOOD
from tests.docs.test_data_page import is_of, sections


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
    sentence = r"You are signed in at SITE as ada \(author\), until 20\d\d-\d\d-\d\d; scopes: read, submit\.\n"
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
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("click.termui.hidden_prompt_func", Mock(side_effect=KeyboardInterrupt))
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
        f"http://{address}: nobody can sign in there; its operator can change that: arena serve --open-to authors"
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
    assert str(caught.value) == f"{url}: this machine does not trust its certificate (self-signed certificate)"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert client_of(url).get_json("/x") == {"a": 1}
    other = url.replace("127.0.0.1", "localhost")
    with pytest.raises(SiteError, match=r"does not trust its certificate .*mismatch.*'localhost'"):
        client_of(other).get_json("/x")


TAKEN = '{"to": "/submissions/1"}'


@pytest.fixture
def command(arena_site, capsys, monkeypatch):
    enough = Containment(True, "of a test", None)
    monkeypatch.setattr("arena.server.operations.opened_people.can_contain_uploads", lambda: enough)
    monkeypatch.setenv("ARENA_TOKEN", arena_site.token("submit", "read"))

    def call(*arguments):
        code = run(["submit", *map(str, arguments)])
        return code, *capsys.readouterr()  # in stdout the traceback of a bot may stand

    return call


@pytest.fixture
def checking(arena_site, tmp_path):
    directory, is_over = tmp_path / "home", threading.Event()

    def check():
        with ArenaHome(directory) as home:
            checker = Checker(home, arena_site.people, UploadDirectory(directory / "uploads"))
            while not is_over.wait(0.05):
                checker.check_next()

    thread = threading.Thread(target=check)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.mark.slow(sample=True)
@pytest.mark.usefixtures("checking")
def test_a_good_bot_is_accepted_and_the_same_again_is_the_same(command, arena_site, tmp_path):
    (tmp_path / "first.py").write_bytes(GOOD)
    for _ in range(2):
        out = printed_alone(command, tmp_path / "first.py", "--to", arena_site.url, "--note", "mine")
        assert out.splitlines()[0].endswith(f"{arena_site.url}/submissions/1")
        assert out.splitlines()[-1] == "first@1 is accepted"
    assert arena_site.people.submissions.find(1).note == "mine"
    assert arena_site.people.submissions.find(2) is None


@pytest.mark.usefixtures("checking")
def test_the_author_of_a_broken_bot_sees_the_line(command, arena_site, tmp_path):
    (tmp_path / "first.py").write_bytes(BROKEN)
    out, err = ended(command, 1, tmp_path / "first.py", "--to", arena_site.url)
    assert '\n  File "first.py", line 4, in choose\n    return game.' in out  # indented, as Python wrote it
    assert err.startswith("arena: submission 1 is rejected: first@1 is rejected: in ")
    out = shown(command, 1, tmp_path / "first.py", "--to", arena_site.url, "--json")
    assert json.loads(out)["state"] == "refused"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("first.py", "--note", "x"), "expected --to URL"),
        (("first.py", "--to", "nowhere", "--game", "hex:Hex"), "the site at --to decides"),
        (("first.py", "--to", "nowhere"), "nowhere"),
        (("nothing.py", "--to", "{url}"), "nothing.py"),
        (("empty.py", "--to", "{url}"), "the upload is empty"),
    ],
)
def test_wrong_use_is_one_sentence(command, arena_site, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.py").write_bytes(GOOD)
    (tmp_path / "empty.py").touch()
    words = (text.format(url=arena_site.url) for text in arguments)
    assert sentence.lower() in refusal(command, *words).lower()


def test_a_token_that_may_not_submit_is_refused(command, arena_site, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_TOKEN", arena_site.token("read"))
    (tmp_path / "first.py").write_bytes(GOOD)
    sentence = refusal(command, tmp_path / "first.py", "--to", arena_site.url)
    assert "may not do this; make one with the scope submit on your account page" in sentence


def taking_good(answers):
    """Return a server that reads the good bot, and answers with these bodies, one after the other."""
    left = list(answers)

    def answer(handler, head):
        if head.startswith("POST"):
            handler.rfile.read(len(GOOD))
        handler.wfile.write(response(left.pop(0).encode()))

    return answer


@pytest.mark.parametrize(
    "answers",
    [
        *(['{"to": "/elsewhere"}'], ['{"to": "//evil/submissions/1"}'], [TAKEN, "{}"]),
        [TAKEN, '{"line": {"state": "odd"}, "details": {"report": "", "reason": ""}}'],
        [TAKEN, '{"line": {"state": "accepted", "bot": 5}, "details": {"report": "", "reason": ""}}'],
        [TAKEN, '{"line": {"state": "accepted"}, "details": null}'],
    ],
)
def test_what_answers_is_no_arena(command, tmp_path, answers):
    (tmp_path / "first.py").write_bytes(GOOD)
    with hostile(taking_good(answers)) as url:
        code, _, err = command(tmp_path / "first.py", "--to", url)
    assert code == 2
    assert "no arena" in err


def test_what_a_compiler_says_keeps_its_lines(command, tmp_path):
    (tmp_path / "first.py").write_bytes(GOOD)
    reason = "its build failed: gcc main.c\n  main.c:3:5: error: expected ';'\n      3 |     x\n        |     ^"
    for report in ("", f"a@1: copied\n{reason}"):
        value = {"line": {"state": "refused", "bot": "a@1"}, "details": {"report": report, "reason": reason}}
        with hostile(taking_good([TAKEN, json.dumps(value)])) as url:
            code, out, err = command(tmp_path / "first.py", "--to", url)
        assert code == 1
        assert "is rejected: its build failed: gcc main.c\n" in err
        assert (out + err).count("main.c:3:5: error: expected ';'") == 1


def test_what_a_site_says_can_do_nothing_to_a_terminal(command, tmp_path):
    (tmp_path / "first.py").write_bytes(GOOD)
    details = {"report": "one\x1b]0;x\x07\ntwo\u202e", "reason": "no\x1b[31m"}
    value = {"line": {"state": "refused", "bot": "a\x1b[2J@1"}, "details": details}
    with hostile(taking_good([TAKEN, json.dumps(value)])) as url:
        code, out, err = command(tmp_path / "first.py", "--to", url)
    assert code == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)


# ``arena challenge RIVAL --mine NAME --at URL``: asked for, waited for, and printed


@pytest.fixture
def challenge(arena_site, capsys, monkeypatch):
    monkeypatch.setenv("ARENA_TOKEN", arena_site.token("submit", "read"))
    bots = (PlayableBot(name="arena:greedy", label="greedy@1"), PlayableBot(name="mine@1", label="mine@1"))
    menu = PlayMenu(games=(playable_game("differences"),), bots=bots, slots=4)
    arena_site.people.unrated_matches.set_menu(menu.model_dump_json(), 4)
    assert arena_site.people.submissions.own_bot_name(arena_site.ada.number, "mine")
    usual = ("--at", arena_site.url, "--game", "differences", "--mine", "mine")
    return lambda *arguments: called(capsys, "challenge", *usual, *arguments)


@pytest.mark.parametrize(("arguments", "seats"), [((), {0, 1}), (("--one-match",), {0})])
def test_it_waits_for_the_matches_and_prints_how_they_ended(challenge, arena_site, monkeypatch, arguments, seats):
    matches = arena_site.people.unrated_matches

    def play(_):
        for number in matches.waiting():
            matches.end(number, "mine@1 wins 3 : 1.")

    monkeypatch.setattr(submit_command.time, "sleep", play)
    rows = json.loads(printed_alone(challenge, "greedy", *arguments, "--json"))
    assert {row["seat"] for row in rows} == seats
    promised = sections()[("arena challenge",)]
    for row in rows:
        assert row.keys() == promised.keys() and all(is_of(row[field], promised[field]) for field in row)
    ended = {(row["challenger"], row["bot"], row["outcome"]) for row in rows}
    assert ended == {("mine@1", "arena:greedy", "mine@1 wins 3 : 1.")}
    assert all(row["page"].startswith(f"{arena_site.url}/play/") for row in rows)


def test_what_can_not_be_is_one_sentence(challenge, arena_site):
    assert "bot 'nobody'" in refusal(challenge, "nobody").lower()
    assert "Missing argument" in refusal(challenge)


@pytest.mark.parametrize("change", [None, {"address": "@evil.example.org/"}, {"plies": -1}, {"seat": "0"}])
def test_what_are_no_challenges_is_one_sentence(capsys, monkeypatch, change):
    monkeypatch.setenv("ARENA_TOKEN", new_token())
    own = {"challenger": "a", "bot": "b", "game": "g", "seat": 0, "state": "over", "plies": 3, "outcome": ""}
    answer = {"own": [] if change is None else 2 * [own | {"address": "/play/1"} | change]}
    with hostile(saying(response(json.dumps(answer).encode()))) as url:
        code, out, err = called(capsys, "challenge", "b", "--mine", "a", "--game", "g", "--at", url)
    assert (code, out) == (2, "")
    assert err == f"arena: {url}: what answers there is no arena, or one of another version\n"
