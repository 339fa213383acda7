import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from arena.base.errors import VoidMatchError
from arena.base.records import DEFAULT_LIMITS, Bot, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players import subprocess as subprocess_module
from arena.match.players.manifest import load_bot
from arena.match.players.subprocess import Subprocess
from arena.sandbox.isolation import bot_uids, fork_server, launcher, launcher_client, levels, reaper, sandbox_policy
from arena.sandbox.isolation.control_groups import can_start_inside
from arena.sandbox.isolation.interpreters import arena_interpreter
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation, run_test_program
from arena.sandbox.isolation.procfs import is_dead, process_tag
from arena.sandbox.isolation.reaper import make_scratch, remove_stale
from arena.sandbox.isolation.sandbox_calls import BOT_SLICE_NANOSECONDS
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems, kept_launch_spec, make_launch_spec
from benchmarks import zoo_bots as zoo
from benchmarks.traces import traces, traces_since
from tests.conftest import BOTS
from tests.matches import small_match
from tests.written_bots import write_bot

GOOD = load_bot(BOTS / "minimal")


def play(pool, match=1):
    return pool.play(small_match(GOOD, GOOD, match=match, time_control=TimeControl(per_action_seconds=20.0)))


def test_a_killed_fork_server_is_replaced_and_bots_play_on():
    before = traces()
    with BotPool(choose_isolation("auto")) as pool:
        play(pool)
        first = open_launcher().pid
        os.kill(first, signal.SIGKILL)
        assert play(pool, 2).faults == ()  # the bots are alive and need no fork server
        pool.close()
        assert play(pool, 3).faults == ()  # these are launched by another
        assert open_launcher().pid != first
        os.kill(open_launcher().pid, signal.SIGKILL)  # a third one removes the bots of the second
    assert open_launcher().alive == {}
    assert not traces_since(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives bots uids of their own")
def test_bots_of_a_killed_fork_server_keep_their_uids():
    """Another arena gives a uid without a lock to its own bot, and kills the processes that run under it."""
    with BotPool(choose_isolation("auto")) as pool:
        play(pool)
        launcher = open_launcher()
        os.kill(launcher.pid, signal.SIGKILL)
        os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOWAIT)
        for bot in launcher.alive.values():
            assert bot_uids.lock_uid(bot.uid) is None
        remove_stale()
        assert play(pool, 2).faults == ()


@pytest.mark.parametrize("level", ["none", "limits", "auto"])
def test_a_fork_server_that_dies_before_it_answers_leaves_no_bot(level, monkeypatch):
    before, children = traces(), set(reaper.children(os.getpid()))
    exchange = launcher_client._Server.exchange

    def die_after(server, request, *rest):
        reply = exchange(server, request, *rest)
        if "launch" in request:
            server.kill()
            raise ConnectionError
        return reply

    with BotPool(choose_isolation(level)) as pool:
        open_launcher()
        with monkeypatch.context() as patched:
            patched.setattr(launcher_client._Server, "exchange", die_after)
            with pytest.raises(VoidMatchError, match="was killed while it launched a bot"):
                play(pool)
        assert set(reaper.children(os.getpid())) - children == {open_launcher().pid}
        assert play(pool, 2).faults == ()
    assert not traces_since(before)


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/proc/self/autogroup").exists(),
    reason="Linux does not share out cores by sessions, or lets only root say so as often as tests do",
)
def test_bots_stand_back_behind_other_sessions_as_who_launches_them_does():
    niceness = os.getpriority(os.PRIO_PROCESS, open_launcher().pid) + 3
    os.setpriority(os.PRIO_PROCESS, open_launcher().pid, niceness)
    with BotPool(choose_isolation("auto")) as pool:
        play(pool)
        assert len(open_launcher().alive) == 2
        for pid in open_launcher().alive:
            assert os.getpriority(os.PRIO_PROCESS, pid) > niceness
            assert Path(f"/proc/{pid}/autogroup").read_text().endswith(f" nice {niceness}\n")
    launcher.close_launcher()


SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}


