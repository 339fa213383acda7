"""The launcher: a small program that starts bots in their confinement, and ends them if the arena's process dies.

Run once for each process that launches bots, with nothing but the standard library, so it is small and forking it is
cheap. It reads plans from a socket; ``arena.isolation.launch_spec`` says what is in one. All policy is there, and here
and in ``arena.isolation.sandbox_child`` is only the doing.

A bot is cloned with CLONE_PARENT, which makes it a child of the arena's process and not of this one: that process reaps
it and learns how it ended.

When the other end of the socket is closed, because the arena's process has left or has been killed, everything the bots
have left is ended and removed.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import time
from typing import Any

if __name__ == "__main__":  # run without site-packages, so nothing but the standard library and this package is found
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from arena.isolation.removal import remove_tree
from arena.isolation.sandbox_child import (
    LaunchSpec,
    StepError,
    exec_bot,
    libc,
    require_success,
    switch_user,
    write_kernel_file,
)
from arena.isolation.system_v import remove_of_uid

FIRST_UID, LAST_UID = 61184, 65519
"""Uids that are nobody's: the range systemd sets aside for services it makes up users for (systemd.io/UIDS-GIDS)."""

_CLONE_PARENT = 0x00008000
_SYS_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}


class RunningBot:
    """What has to be ended and removed with a bot."""

    def __init__(self, spec: LaunchSpec) -> None:
        self.scratch: str = spec["scratch"]
        self.control_groups: list[str] = [group["directory"] for group in spec["control_groups"]]
        self.is_held = bool(
            spec["seccomp"] or spec["control_groups"]
        )  # it can't leave its process group, or its groups
        self.leaves_no_ipc = bool(spec["seccomp"] or (spec["mounts"] and spec["mounts"]["own_ipc"]))
        self.uid_lock: socket.socket | None = None
        self.uid: int | None = None


def reserve_uid() -> tuple[int, socket.socket]:
    """Return a uid that no other bot on this machine has, and the lock on it, which dies with this process."""
    for uid in range(FIRST_UID, LAST_UID + 1):
        lock = lock_uid(uid)
        if lock is not None:
            return uid, lock
    raise StepError("uid", 11, f"{FIRST_UID} to {LAST_UID} are all in use")


def lock_uid(uid: int) -> socket.socket | None:
    """Return the lock on a uid; None if another bot has it."""
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind(f"\0arena-bot-uid-{uid}")
    except OSError:
        lock.close()
        return None
    return lock


def make_control_groups(spec: LaunchSpec) -> None:
    """Make the bot's control groups and set their limits."""
    for group in spec["control_groups"]:
        try:
            os.mkdir(group["directory"])
            for name, value in group["settings"].items():
                write_kernel_file(os.path.join(group["directory"], name), value)
            for name, value in group["optional_settings"].items():
                with contextlib.suppress(FileNotFoundError):
                    write_kernel_file(os.path.join(group["directory"], name), value)
        except OSError as error:
            raise StepError("control group", error.errno or 0, str(error.filename)) from error


def launch(spec: LaunchSpec, descriptors: list[int]) -> tuple[int, RunningBot]:
    """Clone a child that becomes the bot.

    Args:
        spec: how it is launched.
        descriptors: its stdin, stdout and stderr, and a pipe for what goes wrong before the exec.
    """
    running = RunningBot(spec)
    try:
        make_control_groups(spec)
        if spec["other_uid"]:
            running.uid, running.uid_lock = reserve_uid()
            os.chown(spec["scratch"], running.uid, running.uid)
        machine = os.uname().machine
        if machine not in _SYS_CLONE:
            raise StepError(f"bots can't be launched on {machine}, only on {', '.join(_SYS_CLONE)}", 0)
        number = _SYS_CLONE[machine]
        pid = require_success("clone", libc.syscall(number, ctypes.c_ulong(_CLONE_PARENT | signal.SIGCHLD), 0, 0, 0, 0))
    except BaseException:
        clean_up(running)
        raise
    if pid == 0:
        exec_bot(spec, descriptors, running.uid)
    return pid, running


def kill_uid(uid: int) -> None:
    """Kill every process of a bot's uid, at once and whatever its parents are, and remove its System V objects."""
    pid = os.fork()
    if pid == 0:
        try:
            switch_user(uid)
            if os.getresuid() == (uid, uid, uid) and FIRST_UID <= uid <= LAST_UID:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
                remove_of_uid(uid)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.waitpid(pid, 0)


def clean_up(running: RunningBot) -> None:
    """End and remove what a bot that is dead has left."""
    for directory in running.control_groups:
        remove_control_group(directory)
    if running.uid is not None and not (running.is_held and running.leaves_no_ipc):
        kill_uid(running.uid)
    if running.uid_lock is not None:
        running.uid_lock.close()
    remove_tree(running.scratch)


def remove_control_group(directory: str) -> None:
    """Kill what is in a control group and remove it."""
    for _ in range(1000):
        try:
            os.rmdir(directory)
            return
        except FileNotFoundError:
            return
        except OSError:
            with contextlib.suppress(OSError), open(os.path.join(directory, "cgroup.procs")) as members:
                for pid in map(int, members):
                    if pid > 0:  # 0 stands for a process of another namespace
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)


def serve(connection: socket.socket) -> None:
    """Launch bots as plans come in, until the other end is closed; then end those that are left."""
    alive: dict[int, RunningBot] = {}
    while True:
        try:
            message, descriptors = receive(connection)
        except OSError:
            break
        if not message:
            break
        request = json.loads(message)
        try:
            reply = answer(request, descriptors, alive)
        except StepError as error:
            reply = {"failed": error.report}
        except Exception as error:  # our own failure: the match will be void
            reply = {"failed": {"step": f"{type(error).__name__}: {error}", "errno": 0, "subject": ""}}
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            connection.send(json.dumps(reply).encode())
        except OSError:
            break
    for pid in alive:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for running in alive.values():
        clean_up(running)


def answer(request: dict[str, Any], descriptors: list[int], alive: dict[int, RunningBot]) -> dict[str, Any]:
    """Do what is asked: launch a bot, clean up after one that is dead, or take over one from a launcher that died."""
    if "launch" in request:
        pid, alive[pid] = launch(request["launch"], descriptors)
        return {"pid": pid, "uid": alive[pid].uid}
    if "ended" in request:
        running = alive.pop(request["ended"], None)
        if running is not None:
            clean_up(running)
        return {}
    running = RunningBot(request["adopt"])
    running.uid = request["uid"]
    if running.uid is not None:
        running.uid_lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with contextlib.suppress(OSError):
            running.uid_lock.bind(f"\0arena-bot-uid-{running.uid}")
    alive[request["pid"]] = running
    return {}


def receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message and the descriptors that came with it."""
    message, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(16 * 4))
    descriptors = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % 4])
    return message, list(descriptors)


def main() -> None:
    """Serve the socket that is standard input."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    serve(socket.socket(fileno=os.dup(0)))


if __name__ == "__main__":
    main()
