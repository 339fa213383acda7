"""Levels: found by trying, demanded or refused clearly, and honest when something is missing or broken."""

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
from arena.sandbox.isolation import levels, sandbox_policy
from arena.sandbox.isolation.levels import PREFERRED, choose_isolation, probe_level
from arena.sandbox.isolation.sandbox_policy import Isolation
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
    reason = "limits+cgroup was not tried to the end: a test program did not end within 0 s"
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
        assert process.ask(b"hello", 20.0).body == SENTENCES


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