@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 12) or os.uname().machine not in SCHED_GETATTR,
    reason="Linux gives no process a slice of its own before 6.12",
)
def test_a_bot_has_a_shorter_slice_of_the_core_than_the_arena():
    with BotPool(choose_isolation("auto")) as pool:
        play(pool)
        slices = {pid: slice_of(pid) for pid in open_launcher().alive}
    assert len(slices) == 2
    assert {*slices.values()} == {BOT_SLICE_NANOSECONDS}
    assert slice_of(os.getpid()) > BOT_SLICE_NANOSECONDS


def slice_of(pid):
    """Return the slice of a process, in nanoseconds: sched_runtime of sched_getattr(2)."""
    attributes = ctypes.create_string_buffer(48)
    assert ctypes.CDLL(None).syscall(SCHED_GETATTR[os.uname().machine], pid, attributes, len(attributes), 0) == 0
    return int.from_bytes(attributes[24:32], sys.byteorder)


SCRIPT = """
import sys
from pathlib import Path

import pytest
from arena.sandbox.isolation.procfs import is_dead, process_tag
from arena.sandbox.isolation.levels import choose_isolation, run_test_program
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems, make_launch_spec
from arena.match.bot_pool import BotPool, PoolKey
from arena.match.players.manifest import load_bot
from arena.base.records import DEFAULT_LIMITS, MatchSpec, TimeControl
bots = (load_bot(Path(sys.argv[1])), load_bot(Path(sys.argv[1])))
with BotPool(choose_isolation(sys.argv[2])) as pool:
    from arena.protocol.messages import Seating
    time_control = TimeControl(per_action_seconds=600.0)
    players = [pool.take(PoolKey(bot, copy)) for copy, bot in enumerate(bots)]
    for seat, player in enumerate(players):
        player.begin(Seating(1, "differences", {"size": 4, "scoring": "distinct"}, 2, seat, 1, time_control))
    players[1].close()  # its scratch directory is kept
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow(sample=True)
def test_when_the_arena_is_killed_its_fork_server_removes_everything():
    for level in ("limits", "auto"):
        before, children = traces(), set(reaper.children(os.getpid()))
        command = [sys.executable, "-c", SCRIPT, str(zoo.bad_bot("leaves_a_daemon")), level]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as arena:
            assert arena.stdout.readline() == b"up\n"
            assert traces() - before
            arena.kill()
        reap_orphans_but(children)
        assert not traces_since(before)


def reap_orphans_but(children):
    """This process adopts the orphans of those it has started; the fork server kills them, and here they are reaped."""
    deadline = time.monotonic() + 60.0
    while set(reaper.children(os.getpid())) - children and time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


def ended_pid():
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        return gone.pid


def test_what_killed_fork_servers_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(reaper.tempfile, "tempdir", str(tmp_path))
    dead = tmp_path / f"arena-bot-{ended_pid()}.5-x"
    of_another_with_our_number = tmp_path / f"arena-bot-{os.getpid()}.5-x"
    alive = tmp_path / f"arena-bot-{process_tag()}-x"
    other = tmp_path / "arena-bot-notes"
    for path in (dead, of_another_with_our_number, alive, other):
        path.mkdir()
    remove_stale()
    assert set(tmp_path.iterdir()) == {alive, other}


def test_a_bot_whose_arena_and_fork_server_were_killed_together_is_killed_by_the_next():
    command = [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(1000)"]
    sleepers = []
    for owner in (f"{ended_pid()}.5", process_tag()):
        environment = {**os.environ, "ARENA_BOT": owner}
        sleepers.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE))
        sleepers[-1].stdout.readline()
    remove_stale()
    assert sleepers[0].wait(60) == -signal.SIGKILL
    assert sleepers[1].poll() is None
    sleepers[1].kill()
    for sleeper in sleepers:
        sleeper.communicate()


SHEDS_ITS_ENVIRONMENT = """
import os, sys
if sys.argv[1:] or os.fork():
    import time
    time.sleep(1000)
