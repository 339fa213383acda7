import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import UsageError
from arena.base.records import DEFAULT_LIMITS, Bot, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.protocol.frames import HEADER_BYTES
from arena.sandbox.isolation import levels, rulesets, sandbox_policy
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launch_spec import SHARED_MEMORY
from arena.sandbox.isolation.launcher import close_launcher, open_launcher
from arena.sandbox.isolation.levels import PREFERRED, choose_isolation, probe_level
from arena.sandbox.isolation.rulesets import MAX_USES, take_ruleset
from arena.sandbox.isolation.sandbox_policy import Isolation, has_own_file_systems
from benchmarks import zoo_bots as zoo
from tests import needs
from tests.conftest import BOTS, ROOT
from tests.matches import small_match


@pytest.fixture
def fresh_probes():
    probe_level.cache_clear()
    yield
    probe_level.cache_clear()


def test_auto_takes_the_level_that_is_preferred():
    assert choose_isolation("auto").level == next(level for level in PREFERRED if probe_level(level).is_available)
    assert set(PREFERRED) == set(IsolationLevel)
    assert probe_level(IsolationLevel.LIMITS).is_available


def test_a_level_that_can_not_be_had_is_refused_with_the_reason(monkeypatch, fresh_probes):
    monkeypatch.setattr(levels, "landlock_abi", lambda: 0)
    monkeypatch.setattr(levels, "find_bubblewrap", lambda: None)
    for level, reason in (("landlock", "the kernel has no Landlock"), ("bubblewrap", "bwrap is not installed")):
        with pytest.raises(UsageError, match=f"isolation = '{level}': this machine can't give it: {reason}"):
            choose_isolation(level)
    assert choose_isolation("auto").level == "limits"


def test_a_machine_that_can_launch_no_bot_says_why(monkeypatch, fresh_probes):
    monkeypatch.setattr(levels, "make_launch_spec", lambda *_: {"is_warm": False, "other_uid": False})
    with pytest.raises(UsageError, match="isolation = 'auto': no bot can be launched on this machine: "):
        choose_isolation("auto")


def test_control_groups_that_can_not_be_had_are_refused_when_demanded(monkeypatch, fresh_probes):
    monkeypatch.setattr(levels, "find_parent_groups", lambda: None)
    assert choose_isolation("limits").label == "limits"
    with pytest.raises(UsageError, match=r"isolation = 'limits\+cgroup': no control group"):
        choose_isolation("limits+cgroup")


def test_a_level_whose_test_does_not_end_in_time_says_so(monkeypatch, fresh_probes, caplog):
    monkeypatch.setattr(levels, "PROBE_SECONDS", 0.0001)
    result = probe_level(IsolationLevel.LIMITS)
    assert not result.is_available
    assert result.problem.startswith("a test program did not end within 0.0001 s")
    assert [record.message for record in caplog.records] == [f"isolation: {result.untested}"]


def test_control_groups_whose_test_does_not_end_in_time_are_missed_loudly(monkeypatch, fresh_probes, caplog):
    run_probe = levels._run_probe

    def late(isolation):
        with monkeypatch.context() as patched:
            if isolation.groups:
                patched.setattr(levels, "PROBE_SECONDS", 0.0)
                isolation = replace(isolation, groups=False)  # which may not be had here
            return run_probe(isolation)

    monkeypatch.setattr(levels, "_run_probe", late)
    monkeypatch.setattr(levels, "find_parent_groups", lambda: {})
    assert choose_isolation("limits").label == "limits"
    reason = "limits+cgroup was not tested completely: a test program did not end within 0 s"
    assert reason in caplog.text
    with pytest.raises(UsageError, match=re.escape(f"isolation = 'limits+cgroup': {reason}")):
        choose_isolation("limits+cgroup")


