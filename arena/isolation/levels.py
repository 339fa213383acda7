"""Which isolation levels this machine gives: found out by a program that really tries to escape.

==============  ====================================================================================================
``none``        a session of its own, a clean environment, no inherited descriptors; under root another uid
``limits``      + resource limits, no_new_privs
``landlock``    + Landlock (files, TCP, signals) and a seccomp filter; needs nothing installed
``bubblewrap``  namespaces for files, processes, network and the rest instead of Landlock; needs ``bwrap``
==============  ====================================================================================================

Where control groups can be made, every level but ``none`` also holds memory and processes in sum: "+cgroup".
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import shlex
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.enums import IsolationLevel
from arena.errors import ArenaError, UsageError
from arena.isolation.bubblewrap import find_bubblewrap
from arena.isolation.control_groups import find_parent_groups
from arena.isolation.interpreters import arena_interpreter, arena_python
from arena.isolation.landlock import landlock_abi
from arena.isolation.launch_spec import Isolation, is_root, make_launch_spec
from arena.isolation.launcher_client import make_scratch, open_launcher
from arena.isolation.process_tag import process_tag
from arena.isolation.removal import remove_tree
from arena.isolation.seccomp import ARCHITECTURES
from arena.isolation.stale_cleanup import PROBE_PREFIX
from arena.records import Bot, Limits

SELF_TEST_SECONDS = 20.0

PREFERRED = (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP, IsolationLevel.LIMITS, IsolationLevel.NONE)
"""What "auto" tries. Landlock and bubblewrap hold the same of what the self-test and the zoo try; Landlock starts a bot
in a third of the time and needs nothing installed."""

_HELD_BY_LIMITS = frozenset({"raise its own limits"})
"""Of what the test program tries, all that the level ``limits`` holds; the levels above hold everything."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What trying a level has shown.

    Attributes:
        isolation: the level.
        escapes: what the program managed that the level forbids.
        problem: why the level can't be had; empty if it can.
    """

    isolation: Isolation
    escapes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def is_available(self) -> bool:
        """Whether bots can be run at this level."""
        return not self.problem


def choose_isolation(wanted: str) -> Isolation:
    """Return the level to run under.

    Args:
        wanted: a level, with "+cgroup" behind it to demand control groups; or "auto" for the first of ``PREFERRED``.

    Raises:
        UsageError: if the level is unknown or this machine can't give it.
    """
    if wanted == "auto":
        return _preferred()
    name, plus, rest = wanted.partition("+")
    if name not in set(IsolationLevel) or (plus and (rest != "cgroup" or name == IsolationLevel.NONE)):
        known = ", ".join(f"'{level}'" for level in IsolationLevel)
        raise UsageError(f"isolation = {wanted!r}: expected 'auto', {known}, each but 'none' also with '+cgroup'")
    result = probe_level(IsolationLevel(name))
    if not result.is_available:
        raise UsageError(
            f"isolation = {wanted!r}: this machine can't give it: {result.problem}; 'auto' takes the best it has,"
            " and arena doctor tells what that is"
        )
    if plus and not result.isolation.groups:
        raise UsageError(f"isolation = {wanted!r}: {why_no_groups()}; without '+cgroup' limits are per process")
    return result.isolation


def _preferred() -> Isolation:
    """Return the first of ``PREFERRED`` that this machine gives."""
    for level in PREFERRED:
        result = probe_level(level)
        if result.is_available:
            return result.isolation
    raise UsageError(f"isolation = 'auto': no bot can be launched on this machine: {result.problem}")


def why_no_groups() -> str:
    """Say why there are no control groups."""
    return "no control group for memory and processes can be made here, which takes root or a delegated systemd unit"


@functools.cache
def probe_level(level: IsolationLevel) -> ProbeResult:
    """Find out whether this machine gives a level, with control groups and user namespaces if it can, else without."""
    problem = _what_is_missing(level)
    if problem:
        return ProbeResult(Isolation(level), problem=problem)
    for isolation in _ways(level):
        result = _self_test(isolation)
        if result.is_available:
            break
    return result


def _ways(level: IsolationLevel) -> list[Isolation]:
    """Return how a level may be given, the best first; control groups matter more than the bot's own file systems."""
    groups = (True, False) if level != IsolationLevel.NONE and find_parent_groups() is not None else (False,)
    namespaces = (
        (False,) if is_root() or level == IsolationLevel.BUBBLEWRAP or sys.platform != "linux" else (True, False)
    )
    return [Isolation(level, with_groups, with_user) for with_groups in groups for with_user in namespaces]


