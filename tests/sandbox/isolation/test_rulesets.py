"""What launches after each other share, and don't: each bot finds what is its own, and nothing of those before it."""

import json
import os
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.records import DEFAULT_LIMITS, Bot
from arena.match.players.connection import BotConnection
from arena.protocol.frames import HEADER_BYTES
from arena.sandbox.isolation import levels, rulesets
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launch_spec import SHARED_MEMORY
from arena.sandbox.isolation.launcher import close_launcher, open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.rulesets import MAX_USES, take_ruleset
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems
from tests import needs

READ_FILE, WRITE_FILE = 1 << 2, 1 << 1


def spec_with(directory, rules=(), **changes):
    lasting = [["/usr", READ_FILE], [str(directory), READ_FILE], ["/proc/meminfo", READ_FILE]]
    landlock = {"handled": [READ_FILE], "rules": list(rules), "own": [str(directory)], "lasting": lasting, "stamp": 1}
    groups = [{"directory": "/group", "join_file": "tasks", "settings": {}, "optional_settings": {}}]
    mounts = {"private": {"/dev/shm": 1}, "replace": {"/closed": []}}
    return {"scratch": "/scratch", "control_groups": groups, "mounts": mounts, "landlock": landlock | changes}


@pytest.fixture
def spare(monkeypatch):
    needs.isolation(IsolationLevel.LANDLOCK)
    monkeypatch.setattr(rulesets, "_spare", kept := [])
    yield kept
    for ruleset in kept:
        ruleset.close()


OWN = ["/proc/self/stat", "/group", "/scratch", "/dev/shm", "/closed/bot"]


@pytest.mark.parametrize(
    ("rules", "is_all_gone", "changes", "is_same"),
    [
        (OWN, True, {}, True),
        (OWN, False, {}, False),
        ([*OWN, "/"], True, {}, False),
        (["/proc/1/stat"], True, {}, False),
        (["/scratches"], True, {}, False),
        (OWN, True, {"stamp": 2}, False),
        (OWN, True, {"own": []}, False),
        (OWN, True, {"handled": [READ_FILE | WRITE_FILE]}, False),
        (OWN, True, {"lasting": [["/usr", READ_FILE]]}, False),
    ],
)
def test_a_ruleset_is_used_again_only_if_nothing_of_the_last_bot_is_left(
    spare, tmp_path, rules, is_all_gone, changes, is_same
):
    first = take_ruleset(spec_with(tmp_path, [[path, READ_FILE] for path in rules]))
    first.give_back(is_all_gone=is_all_gone)
    again = take_ruleset(spec_with(tmp_path, **changes))
    assert (again is first) is is_same
    again.close()


def test_each_of_several_bots_has_a_ruleset_of_its_own_and_none_is_used_for_ever(spare, tmp_path):
    spec = spec_with(tmp_path)
    first, second = take_ruleset(spec), take_ruleset(spec)
    assert first is not second
    second.give_back(is_all_gone=True)
    for _ in range(MAX_USES - 1):
        first.give_back(is_all_gone=True)
        assert len(spare) <= 2
        spare.remove(second)
        assert take_ruleset(spec) is first
        spare.append(second)
    first.give_back(is_all_gone=True)
    assert spare == [second]
    assert take_ruleset(spec | {"landlock": None}) is None


LOOKS = """
import json, os, sys
places = [f"/proc/{os.getpid()}/stat", f"/proc/{os.getpid()}/environ"]
places += [f"{place}/mine" for place in [os.environ["HOME"], *sys.argv[1:]]]
for name in places[2:]:
    open(name, "w").write("mine")
places += ["/proc/self/status", "/proc/meminfo", "/proc/sys/kernel/osrelease", "/etc/passwd", __file__]
def seen(path):
    try:
        return open(path).read(100)
    except OSError:
        return None
while head := sys.stdin.buffer.read(4):
    paths = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big"))) or places
    answer = json.dumps({path: seen(path) is not None for path in paths}).encode()
    sys.stdout.buffer.write(len(answer).to_bytes(4, "big") + answer)
    sys.stdout.buffer.flush()
"""


