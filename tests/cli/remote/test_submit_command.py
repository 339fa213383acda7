"""``arena submit PATH --to URL``: submitted, followed, decided."""

import json
import threading

import pytest

from arena.cli.group import run
from arena.cli.remote import submit_command
from arena.community.play.host_program import playable_game
from arena.community.submissions.checker import Checker
from arena.community.submissions.upload_directory import Containment, UploadDirectory
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.store.home import ArenaHome
from tests.cli.calls import called, printed_alone, refusal, shown
from tests.cli.remote.conftest import hostile, response
from tests.community.submissions.test_checker import BROKEN, GOOD
from tests.docs.test_data_page import is_of, sections

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
    """A checker at work."""
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
    code, out, err = command(tmp_path / "first.py", "--to", arena_site.url)
    assert code == 1
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
    value = {"line": {"state": "refused", "bot": "a@1"}, "details": {"report": "", "reason": reason}}
    with hostile(taking_good([TAKEN, json.dumps(value)])) as url:
        code, _, err = command(tmp_path / "first.py", "--to", url)
    assert code == 1
    assert err.endswith(f"is rejected: {reason}\n")


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
    out = printed_alone(challenge, "greedy", *arguments, "--json")
    rows = json.loads(out)
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