os.closerange(0, 3)
os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, "bare"], {})
"""

LAUNCHES_AND_IS_KILLED = """
import os, signal, subprocess, sys, time
from pathlib import Path
from arena.sandbox.isolation import reaper, sandbox_policy
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation, run_test_program
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.match.players.manifest import load_bot
from arena.match.players.subprocess import Subprocess
from arena.base.records import DEFAULT_LIMITS

found = choose_isolation(sys.argv[2])
has_mounts = sys.argv[3] == "mounts"
if not has_mounts:
    sandbox_policy.is_root = lambda: False
without_groups = Isolation(level=found.level, user_namespace=has_mounts and found.user_namespace)
bot = Subprocess(load_bot(sys.argv[1]), without_groups, DEFAULT_LIMITS)
bare = []
while not bare:
    time.sleep(0.01)
    bare = [pid for pid in reaper.descendants(bot.pid) if b"bare" in Path(f"/proc/{pid}/cmdline").read_bytes()]
print(*bare, flush=True)
for pid in (bot.pid, open_launcher().pid, os.getpid()):
    os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.slow(only=("limits-mounts", "landlock-no mounts"))
@pytest.mark.parametrize("mounts", ["mounts", "no mounts"])
@pytest.mark.parametrize("level", ["limits", "landlock"], indirect=True)
def test_a_process_of_such_a_bot_is_known_without_its_environment(level, mounts, tmp_path):
    """Without mounts: as for an ordinary user without user namespaces."""
    tmp_path.chmod(0o755)
    write_bot(tmp_path / "bot.py", SHEDS_ITS_ENVIRONMENT)
    (tmp_path / "bot.toml").write_text('name = "sheds"\ncommand = ["python3", "bot.py"]\n')
    command = [sys.executable, "-c", LAUNCHES_AND_IS_KILLED, str(tmp_path), level, mounts]
    children = set(reaper.children(os.getpid()))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as arena:
        (survivor,) = map(int, arena.stdout.read().split())
    assert Path(f"/proc/{survivor}/environ").read_bytes() == b""
    remove_stale()
    reap_orphans_but(children)
    assert not Path(f"/proc/{survivor}").exists()


GETS_AWAY = """
import os, time
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep(1000)
"""


@pytest.mark.parametrize("is_slow_to_die", [False, True])
def test_an_orphan_that_was_not_known_is_reaped_though_nothing_shows_whose_it_was(
    is_slow_to_die, open_path, monkeypatch
):
    """A process that forks while the bot's are noted; dead, it has no environment with the tag of its arena."""

    def reap_later(pid):
        if pid not in seen:
            seen.add(pid)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            return False
        return reaper.reap_ended(pid)

    seen = set()
    monkeypatch.setattr(Subprocess, "_note_members", lambda self: None)
    if is_slow_to_die:
        monkeypatch.setattr(launcher_client, "reap_ended", reap_later)
    monkeypatch.setattr(launcher_client, "REAP_SECONDS", 5.0)
    children = set(reaper.children(os.getpid())) | open_launcher().server_pids
    (open_path / "bot.py").write_text(GETS_AWAY)
    bot = Bot(name="b", version="1", command=(arena_interpreter(), str(open_path / "bot.py")), directory=str(open_path))
    with Subprocess(bot, choose_isolation("none"), DEFAULT_LIMITS) as process:
        assert process.wait_for_exit(60.0)
    assert {*reaper.children(os.getpid())} <= children


IN_A_NAMESPACE = """
import ctypes, os, signal
if ctypes.CDLL(None).unshare(0x30000000) == 0:  # CLONE_NEWUSER | CLONE_NEWPID
    for _ in range(3):
        if os.fork() == 0:
            os.closerange(0, 3)
            signal.pause()
"""
"""Its first child ends when the others have been reaped."""

TRACED_BY_ITS_CHILD = """
import ctypes, os, signal
traced = os.getpid()
read_end, write_end = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    ctypes.CDLL(None).ptrace(0x4206, traced, 0, 0)  # PTRACE_SEIZE
    os.write(write_end, b"x")
    signal.pause()
os.read(read_end, 1)
"""

