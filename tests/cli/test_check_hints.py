import json
import os
import sys
import sysconfig
from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.analysis.text.transcript import show_message
from arena.base.enums import FaultKind
from arena.base.records import Bot, Fault
from arena.cli.group import run
from arena.cli.terminal.common import alarming
from arena.match.players.diagnosis import Failure, hint_for
from benchmarks import zoo_bots as zoo
from tests import needs

KIT = "from arena.botkit import run\n\n\n"
FIRST = "    return game.legal_actions(state)[0]"
ELF = bytearray(64)
ELF[:20] = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0" + b"\xf3\0"  # for RISC-V


def with_kit(body=FIRST, head="", signature="game, state, clock", end="\n\nrun(choose)\n"):
    return "bot.py", f"{KIT}{head}def choose({signature}):\n{body}{end}"


READY = "import os\nos.write(1, bytes.fromhex('0000001682a474797065a57265616479a870726f746f636f6c01'))\n"

SWAPPED, TWICE = READY.replace("00000016", "16000000"), f"{READY}{READY}import time\ntime.sleep(1)\n"

FIRST_BOTS = {
    "nothing is returned": (with_kit("    best = game.legal_actions(state)[0]"), "choose returned nothing"),
    "run is not called": (with_kit(end="\n"), "does its last line call run(choose)?"),
    "no Python": (with_kit(signature="game, state clock"), "bot.py, line 4 is not Python (invalid syntax)"),
    "no indent": (with_kit(FIRST.strip()), "bot.py, line 5 is not Python (expected an indented block"),
    "a missing module": (with_kit(head="import no_such_thing\n"), f"{sys.executable} has no module 'no_such_thing'"),
    "a second file": (with_kit(head="import beside\n"), "a bot that is a single file can read no other"),
    "an unknown name": (with_kit("    return scores[0]"), "raised NameError at bot.py, line 5: name 'scores'"),
    "two arguments": (with_kit(signature="game, state"), "choose is called with (game, state, clock)"),
    "a sleep": (with_kit(f"    time.sleep(3)\n{FIRST}", head="import time\n"), "it sleeps or waits in choose"),
    "a text": (with_kit("    return 'c4'"), "game.parse_action(text) turns it into an action"),
    "always the same": (with_kit("    return [1, 1]"), "take one from game.legal_actions(state)"),
    "no plain list": (with_kit("    return {1, 2}"), "an action is made of plain numbers and lists"),
    "a file that is not there": (with_kit(head="open('weights.bin')\n"), "there is no file 'weights.bin'"),
    "the network": (
        with_kit(head="import urllib.request\nurllib.request.urlopen('http://localhost:9/')\n"),
        "bots have no network",
    ),
    "too much memory": (with_kit(head="x = bytearray(1 << 33)\n"), "it asked for more memory than it may have"),
    "printing": (("bot.py", "print('c4', flush=True)\nimport time\ntime.sleep(2)\n"), "printed text ('c4')"),
    "lines in UTF-8": (("bot.py", "import sys\nfor line in sys.stdin: print(1)\n"), "messages are no lines"),
    "lines of text": (("bot.py", "while True:\n    open(0, encoding='ascii').read(8)\n"), "messages are bytes"),
    "lowest byte first": (("bot.py", SWAPPED), "highest first (big-endian); read so, these say 369098752, and"),
    "an answer too many": (("bot.py", TWICE), "answer hello with one ready and each act with one action"),
    "one answer": (("bot.py", READY), "came to its end in the middle of a match"),
    "no interpreter": (("bot.sh", "#!/usr/bin/pythn3\n"), "there is no such interpreter on this machine"),
    "ends of lines": (("bot.sh", "#!/bin/sh\r\necho\r\n"), "has the line ends of Windows"),
    "ends of lines, by env": (("bot.sh", "#!/usr/bin/env python3\r\n"), "has the line ends of Windows"),
    "no interpreter, by env": (("bot.sh", "#!/usr/bin/env pythn3\n"), "there is no such interpreter on this machine"),
    "no first line": (("bot.sh", "echo ready\n"), "needs a first line that names its interpreter"),
    "a script that echoes": (("bot.sh", "#!/bin/sh\necho ready\n"), "the bot printed text ('ready')"),
    "another machine": (("bot", bytes(ELF)), "is compiled for another machine than this one"),
    "a crash": (("bot.py", "import ctypes\n\nctypes.string_at(0)\n"), "crashed in native code"),
}


@pytest.fixture
def check(tmp_path, capfd, monkeypatch):
    """Return a function that writes a bot as its author would, checks it, and returns (exit code, stdout)."""
    monkeypatch.setenv("COLUMNS", "80")
    directory = tmp_path / "bots"
    directory.mkdir()
    (directory / "beside.py").write_text("")

    def call(name, contents, *options):
        path = directory / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        path.chmod(0o755)
        home = str(tmp_path / "home")
        code = run(["check", str(path), "--game", "differences", "--seconds", "0.3", "--home", home, *options])
        out, errors = capfd.readouterr()
        assert errors == ""
        return code, out

    return call


