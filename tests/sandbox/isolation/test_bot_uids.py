"""Killing what a bot's uid has left."""

import os
import signal
import subprocess

import pytest

from arena.sandbox.isolation import bot_uids
from arena.sandbox.isolation.call_list import CallList

STRIKES_BACK = """
trap '' INT
left=40
while [ $left -gt 0 ]; do
    kill -s INT -- -1
    left=$((left - 1))
    sleep 0.02
done
exec cat pipe
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives bots uids of their own")
def test_what_kills_a_uid_is_safe_from_its_processes(open_path, monkeypatch):
    """It shares the memory of the arena's process, which waits for it: a signal would run the arena's handler."""
    os.mkfifo(open_path / "pipe")
    (open_path / "pipe").chmod(0o666)

    class Waiting(CallList):
        def add(self, name, *arguments, **settings):
            super().add(name, *arguments, **settings)
            if name == "setresuid":
                super().add("openat", -100, str(open_path / "pipe"), os.O_WRONLY)

    monkeypatch.setattr(bot_uids, "CallList", Waiting)
    uid, command = bot_uids.LAST_UID, ["/bin/sh", "-c", STRIKES_BACK]
    as_bot = {"user": uid, "group": uid, "extra_groups": [], "stderr": subprocess.DEVNULL}
    with bot_uids.lock_uid(uid), subprocess.Popen(command, cwd=open_path, **as_bot) as left:
        bot_uids.kill_uid(uid)
        assert left.wait(10.0) == -signal.SIGKILL
