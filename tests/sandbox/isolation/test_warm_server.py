import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.definition import bot_from_json, bot_identity, bot_to_json
from arena.base.enums import IsolationLevel
from arena.base.errors import ArenaError, BotError
from arena.base.records import DEFAULT_LIMITS, Bot, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.match.players.subprocess import Subprocess
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation import levels
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.sandbox_policy import make_launch_spec
from benchmarks.traces import traces, traces_since
from benchmarks.zoo_bots import judge, play_zoo_bot
from tests import needs
from tests.matches import small_match

FORKED_LEVELS = [IsolationLevel.NONE, IsolationLevel.LIMITS, IsolationLevel.LANDLOCK]
"""At bubblewrap a program has to be executed, so that bots are launched as if they were not warm."""

ESCAPES = ("kills_its_parent", "kills_the_opponent", "traces_its_parent", "leaves_a_daemon")
FAULTS = ("exits_at_once", "dies_by_signal", "kills_its_group", "closes_stdin")


@pytest.fixture(params=FORKED_LEVELS)
def isolation(request):
    needs.isolation(request.param)
    return choose_isolation(request.param)


@pytest.fixture
def run(open_path):
    def run_program(text, isolation, *arguments, name="bot.py"):
        file = open_path / name
        file.write_text(text)
        file.chmod(0o644)
        return levels.run_test_program(warm_bot(file, *arguments), isolation)

    return run_program


def warm_bot(file, *arguments):
    command = (arena_interpreter(), file.name, *arguments)
    return Bot(name=file.stem, version="1", command=command, directory=str(file.parent), warm=True)


ACCOUNT = """
import json, os, random, resource, signal, sys, time
print(json.dumps({
    "file": __file__, "name": __name__, "argv": sys.argv, "path": sys.path[0], "cwd": os.getcwd(),
    "environment": dict(os.environ), "shown": open("/proc/self/environ").read().split("\\0"),
    "uids": os.getresuid(), "leads": os.getsid(0) == os.getpid() == os.getpgid(0),
    "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
    "capabilities": [line.split() for line in open("/proc/self/status") if line.startswith("Cap")],
    "cpu": time.process_time(), "random": random.random(), "hash": hash("a"),
    "signals": [str(signal.getsignal(getattr(signal, name))) for name in ("SIGPIPE", "SIGTERM", "SIGINT", "SIGHUP")],
    "limit": resource.getrlimit(resource.RLIMIT_NOFILE)[0], "main": "__main__" in sys.modules,
    "botkit": "arena.botkit" in sys.modules,
    "shared": [line for line in open("/proc/self/maps") if line.split()[1] == "rw-s"],
}))
"""


def test_a_warm_bot_finds_itself_as_if_it_had_been_started_alone(run, isolation, open_path):
    warm, another = (run(ACCOUNT, isolation, "one", "two") for _ in range(2))
    cold = levels.run_test_program(replace(warm_bot(open_path / "bot.py", "one", "two"), warm=False), isolation)
    assert (warm["botkit"], cold["botkit"]) == (True, False)
    assert warm["cpu"] < 0.1
    assert len({one["random"] for one in (warm, another, cold)}) == 3
    assert warm["shared"] == []  # with the server
    scratch, cold_scratch = warm["environment"]["HOME"], cold["environment"]["HOME"]
    assert set(filter(None, warm["shown"])) == {f"{k}={v}" for k, v in warm["environment"].items()}
    cold["environment"] = {k: v.replace(cold_scratch, scratch) for k, v in cold["environment"].items()}
    for one in (warm, cold):
        one["environment"].pop("LC_CTYPE", None)
        for different in ("cpu", "random", "uids", "botkit", "shared", "shown"):
            del one[different]
    assert warm == cold


FIND = """
import json, re, sys
wanted, found = re.compile(sys.argv[1].encode()), 0  # a pattern that does not match itself
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        (start, end), rights = (int(part, 16) for part in line.split()[0].split("-")), line.split()[1]
        if rights.startswith("r") and not line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
            memory.seek(start)
            try:
                found += len(wanted.findall(memory.read(end - start)))
            except OSError:
                pass
print(json.dumps(found))
"""