def places_of(isolation):
    """Return where a bot may write beside its scratch directory, and finds nothing of others."""
    return [SHARED_MEMORY] if has_own_file_systems(isolation) else []


def rulesets_of(pid):
    return sum("landlock" in str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink())


def python_bot(file, *arguments, is_warm):
    command = (arena_interpreter(), *(() if is_warm else ("-I", "-S")), str(file), *arguments)
    return Bot(name="b", version="1", command=command, directory=str(file.parent), warm=is_warm)


def ask(connection, paths):
    """Return which of some paths a bot can read; of its own, without any."""
    question = json.dumps(paths).encode()
    return json.loads(connection.ask(len(question).to_bytes(HEADER_BYTES, "big") + question, 20.0).body)


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_bot_reads_what_is_its_own_and_nothing_of_the_bots_before_and_beside_it(open_path, spare, is_warm):
    """The fork server keeps the rulesets of bots, but the warm one may not know them: they are kept here."""
    (open_path / "bot.py").write_text(LOOKS)
    isolation, before, made = choose_isolation("landlock"), [], set()
    bot = python_bot(open_path / "bot.py", *places_of(isolation), is_warm=is_warm)
    close_launcher()  # the next one has no ruleset
    for _ in range(3):
        with (
            BotConnection(bot, isolation, DEFAULT_LIMITS) as one,
            BotConnection(bot, isolation, DEFAULT_LIMITS) as other,
        ):
            made.add(rulesets_of(os.getpid() if is_warm else open_launcher().pid))
            for connection in (one, other):
                own = ask(connection, [])
                assert set(own.values()) == {True}, own
                before.append(
                    [path for path in own if path.startswith((f"/proc/{connection.process.pid}/", "/tmp"))][:3]
                )
                foreign = [path for paths in before[:-1] for path in paths if path not in own]
                assert set(ask(connection, foreign or ["/etc/shadow"]).values()) == {False}
    assert made == {2}  # always the same


FINDS = """
import json, os, resource, signal, socket, sys, time
places = [os.environ["HOME"], *sys.argv[2:]]
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
group = open("/proc/self/cgroup").read()
print(json.dumps({
    "group": group, "home": places[0], "cpu": time.process_time() < 5.0, "leads": os.getsid(0) == os.getpid(),
    "environment": sorted(name for name in os.environ), "files": [os.listdir(place) for place in places],
    "descriptors": sorted(os.listdir("/proc/self/fd"), key=int)[:-1], "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "limits": [resource.getrlimit(number) for number in {*range(16)} - {resource.RLIMIT_NPROC}],
    "umask": os.umask(0o777), "cwd": os.getcwd(),
    "status": [status[name] for name in ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "CapEff", "NoNewPrivs", "Threads")],
    "alarm": signal.getitimer(signal.ITIMER_REAL),
}))
sys.stdout.flush()
for place in places:
    open(place + "/left", "w").write("left")
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCONT})
try:
    os.kill(os.getpid(), signal.SIGUSR1)
except PermissionError:  # below Landlock 6, the filter lets an ordinary user's bots signal nobody
    pass
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
if sys.argv[1] != "bubblewrap" and os.fork() == 0:  # there the arena would be kept waiting by bwrap
    os.closerange(0, 3)
    time.sleep(1000)
"""


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("level", IsolationLevel)
def test_the_next_launch_finds_everything_as_the_first_one_did(level, open_path, is_warm):
    """But for the limit of processes, which an ordinary user's other processes raise as they come and go."""
    needs.isolation(level)
    (open_path / "bot.py").write_text(FINDS)
    isolation = choose_isolation(level)
    bot = python_bot(open_path / "bot.py", level, *places_of(isolation), is_warm=is_warm)
    found = [levels.run_test_program(bot, isolation) for _ in range(3)]
    groups, homes = ([one.pop(name) for one in found] for name in ("group", "home"))
    assert len(set(homes)) == 3
    if isolation.groups and level != IsolationLevel.BUBBLEWRAP:  # there a bot sees no group but its own
        assert len(set(groups)) == 3  # counters of a group can't be set back, so that each launch has its own
    assert found[0] == found[1] == found[2]
    assert not any(found[0]["files"])