TRACES_ITS_PARENT = f"""
import os, signal
if os.fork() == 0:
    os.setsid()
    exec({TRACED_BY_ITS_CHILD!r})
    os.write(1, b"x")
    signal.pause()
os.read(0, 1)
"""


@pytest.mark.slow(only=("none-program1", "limits-program1"))
@pytest.mark.parametrize("program", [IN_A_NAMESPACE, TRACED_BY_ITS_CHILD, TRACES_ITS_PARENT])
@pytest.mark.parametrize("level", ["none", "limits"], indirect=True)
def test_no_process_of_a_bot_keeps_the_arena_waiting_for_its_end(level, program, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess_module, "EXIT_SECONDS", 0.5)
    tmp_path.chmod(0o755)
    write_bot(tmp_path / "bot.py", program)
    (tmp_path / "bot.toml").write_text('name = "holds"\ncommand = ["python3", "bot.py"]\n')
    before = traces()
    process = Subprocess(load_bot(tmp_path), choose_isolation(level), DEFAULT_LIMITS)
    if program == TRACES_ITS_PARENT:
        assert process.poll(20_000)
    else:
        process.wait_for_exit(1.0)
    process.end()
    assert not traces_since(before)


WITHOUT_NEW_PRIVILEGES = "import ctypes; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0); print(flush=True); input()"


def test_a_note_of_a_session_harms_no_later_process(tmp_path, monkeypatch):
    """Numbers are reused: by processes that started later, are confined less, or run since another boot."""
    monkeypatch.setattr(reaper.tempfile, "tempdir", str(tmp_path))
    gone = f"{ended_pid()}.5"
    command = [sys.executable, "-c", WITHOUT_NEW_PRIVILEGES]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        process.stdout.readline()
        start = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
        for owner, *note in (
            (process_tag(), process.pid, start, 1, 0, boot),
            (gone, process.pid, start - 1, 1, 0, boot),
            (gone, process.pid, start, 1, 2, boot),
            (gone, process.pid, start, 0, 0, boot),
            (gone, process.pid, start, 1, 0, "another"),
            (gone, process.pid, start, 1, 0),
            (gone, "x", "y", "z", 0, boot),
            (gone, process.pid, start, 1, 0, boot),
        ):
            assert process.poll() is None, note
            (tmp_path / f"arena-bot-{owner}-x.session").symlink_to(".".join(map(str, note)))
            remove_stale()
        assert process.wait(60) == -signal.SIGKILL
        assert [path.name for path in tmp_path.iterdir()] == [f"arena-bot-{process_tag()}-x.session"]


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_step_that_fails_before_the_exec_is_our_failure_and_no_fault_of_the_bots(tmp_path, is_warm):
    def spec_with(**changes):
        spec = make_launch_spec(GOOD, choose_isolation("none"), DEFAULT_LIMITS, make_scratch())
        return spec | changes | {"is_warm": is_warm}

    group = {"directory": str(tmp_path / "group"), "join_file": "tasks", "settings": {}, "optional_settings": {}}
    null = os.open(os.devnull, os.O_RDWR)
    broken = {
        "control group": spec_with(control_groups=[group]),  # not the kernel's directory: there is nothing to join
        "chdir": spec_with(directory=str(tmp_path / "missing")),
        "chdir /dev/shm/missing: .*; each bot has a /dev/shm of its own": spec_with(directory="/dev/shm/missing"),
        "resource limit": spec_with(rlimits=[[99, 1, 1]]),
        "seccomp": spec_with(seccomp="00" * 8, no_new_privs=True),
    }
    try:
        for step, made in broken.items():
            with pytest.raises(VoidMatchError, match=f"no bot can be launched: {step}"):
                open_launcher().launch(made, (null, null, null))
            assert open_launcher().alive == {}, step
            assert not Path(made["scratch"]).exists(), step
    finally:
        os.close(null)