def unwrapped(text):
    return " ".join(text.split())


SLOW = "a sleep,a text,always the same,no plain list,nothing is returned,one answer"
SLOW += ",too much memory,two arguments"


@pytest.mark.slow(only=tuple(SLOW.split(",")))
@pytest.mark.parametrize("mistake", [mistake for mistake in FIRST_BOTS if mistake != "an unknown name"])
def test_the_author_is_told_what_to_change(check, mistake):
    told_what_to_change(check, mistake)


def told_what_to_change(check, mistake):
    (name, contents), message = FIRST_BOTS[mistake]
    code, out = check(name, contents)
    assert code == 1
    assert message in unwrapped(out[out.index("to fix it:") :])
    assert max(map(len, out.splitlines())) <= 80
    assert "arena/botkit" not in out, "these lines are not the author's"
    assert ("     0000  " in out) == (KIT not in str(contents) and "sent:" in out), "bytes are for those who write them"
    return out


def test_who_has_a_module_in_an_environment_beside_the_bot_is_told_why_it_is_not_found(check, tmp_path):
    (tmp_path / "bots" / ".venv").mkdir()
    out = told_what_to_change(check, "a missing module")
    assert "among the bot's files; .venv is no part of a bot (docs/dependencies.md). Install it" in unwrapped(out)


def test_two_messages_are_not_called_half_a_one():
    one = bytes.fromhex("0000000181")
    assert show_message(one + one) == "more than one message: 10 bytes, of which the first four announce 1"
    assert show_message(one[:4]) == "not a whole message: 4 bytes, of which the first four announce 1"


@pytest.mark.slow
def test_bytes_are_shown_on_demand(check):
    out = check(*FIRST_BOTS["nothing is returned"][0], "--bytes")[1]
    assert '"type": "act"' in out
    assert "0000  00 00 00" in out


@pytest.mark.slow
def test_the_same_failure_is_explained_once_and_its_steps_are_named_together(check):
    out = told_what_to_change(check, "an unknown name")
    assert out.count("NameError: ") == 1
    assert out.count("to fix it:") == 1
    together = unwrapped(out)
    assert "3-10 FAILED like step 2, also in: plays differences in seat 1; " in together
    assert "; keeps its time beside 2 busy programs on its core 11 ok" in together
    assert "3 of 12 steps passed" in out
    program, message = FIRST_BOTS["an unknown name"]
    steps = [json.loads(line) for line in check(*program, "--json")[1].splitlines()]
    assert [step["is_passed"] for step in steps[:3]] == [True, False, False]
    assert message in steps[1]["hint"] == steps[2]["hint"]


@pytest.mark.slow
def test_a_bot_that_goes_by_its_cpu_time_is_told_so_beside_busy_programs(check):
    """Where it waits for most of its time: the step itself takes the processor from the bot."""
    busy = "    start = time.process_time()\n    while time.process_time() < start + 0.5:\n        pass\n"
    out = unwrapped(check(*with_kit(busy + FIRST, "import time\n"), "--seconds", "0.6")[1])
    beside = out[out.index("keeps its time beside 2 busy programs") :]
    if "s of that for the processor" not in beside[:200]:
        pytest.skip("the machine gave the bot half of the processor all the same")
    assert "not by CPU time or an amount of work" in beside and "machine is idle" not in beside


@pytest.mark.slow(sample=True)
def test_a_failure_with_an_option_at_its_bound_names_the_option(check):
    code, out = check(*with_kit(f"    assert game.options['scoring'] == 'distinct'\n{FIRST}"))
    assert code == 1
    assert "FAILED plays differences with scoring = once in seat 0: exit fault at ply 0" in unwrapped(out)
    assert "11 of 12 steps passed" in out


@pytest.mark.slow
def test_different_failures_are_explained_each(check):
    _, out = check(*with_kit("    return [1, 1] if game.options['size'] > 2 else None"))
    assert out.count("to fix it:") == 2


@pytest.mark.slow
def test_nobody_who_broke_a_limit_is_said_to_stay_inside(tmp_path, capfd):
    code = run(["check", str(zoo.bad_bot("huge_note")), "--game", "differences", "--home", str(tmp_path)])
    out = unwrapped(capfd.readouterr().out)
    assert code == 1
    assert "limit fault" in out
    assert "ok stays inside its limits" not in out
    assert "stays inside its limits" in out[out.index("also in") :]


