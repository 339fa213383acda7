"""Bots that the arena's process launches itself, and what a fork server learns of them by the ledger."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.base.records import DEFAULT_LIMITS, Bot
from arena.match.players.subprocess import Subprocess
from arena.sandbox.isolation import bot_uids, fork_server, launch_server
from arena.sandbox.isolation.call_list import StepError
from arena.sandbox.isolation.launcher import close_launcher, open_launcher
from arena.sandbox.isolation.ledger import Ledger, noted_bots
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.reaper import children, make_scratch
from arena.sandbox.isolation.sandbox_policy import make_launch_spec
from benchmarks.traces import traces, traces_since

pytestmark = pytest.mark.skipif(not launch_server.launches_locally(), reason="there is no machine code")

HANGS_BEFORE_ITS_PROGRAM = """
import os, sys
from arena.base.records import DEFAULT_LIMITS, Bot
from arena.match.players.subprocess import Subprocess
from arena.sandbox.isolation import fork_server, sandbox_policy
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
isolation = choose_isolation(sys.argv[1])
if sys.argv[3:]:
    sandbox_policy.is_root = lambda: False
fork_server.add_program = lambda calls, *_: calls.add("openat", -100, sys.argv[2], os.O_WRONLY)
print(open_launcher().pid, flush=True)
Subprocess(Bot(name="b", version="1", command=("true",), directory="/"), isolation, DEFAULT_LIMITS)
"""


@pytest.mark.parametrize("level", [["none"], ["limits"], ["none", "without a uid"]])
def test_what_is_being_launched_when_the_arena_is_killed_is_ended(level, open_path):
    """Nobody reads the named pipe that it opens in place of executing its program."""
    os.mkfifo(open_path / "pipe")
    (open_path / "pipe").chmod(0o666)
    before, ours = traces(), set(children(os.getpid()))
    command = [sys.executable, "-c", HANGS_BEFORE_ITS_PROGRAM, level[0], str(open_path / "pipe"), *level[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as arena:
        server = int(arena.stdout.readline())
        deadline = time.monotonic() + 60.0
        while not (begun := set(children(arena.pid)) - {server}) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(begun) == 1
        arena.kill()
    while (left := set(children(os.getpid())) - ours) and time.monotonic() < deadline:
        os.waitpid(left.pop(), os.WNOHANG)
    assert not traces_since(before)
    assert not any(Path(f"/proc/{pid}").exists() for pid in begun)


def spec_for(scratch, number=1, **changes):
    keys = ("covers_scratch", "other_uid", "control_groups", "is_contained", "leaves_no_ipc", "needs_note")
    return dict.fromkeys(keys, False) | {"scratch": scratch, "number": number} | changes


def test_a_ledger_says_what_is_to_be_ended():
    ledger = Ledger()
    try:
        assert ledger.slot_of(spec_for("/a"), None) is None
        slots = [ledger.write(spec_for("/a"), None), ledger.write(spec_for("/b"), 61184)]
        assert ledger.slot_of(spec_for("/b"), 61184) == slots[1]
        for other in (spec_for("/b"), 61185), (spec_for("/b", 2), 61184), (spec_for("/b", 0), 61184):
            assert ledger.slot_of(*other) is None  # another launch, or one of no kind
        assert [(bot.outline["scratch"], bot.pid, bot.uid) for bot in noted_bots(ledger.file)] == [
            ("/a", 0, None),
            ("/b", 0, 61184),
        ]
        assert ledger.write(spec_for("/b", 2), None) == slots[1]
        ledger.keep_only({"/b"})
        assert [(bot.slot, bot.uid) for bot in noted_bots(ledger.file)] == [(slots[1], None)]
        assert ledger.free("/b") == slots[1]
        assert [*noted_bots(ledger.file)] == []
        with pytest.raises(StepError, match="no room for"):
            ledger.write(spec_for("/long", control_groups="x" * 8192), None)
        for number in range(256):
            ledger.write(spec_for(str(number)), None)
        with pytest.raises(StepError, match="256 bots: no room"):
            ledger.write(spec_for("/one more"), None)
    finally:
        ledger.close()


def test_a_bot_whose_control_group_takes_long_to_die_stays_in_the_ledger(tmp_path, monkeypatch):
    """Else nobody would remove the group if the arena ended now. A directory with something in it stays, too."""
    monkeypatch.setattr(fork_server, "GROUP_SECONDS", 0.0)
    (tmp_path / "group/member").mkdir(parents=True)
    group = {"directory": str(tmp_path / "group"), "join_file": "tasks", "settings": {}, "optional_settings": {}}
    slow = spec_for(make_scratch(), control_groups=[group], is_contained=True)
    bot = Bot(name="b", version="1", command=("true",), directory="/")
    ledger, running = Ledger(), {1 << 30: fork_server.RunningBot(slow, None)}
    ledger.write(slow, None)
    server = launch_server.LocalServer(ledger, running)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        server.exchange({"ended": 1 << 30, "has_left": False})
        for is_kept in (True, False):
            spec = make_launch_spec(bot, choose_isolation("none"), DEFAULT_LIMITS, make_scratch())
            launched = server.exchange({"launch": spec}, [null, null, null])
            os.waitpid(launched["pid"], 0)
            assert (slow["scratch"] in ledger.slots) == is_kept
            shutil.rmtree(tmp_path / "group/member", ignore_errors=True)
            server.exchange({"ended": launched["pid"], "has_left": False})
    finally:
        os.close(null)
        server.close()
        ledger.close()


def test_a_launch_without_a_fork_server_takes_no_process_of_another_bot_for_its_own():
    """A process that has left its bot's session, and that this process has adopted, seemed to be of that launch."""
    close_launcher()
    isolation, command = choose_isolation("none"), ("sh", "-c", "(setsid sleep 1000 & echo $!); cat")
    leaves = Bot(name="b", version="1", command=command, directory="/")
    with Subprocess(leaves, isolation, DEFAULT_LIMITS) as first:
        assert first.poll(10_000)
        left = int(first.read_stdout())
        os.kill(open_launcher().pid, signal.SIGKILL)
        with Subprocess(leaves, isolation, DEFAULT_LIMITS):
            assert Path(f"/proc/{left}/stat").read_text().split()[2] != "Z"


def test_a_fork_server_holds_the_uids_of_bots_in_a_ledger():
    """So no other arena takes one, and kills its processes, between the death of the arena and the end of its bots."""
    uid = bot_uids.LAST_UID
    lock = bot_uids.lock_uid(uid)
    assert fork_server.handle_request({"slot": 3, "uid": uid}, [os.dup(lock.fileno())], {}, None) == {}
    lock.close()
    assert bot_uids.lock_uid(uid) is None
    assert fork_server.handle_request({"slot": 3}, [], {}, None) == {}
    bot_uids.lock_uid(uid).close()