def _what_is_missing(level: IsolationLevel) -> str:
    """Say what is not there, without trying."""
    if sys.platform != "linux":
        return "" if level == IsolationLevel.NONE else "it needs Linux"
    if level in (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP) and os.uname().machine not in ARCHITECTURES:
        return f"there is no system call filter for {os.uname().machine}, only for {' and '.join(ARCHITECTURES)}"
    if level == IsolationLevel.LANDLOCK and landlock_abi() < 1:
        return "the kernel has no Landlock (it came with Linux 5.13 and may be switched off: lsm=landlock,…)"
    if level == IsolationLevel.BUBBLEWRAP and find_bubblewrap() is None:
        return "bwrap is not installed (apt install bubblewrap, dnf install bubblewrap)"
    return ""


def _self_test(isolation: Isolation) -> ProbeResult:
    try:
        outcome = _try_to_escape(isolation)
    except (ArenaError, OSError) as error:
        return ProbeResult(isolation, problem=str(error))
    escapes = set(outcome["escapes"])
    if isolation.level == IsolationLevel.NONE:
        return ProbeResult(isolation, tuple(escapes))
    forbidden = escapes & _HELD_BY_LIMITS if isolation.level == IsolationLevel.LIMITS else escapes
    if outcome["refused"]:
        return ProbeResult(isolation, problem=f"bots could not {' or '.join(outcome['refused'])}")
    if forbidden:
        return ProbeResult(isolation, tuple(escapes), f"a test program could {', '.join(sorted(forbidden))}")
    if is_root() and outcome["uid"] == 0:
        return ProbeResult(isolation, tuple(escapes), "a test program ran as root")
    return ProbeResult(isolation, tuple(escapes))


def _try_to_escape(isolation: Isolation) -> dict[str, Any]:
    """Run the program that tries, and return what it says."""
    outside = tempfile.mkdtemp(prefix=f"{PROBE_PREFIX}{process_tag()}-")
    try:
        return _try_to_reach(outside, isolation)
    finally:
        remove_tree(outside)


def _try_to_reach(outside: str, isolation: Isolation) -> dict[str, Any]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        if is_root():  # the program runs as another user, and what that one can't reach would be no test
            Path(outside).chmod(0o1707)
        secret = Path(outside, "secret")
        secret.write_text("secret")
        secret.chmod(0o604 if is_root() else 0o600)
        program = str(Path(__file__).with_name("sandbox_probe.py"))
        arguments = (str(secret), outside, str(listener.getsockname()[1]), str(os.getpid()))
        launch = _make_trap(Path(outside), (arena_interpreter(), "-I", "-S", program))
        own_files = (str(launch.parent), program, *arena_python())
        return _run(
            Bot(
                name="self-test",
                version="1",
                command=(str(launch), *arguments),
                directory=str(launch.parent),
                own_files=own_files,
            ),
            isolation,
        )


def _make_trap(outside: Path, command: tuple[str, ...]) -> Path:
    """Write a bot whose files name what it would like to read, and return its program, which runs ``command``."""
    for directory in ("bot/bin", "home/bin"):
        (outside / directory).mkdir(parents=True)
    for name in ("named", "bot/beside", "home/beside", "home/bin/python3"):
        (outside / name).write_text("secret")
    launch = outside / "bot/bin/launch"
    launch.write_text(f"#!./start {outside}/named\n")
    (launch.parent / "start").write_text(f'#!/bin/sh\nshift 2\nexec {shlex.join(command)} "$@"\n')
    (launch.parent / "link").symlink_to(outside / "named")
    (outside / "bot/pyvenv.cfg").write_text(f"home = {outside}/home/bin\n")
    for place in outside.rglob("*"):
        place.chmod(0o755)
    return launch


def _run(bot: Bot, isolation: Isolation) -> dict[str, Any]:
    launcher = open_launcher()
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    launched = None
    try:
        spec = make_launch_spec(bot, isolation, Limits(), make_scratch())
        launched = launcher.launch(spec, (null, write_end, write_end))
        os.close(write_end)
        write_end = -1
        said = _read_in_time(read_end)
    finally:
        for descriptor in (read_end, write_end, null):
            if descriptor >= 0:
                os.close(descriptor)
        if launched is not None:
            with contextlib.suppress(OSError):
                os.killpg(launched.pid, signal.SIGKILL)
            os.waitpid(launched.pid, 0)
            launcher.forget(launched.pid)
    lines = said.decode(errors="replace").strip().splitlines()
    try:
        outcome: dict[str, Any] = json.loads(lines[-1])
    except (ValueError, IndexError):
        raise ArenaError(f"a test program did not run: {lines[-1] if lines else 'it said nothing'}") from None
    return outcome


def _read_in_time(descriptor: int) -> bytes:
    said = b""
    deadline = time.monotonic() + SELF_TEST_SECONDS
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000):
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        said += chunk
    return said