@pytest.mark.parametrize(
    ("environment", "is_red"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_there_are_colours_where_nobody_minds(monkeypatch, environment, is_red):
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[31m" in alarming("FAILED")) == is_red


# what takes too long to be waited for


def failing(kind, detail, ply=4, **seen):
    plain = Bot(name="plain", version="1", command=("/bin/cat",), directory="/nowhere")
    return Failure(plain, Fault(seat=0, kind=FaultKind(kind), ply=ply, detail=detail), **seen)


NOT_READY, NO_ANSWER = "before it was ready: no answer within 10.000 s", "no answer within 1.1 s"
BEGUN = b"\0\0\0\x1c\x83"
NO_SEMAPHORE = "  sl = SemLock(\nPermissionError: [Errno 13] Permission denied"
NODE = "/nowhere/bot.js:3\nconst best = ;\n             ^\n\n{}\n    at node:internal/modules/cjs/loader:1378:20\n"
JAVA = (
    'Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 5\n'
    "\tat java.base/java.util.Arrays.get(Arrays.java:99)\n\tat Bot.choose(Bot.java:12)\n\tat Bot.main(Bot.java:40)\n"
)
NO_PROGRAM = "python3: can't open file '/nowhere/bot.py': [Errno 2] No such file or directory"
NOTHING_YET, TORCH = {"cpu_seconds": 0.0, "waited_seconds": 1.1}, "ModuleNotFoundError: No module named 'torch'"
CAUSES = [
    ("start", NOT_READY, {"cpu_seconds": 0.02, "waited_seconds": 10.0}, "it hardly used the processor, so it waits"),
    ("start", NOT_READY, {"cpu_seconds": 9.0, "waited_seconds": 10.0}, "at work all that time before it was ready"),
    ("timeout", NO_ANSWER, NOTHING_YET | {"received": BEGUN}, "an answer began and was not finished"),
    ("timeout", NO_ANSWER, {"cpu_seconds": 1.0, "waited_seconds": 1.1}, "it was at work all that time"),
    ("exit", "the bot exited: signal SIGSYS", {}, "a system call that bots may not make"),
    ("exit", "the bot exited", {"stderr": "terminate called: 'std::bad_alloc'"}, "more memory than it may have"),
    ("exit", "…", {"stderr": NO_SEMAPHORE}, "need /dev/shm"),
    ("exit", "…", {"stderr": f"ModuleNotFoundError: No module named '{'x' * 5000}'"}, "Install it there"),
    ("exit", "…", {"stderr": TORCH, "is_submitted": True}, "Submit it with the bot, as docs/dependencies.md says"),
    ("exit", "…", {"stderr": "FileNotFoundError: 'a\0b'"}, "there is no file"),
    ("start", "…", {"stderr": NO_PROGRAM}, "there is no file 'bot.py' in /nowhere: correct the command"),
    ("start", "…", {"stderr": NO_PROGRAM, "is_submitted": True}, "no file 'bot.py' among the bot's files: correct"),
    ("timeout", "no answer", {}, "flush after every message"),
    ("timeout", f"{NO_ANSWER}; it waited 0.900 s of that for the processor", NOTHING_YET, "other programs of this"),
    ("start", "…", {"stderr": NODE.format("SyntaxError: Unexpected token ';'")}, "bot.js, line 3 is not JavaScript"),
    ("exit", "…", {"stderr": NODE.format("TypeError: x is no f")}, "raised TypeError at bot.js, line 3: x is no f"),
    ("exit", "…", {"stderr": JAVA}, "raised ArrayIndexOutOfBoundsException at Bot.java, line 12: Index 5 out"),
]


@pytest.mark.parametrize(("kind", "detail", "seen", "message"), CAUSES)
def test_a_cause_is_told_from_what_was_seen(kind, detail, seen, message):
    assert message in hint_for(failing(kind, detail, ply=0 if kind == "start" else 4, **seen))


@pytest.mark.parametrize(
    ("command", "build", "message"),
    [
        ("python3 bot.py", (), "takes each word by itself: command = ['python3', 'bot.py', '--fast']"),
        ("/nowhere/build/bot", ("make",), "the build made no build/bot: let it write the program there"),
        ("python4", (), "there is no program 'python4' on PATH"),
    ],
)
def test_who_names_no_program_is_told_what_to_name(command, build, message):
    failure = failing("start", f"{command} can't be executed: No such file or directory")
    bot = replace(failure.bot, command=(command, "--fast"), build=build)
    assert message in hint_for(failure._replace(bot=bot))


@needs.program("/usr/bin/python3")
def test_another_interpreter_is_named(check, tmp_path):
    if "/usr/bin/python3" in (sys.executable, os.path.realpath(sys.executable)) or not sysconfig.get_path("purelib"):
        pytest.skip("needs an interpreter other than /usr/bin/python3")
    code, out = check("bot.sh", "#!/bin/sh\nexec /usr/bin/python3 -c 'import arena.botkit'\n")
    assert code == 1
    assert "no module 'arena'" in unwrapped(out)