def test_testing_a_level_changes_no_limit_of_the_arena(fresh_probes):
    """At ``none`` an ordinary user's program may change them, and a lower hard limit stays."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    probe_level(IsolationLevel.NONE)
    assert resource.getrlimit(resource.RLIMIT_CORE) == before


@pytest.mark.parametrize("wanted", ["jail", "", "none+cgroup", "limits+", "limits+x", "auto+cgroup", "LANDLOCK"])
def test_an_unknown_level_is_refused(wanted):
    with pytest.raises(UsageError, match="expected 'auto', 'none', 'limits', 'landlock', 'bubblewrap'"):
        choose_isolation(wanted)


@pytest.mark.parametrize("hole", ["no filter", "no files", "no scopes"])
def test_the_self_test_finds_a_hole(monkeypatch, fresh_probes, hole):
    """A level is not offered when a part of it is missing: each part is taken out once."""
    needs.isolation(IsolationLevel.LANDLOCK)
    probe_level.cache_clear()
    made = sandbox_policy.make_launch_spec

    def with_hole(*arguments):
        spec = made(*arguments)
        if hole == "no filter":
            spec["seccomp"] = None
        elif hole == "no files":
            spec["landlock"] = None
        else:
            spec["landlock"]["rules"].append(["/", 0b1111])
        return spec

    monkeypatch.setattr(levels, "make_launch_spec", with_hole)
    result = probe_level(IsolationLevel.LANDLOCK)
    assert not result.is_available
    assert "a test program could" in result.problem


@pytest.mark.parametrize("abi", [1, 2, 3, 4, 5])
def test_an_older_landlock_will_do_too(monkeypatch, fresh_probes, abi):
    """Before version 6 Landlock confines no signals; then the filter, or another uid, does."""
    needs.landlock(abi)
    needs.isolation(IsolationLevel.LANDLOCK)
    probe_level.cache_clear()
    monkeypatch.setattr(levels, "landlock_abi", lambda: abi)
    monkeypatch.setattr(sandbox_policy, "landlock_abi", lambda: abi)
    assert probe_level(IsolationLevel.LANDLOCK).is_available, probe_level(IsolationLevel.LANDLOCK).problem


@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
def test_the_level_stands_in_the_record(level):
    isolation = choose_isolation(level)
    bot = load_bot(BOTS / "minimal")
    with BotPool(isolation) as pool:
        record = pool.play(small_match(bot, bot, options={"size": 2}))
    assert record.isolation == isolation.label
    assert record.faults == ()


@needs.root
@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
def test_under_root_bots_run_under_a_uid_of_their_own(level):
    bot, isolation = load_bot(zoo.bad_bot("never_reads")), choose_isolation(level)
    with BotConnection(bot, isolation, DEFAULT_LIMITS) as one, BotConnection(bot, isolation, DEFAULT_LIMITS) as other:
        assert len({0, one.process.uid, other.process.uid}) == 3
        for process in (one.process, other.process):
            assert Path(f"/proc/{process.pid}").stat().st_uid == process.uid


@needs.root
def test_root_that_can_not_mount_refuses_what_bots_could_not_reach(monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox_policy, "can_mount", lambda: False)
    (tmp_path / "bot.py").write_text("")
    bot, isolation = load_bot(tmp_path / "bot.py"), Isolation(level=IsolationLevel.LIMITS)
    with pytest.raises(UsageError, match="the arena runs as root, and bots under other uids: those can't enter"):
        sandbox_policy.make_launch_spec(bot, isolation, DEFAULT_LIMITS, "/tmp/none")


ECHO = ROOT / "arena" / "match" / "players" / "echo_bot.py"
SENTENCES = b"\x82\xa4type\xa5ready\xa8protocol\x01"


NODE = """
const frame = Buffer.from("0000001682a474797065a57265616479a870726f746f636f6c01", "hex");
frame.writeUInt32BE(frame.length - 4);
process.stdin.on("data", () => process.stdout.write(frame));
"""


def environment_behind_closed_doors(place):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
    (place / "bot").mkdir(mode=0o700)
    shutil.copy(ECHO, place / "bot" / "echo.py")
    return (str(place / "venv" / "bin" / "python"), "echo.py"), place / "bot"


def interpreter_line(place):
    (place / "bot").write_text(f"#!{sys.executable}\n{ECHO.read_text()}")
    (place / "bot").chmod(0o755)
    return (str(place / "bot"),), place


def node(place):
    (place / "bot.js").write_text(NODE)
    return ("node", "bot.js"), place


@pytest.mark.parametrize("level", IsolationLevel, indirect=True)
@pytest.mark.parametrize(
    "written", [environment_behind_closed_doors, interpreter_line, pytest.param(node, marks=needs.program("node"))]
)
def test_a_program_works(level, tmp_path, written):
    command, directory = written(tmp_path)
    own = command if written is interpreter_line else ()
    bot = Bot(name="x", version="1", command=command, directory=str(directory), own_files=own)
    with BotConnection(bot, choose_isolation(level), DEFAULT_LIMITS) as process:
        assert process.ask(b"hello", 20.0)[0] == SENTENCES


def test_a_bot_that_is_a_single_file_can_read_no_other(tmp_path):
    level = choose_isolation("auto").level
    if level not in ("landlock", "bubblewrap"):
        pytest.skip("needs an isolation level that holds files")
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "bot.py").write_text("import helper\n")
    with BotPool(choose_isolation(level)) as pool:
        bot = load_bot(tmp_path / "bot.py")
        record = pool.play(small_match(bot, bot, time_control=TimeControl(per_action_seconds=20.0)))
    assert record.faults[0].kind == "start"
    assert "No module named 'helper'" in record.seats[0].stderr


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
    question = json.dumps(paths).encode()
    return json.loads(connection.ask(len(question).to_bytes(HEADER_BYTES, "big") + question, 20.0)[0])


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_bot_reads_what_is_its_own_and_nothing_of_the_bots_before_and_beside_it(open_path, spare, is_warm):
    """The fork server keeps the rulesets of bots, but the warm one may not know them: they are kept here."""
    (open_path / "bot.py").write_text(LOOKS)
    isolation, before, made = choose_isolation("landlock"), [], set()
    bot = python_bot(open_path / "bot.py", *places_of(isolation), is_warm=is_warm)
    close_launcher()  # the next one has no ruleset
    earlier = rulesets_of(os.getpid())
    for _ in range(3):
        with (
            BotConnection(bot, isolation, DEFAULT_LIMITS) as one,
            BotConnection(bot, isolation, DEFAULT_LIMITS) as other,
        ):
            made.add(rulesets_of(os.getpid()) - earlier if is_warm else rulesets_of(open_launcher().pid))
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
def test_the_next_launch_finds_everything_as_the_first_one_did(level, open_path, is_warm, monkeypatch):
    """But for the limit of processes, which an ordinary user's other processes raise as they come and go."""
    needs.isolation(level)
    (open_path / "bot.py").write_text(FINDS)
    isolation = choose_isolation(level)
    close_launcher()  # the next one has kept nothing of other bots
    bot = python_bot(open_path / "bot.py", level, *places_of(isolation), is_warm=is_warm)
    specs, groups, launch = [], [], open_launcher().launch

    def note(spec, descriptors):
        launched = launch(spec, descriptors)
        specs.append(spec)
        groups.append([Path(group["directory"]).stat().st_ino for group in spec["control_groups"]])
        return launched

    monkeypatch.setattr(open_launcher(), "launch", note)
    monkeypatch.setattr(levels, "make_launch_spec", sandbox_policy.kept_launch_spec)
    found = [levels.run_test_program(bot, isolation) for _ in range(3)]
    homes, _ = ([one.pop(name) for one in found] for name in ("home", "group"))
    # a directory is used again that no bot has seen, for each had a file system of its own in its place
    is_kept = specs[0]["covers_scratch"] and (specs[0]["is_contained"] or specs[0]["other_uid"])
    assert len(set(homes)) == (1 if is_kept else 3)
    if isolation.groups:  # counters of a group can't be set back, so that each launch has its own
        assert len(set(itertools.chain(*groups))) == 3 * len(groups[0]) > 0
    assert found[0] == found[1] == found[2]
    assert not any(found[0]["files"])