def test_in_its_memory_there_is_nothing_of_bots_that_were_launched_before(run, isolation):
    secret = "name-of-the-opponents-file"
    program = f'import json; print(json.dumps("{secret}"))'
    assert run(program, isolation, "argument-of-the-opponent", name=f"{secret}.py") == secret
    assert run(FIND, isolation, "argument-of-the-[o]pponent") == 0
    assert run(FIND, isolation, "name-of-the-[o]pponents") == 0
    assert run(FIND, isolation, "arena.[b]otkit") > 0  # it does find what is there


def test_the_sandbox_probe_does_not_escape_from_a_warm_bot(isolation, monkeypatch, tmp_path):
    program = Path(levels.__file__).with_name("sandbox_probe.py")
    launch = levels.run_test_program

    def launch_warm(bot, isolation):
        command = (arena_interpreter(), str(program), *bot.command[1:])
        return launch(replace(bot, command=command, warm=True), isolation)

    monkeypatch.setattr(levels, "run_test_program", launch_warm)
    result = levels._probe(isolation)
    assert result.problem == ""
    assert result.escapes == () or isolation.level != IsolationLevel.LANDLOCK


@pytest.mark.slow(sample=("leaves_a_daemon-landlock", "kills_its_parent-none", "exits_at_once-landlock"))
@pytest.mark.parametrize("level", ["none", "landlock"])
@pytest.mark.parametrize("name", [*ESCAPES, *FAULTS])
def test_bad_bots_come_no_further_when_they_are_warm(name, level):
    needs.isolation(level)
    if os.geteuid() != 0 and level == "none":
        pytest.skip("needs root: otherwise they may kill the process of the tests")
    verdict = judge(name, level, play_zoo_bot(name, level, inline=True, is_warm=True))
    assert not verdict.startswith("WRONG"), verdict


def test_an_uncaught_exception_is_shown_as_by_python_and_a_missing_file_is_the_bots_fault(isolation, open_path):
    file = open_path / "bot.py"
    file.write_text("def fail():\n    raise ValueError('no idea')\n\n\nfail()\n")
    texts = []
    for is_warm in (True, False):
        with Subprocess(replace(warm_bot(file), warm=is_warm), isolation, DEFAULT_LIMITS) as process:
            assert process.wait_for_exit(20.0)
            process.drain_last_stderr()
            assert process.exit_text == "exit status 1"
            texts.append(process.stderr_text.take())
    assert texts[0] == texts[1]
    assert "no idea" in str(texts[0])
    bot = warm_bot(open_path / "missing.py")
    with pytest.raises(BotError, match="exit status 1"), BotConnection(bot, isolation, DEFAULT_LIMITS) as connection:
        connection.ask(encode_frame({"type": "hello"}), 20.0)


LEAVES = """
import atexit, ctypes, os, sys, threading, time, weakref
import helper

class Speaks:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        os.write(2, f"{self.name} is gone\\n".encode())

def wait():
    time.sleep(0.3)
    os.write(2, b"thread has ended\\n")

atexit.register(lambda: os.write(2, b"exit function\\n"))
own, _private = Speaks("own"), Speaks("private")
helper.theirs, cycle = Speaks("theirs"), [Speaks("cycle")]
cycle.append(cycle)
del cycle
file = open(os.dup(2), "w")
file.write("buffered in a file\\n")
helper.file = open(os.dup(2), "w")
helper.file.write("buffered in a file of a module\\n")
ctypes.CDLL(None).dprintf(2, b"by C\\n")
print("buffered", file=sys.stderr, end=" ")
way = eval(sys.argv[1])
if way in ("thread", "daemon"):
    threading.Thread(target=wait, daemon=way == "daemon").start()
elif way == "closed":
    os.close(1)
    sys.stdout.write("x")
elif way != "end":
    sys.exit(way)
"""