def test_a_control_group_whose_processes_take_long_to_die_is_removed_later(tmp_path, monkeypatch):
    """A directory with something in it can't be removed either."""
    monkeypatch.setattr(fork_server, "GROUP_SECONDS", 0.0)
    monkeypatch.setattr(fork_server, "LAST_SECONDS", 60.0)
    scratch, *groups = (tmp_path / name for name in ("scratch", "memory", "pids"))
    for directory in (scratch, *groups, *(group / "member" for group in groups)):
        directory.mkdir()
    settings = {"join_file": "tasks", "settings": {}, "optional_settings": {}}
    outline = {
        "scratch": str(scratch),
        "other_uid": False,
        "control_groups": [{"directory": str(group), **settings} for group in groups],
        "is_contained": True,
        "leaves_no_ipc": True,
        "needs_note": False,
    }
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        server = threading.Thread(target=fork_server.serve, args=(theirs, None))
        server.start()
        left = []
        for request, reply in (
            ({"adopt": outline, "pid": 1 << 30}, {}),
            ({"ended": 1 << 30, "has_left": True}, {"is_all_gone": False, "is_scratch_kept": False}),
            ({"ended": 0, "has_left": True}, {"is_all_gone": False, "is_scratch_kept": False}),
        ):
            ours.send(json.dumps(request).encode())
            assert json.loads(ours.recv(1000)) == reply
            left.append([group.exists() for group in groups])
            if not scratch.exists() and groups[0].exists():
                (groups[0] / "member").rmdir()
        ours.close()
        (groups[1] / "member").rmdir()
        server.join()
    assert left == [[True, True], [True, True], [False, True]]
    assert not any(group.exists() for group in groups)


def test_a_process_that_is_dead_and_not_yet_reaped_owns_nothing():
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    tag = f"{process.pid}.{Path(f'/proc/{process.pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(tag)
    process.communicate()
    assert is_dead(tag)
    assert not is_dead(process_tag())
    assert not is_dead("notes")


def test_a_stopped_fork_server_does_not_hang_the_arena(monkeypatch):
    launcher = open_launcher()
    launcher._servers[False].socket.settimeout(0.3)
    os.kill(launcher.pid, signal.SIGSTOP)
    started = time.monotonic()
    with BotPool(choose_isolation("limits")) as pool:
        assert play(pool).faults == ()
    assert time.monotonic() - started < launcher_client.ANSWER_SECONDS


