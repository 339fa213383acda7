import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.base.records import Bot
from arena.sandbox.isolation import levels, procfs
from arena.sandbox.isolation.levels import choose_isolation

NAMESPACE = "import ctypes, json; print(json.dumps(ctypes.CDLL(None).unshare(0x10000000)))"


def test_no_more_of_an_environment_is_read_than_is_allowed(monkeypatch):
    monkeypatch.setattr(procfs, "MAX_ENVIRONMENT_BYTES", 100)
    command = [sys.executable, "-I", "-S", "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {"FIRST": "1", "LONG": "x" * 100_000}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = procfs.environment(process.pid)
    assert found[0] == b"FIRST=1"
    assert sum(map(len, found)) < 100


@pytest.mark.parametrize("level", ["none", "limits"])
def test_in_its_user_namespace_a_bot_makes_no_other(level):
    """In it, it could mount file systems in memory that nobody counts."""
    if not choose_isolation("limits").user_namespace:
        pytest.skip("needs user namespaces for bots")
    bot = Bot(
        name="b",
        version="1",
        command=(sys.executable, "-I", "-S", "-c", NAMESPACE),
        directory=str(Path(sys.executable).parent),
    )
    assert levels.run_test_program(bot, choose_isolation(level)) == -1


@pytest.mark.parametrize(
    ("state", "flags", "hides"),
    [("R", 0x400000, True), ("S", 0x404100, True), ("R", 0x40000C, False), ("Z", 0x40000C, False), ("X", 0, False)],
)
def test_a_process_that_is_exiting_hides_nothing(tmp_path, monkeypatch, state, flags, hides):
    """Its files can't be listed for a moment, in which a busy machine may leave it: PF_EXITING is 4 (linux/sched.h)."""
    (tmp_path / "stat").write_text(f"7 (a b) c) {state} 1 7 7 0 -1 {flags} 0 0\n")
    opened = os.open

    def refuse(path, *arguments):
        if path == f"{tmp_path}/fd":
            raise PermissionError
        return opened(path, *arguments)

    monkeypatch.setattr(procfs.os, "open", refuse)
    assert procfs.is_hidden(str(tmp_path)) == hides