STATUSES = {
    "end": 0,
    "thread": 0,
    "daemon": 0,
    "closed": 120,
    "3": 3,
    "None": 0,
    str(1 << 70): 255,
    "-1": 255,
    "256": 0,
}


@pytest.mark.parametrize(
    "way", ["end", "thread", "daemon", "closed", 3, None, "for a reason", 1 << 70, -1, 256, [1], True]
)
def test_a_warm_bot_leaves_as_python_does(way, open_path):
    (open_path / "helper.py").write_text("")
    (open_path / "bot.py").write_text(LEAVES)
    left = []
    for is_warm in (True, False):
        bot = replace(warm_bot(open_path / "bot.py", repr(way)), warm=is_warm)
        with Subprocess(bot, choose_isolation("none"), DEFAULT_LIMITS) as process:
            assert process.wait_for_exit(20.0)
            process.drain_last_stderr()
            left.append((process.exit_text, sorted(str(process.stderr_text.take()).splitlines())))
    assert left[0] == left[1]
    assert {"theirs is gone", "buffered in a file of a module"} <= {*left[0][1]}
    assert left[0][0] == f"exit status {STATUSES.get(str(way), 1)}"


def test_a_killed_warm_server_is_replaced_and_bots_play_on(open_path):
    file = open_path / "bot.py"
    file.write_text("from arena.botkit import run\n\nrun(lambda game, state, clock: game.legal_actions(state)[0])\n")
    bot = warm_bot(file)
    spec = small_match(bot, bot, time_control=TimeControl(per_action_seconds=20.0))
    before = traces()
    with BotPool(choose_isolation("auto")) as pool:
        assert pool.play(spec).faults == ()
        (server,) = open_launcher().server_pids - {open_launcher().pid}
        os.kill(server, signal.SIGKILL)
        assert pool.play(spec).faults == ()
        pool.close()
        assert pool.play(spec).faults == ()
        assert server not in open_launcher().server_pids
    assert open_launcher().alive == {}
    assert not traces_since(before)


def test_at_bubblewrap_a_warm_bot_is_launched_like_any_other(run):
    needs.isolation(IsolationLevel.BUBBLEWRAP)
    isolation = choose_isolation("bubblewrap")
    assert run("import json, sys; print(json.dumps('arena.botkit' in sys.modules))", isolation) is False


def test_warm_is_read_from_the_manifest_stored_with_a_bot_and_only_for_the_arenas_own_python(tmp_path):
    for program in ("bot.sh", "bot.py"):
        (tmp_path / program).write_text("")
        (tmp_path / program).chmod(0o755)
    for command in (["./bot.sh"], ["python3", "-u", "bot.py"], ["python3"]):
        (tmp_path / "bot.toml").write_text(f'name = "b"\ncommand = {json.dumps(command)}\nwarm = true\n')
        with pytest.raises(ArenaError) as caught:
            load_bot(tmp_path)
        expected = "warm = true: expected command = ['python3', 'FILE.py', …], got "
        assert str(caught.value) == f"{tmp_path / 'bot.toml'}: {expected}{command!r}"
    for text, is_warm in (("warm = true\n", True), ("", False)):
        (tmp_path / "bot.toml").write_text(f'name = "b"\ncommand = ["python3", "bot.py"]\n{text}')
        assert load_bot(tmp_path).warm == is_warm
    bot = warm_bot(tmp_path / "bot.py")
    stored = bot_to_json(bot)
    assert bot_from_json(stored, "here") == bot
    assert bot_identity(bot) == bot_identity(replace(bot, warm=False))
    del stored["place"]["warm"]
    assert bot_from_json(stored, "here") == replace(bot, warm=False)
    python = arena_interpreter()
    for command, is_warm in (((python, "bot.py"), True), ((python, "-c", ""), False), (("/bin/sh", "x.py"), False)):
        bot = Bot(name="b", version="1", command=command, directory=str(tmp_path), warm=True)
        assert make_launch_spec(bot, choose_isolation("none"), DEFAULT_LIMITS, str(tmp_path))["is_warm"] == is_warm