def test_a_stopped_fork_server_ends_when_it_is_closed():
    pid = open_launcher().pid
    os.kill(pid, signal.SIGSTOP)
    launcher.close_launcher()
    assert pid not in reaper.children(os.getpid())


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_bot_starts_in_its_control_group_of_version_2(is_warm, group_of_version_2, open_path):
    (open_path / "bot.py").write_text('print(open("/proc/self/cgroup").read(), flush=True)\n')
    command = (arena_interpreter(), str(open_path / "bot.py"))
    bot = Bot(name="b", version="1", command=command, directory=str(open_path), warm=is_warm)
    assert can_start_inside(str(group_of_version_2 / "below"))
    group = {"directory": str(group_of_version_2 / "own"), "join_file": "", "settings": {}, "optional_settings": {}}
    spec = make_launch_spec(bot, replace(choose_isolation("auto"), groups=False), DEFAULT_LIMITS, make_scratch())
    spec["control_groups"] = [group]
    read_end, write_end = os.pipe()
    launched = open_launcher().launch(spec, (read_end, write_end, write_end))
    os.close(write_end)
    text = os.read(read_end, 1 << 16).decode()
    os.close(read_end)
    os.waitpid(launched.pid, 0)
    open_launcher().forget(launched.pid, set())
    assert f"0::/{group_of_version_2.name}/own\n" in text
    assert [path.name for path in group_of_version_2.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("is_killed", [False, True])
def test_scratch_directories_that_are_kept_for_the_next_bots_are_removed_at_the_end(is_killed):
    """Also those of a fork server that was killed, so that the next one does not know of them."""
    launcher.close_launcher()
    isolation = choose_isolation("auto")
    with BotPool(isolation) as pool:
        play(pool)
        homes = {bot.spec["scratch"] for bot in open_launcher().alive.values()}
    kept = {*open_launcher().spare_scratch}
    assert kept == (homes if has_own_file_systems(isolation) else set())
    assert not any(map(os.listdir, kept))
    if is_killed:
        os.kill(open_launcher().pid, signal.SIGKILL)
    launcher.close_launcher()
    assert not any(map(os.path.exists, homes))


def test_a_kept_scratch_directory_that_is_gone_or_elsewhere_is_not_used(tmp_path, monkeypatch):
    """Below the level ``landlock``, an ordinary user's bots can put a link in its place."""
    monkeypatch.setattr(reaper.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "kept").mkdir()
    kept = [str(tmp_path / name) for name in ("removed", "link", "kept")]
    open_launcher()._servers[False].spare_scratch[:] = ["/proc", *kept]
    assert open_launcher().take_scratch(is_warm=False) == kept[-1]
    assert open_launcher().spare_scratch == []


def test_a_scratch_directory_is_kept_by_the_fork_server_that_has_given_it_to_a_bot(open_path):
    """No other one would know that it is in use, and would remove it at its own end."""
    (open_path / "bot.py").write_text("input()")
    command, isolation = (arena_interpreter(), str(open_path / "bot.py")), choose_isolation("auto")
    bots = [Bot(name="b", version="1", command=command, directory=str(open_path), warm=warm) for warm in (False, True)]
    launcher.close_launcher()
    used = {False: set(), True: set()}
    for bot in bots * 3:
        with Subprocess(bot, isolation, DEFAULT_LIMITS) as process:
            used[bot.warm].add(process.scratch)
    assert not used[False] & used[True]
    if has_own_file_systems(isolation):
        assert {*used[False], *used[True]} <= {*open_launcher().spare_scratch}
        assert [len(scratch) for scratch in used.values()] == [1, 1]


@pytest.mark.parametrize("listed", [[], ["server"], ["server", "other"]])
def test_processes_of_a_bot_are_looked_for_unless_its_end_has_left_nobody_a_child(listed, monkeypatch):
    """A system that lists no children shows nothing: there they are looked for, too."""
    requests, isolation = [], choose_isolation("none")
    exchange = launcher_client._Server.exchange

    def note(server, request, *rest):
        requests.append(request)
        return exchange(server, request, *rest)

    pids = {"server": open_launcher().pid, "other": os.getpid()}
    monkeypatch.setattr(launcher_client._Server, "exchange", note)
    monkeypatch.setattr(launcher_client, "children", lambda _: [pids[name] for name in listed])
    bot = Bot(name="prints", version="1", command=("echo", "0"), directory="/")
    assert run_test_program(bot, isolation) == 0
    assert [request["has_left"] for request in requests if "ended" in request] == [listed != ["server"]]


def test_a_launch_is_sent_whole_once_and_again_to_a_new_fork_server(monkeypatch):
    sent, message = [], launcher_client._message

    def note(request):
        sent.extend([type(request["launch"])] if "launch" in request else [])
        return message(request)

    bot, isolation = Bot(name="prints", version="1", command=("echo", "0"), directory="/"), choose_isolation("none")
    scratch = make_scratch()
    spec = kept_launch_spec(bot, isolation, DEFAULT_LIMITS, scratch)
    several = [{**spec, "number": next(sandbox_policy._numbers)} for _ in range(launcher_client.MAX_KNOWN_LAUNCHES + 1)]
    launcher.close_launcher()
    monkeypatch.setattr(launcher_client, "_message", note)
    monkeypatch.setattr(launcher_client, "make_scratch", lambda: scratch)

    def launch_by(spec):
        Path(scratch).mkdir(exist_ok=True)
        monkeypatch.setattr(levels, "make_launch_spec", lambda *_: spec)
        assert run_test_program(bot, isolation) == 0

    for spec in (several[0], several[0], *several[1:], several[0], several[-1]):
        launch_by(spec)
    assert sent == [dict, int, *[dict] * launcher_client.MAX_KNOWN_LAUNCHES, dict, int]
    os.kill(open_launcher().pid, signal.SIGKILL)
    launch_by(several[-1])
    assert sent[-2:] == [int, dict]
