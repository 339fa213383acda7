"""Which isolation levels this machine provides, tested by a program that really tries to escape.

==============  ====================================================================================================
``none``        a session of its own, a clean environment, no inherited descriptors; as root another uid
``limits``      + resource limits, no_new_privs
``landlock``    + Landlock (files, TCP, signals) and a seccomp filter; needs nothing installed
``bubblewrap``  namespaces for files, processes, network and the rest instead of Landlock; needs ``bwrap``
==============  ====================================================================================================

Where control groups can be created, every level but ``none`` also limits the sum of memory and processes: "+cgroup".
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import select
import shlex
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.base.enums import IsolationLevel
from arena.base.errors import ArenaError, UsageError
from arena.base.records import Bot, Limits
from arena.base.shipped import path_of
from arena.sandbox.isolation.control_groups import find_parent_groups
from arena.sandbox.isolation.file_access import find_bubblewrap, landlock_abi
from arena.sandbox.isolation.interpreters import arena_interpreter, arena_python
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.procfs import process_tag
from arena.sandbox.isolation.reaper import PROBE_PREFIX
from arena.sandbox.isolation.removal import remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation, is_root, is_warm, make_launch_spec
from arena.sandbox.isolation.seccomp import ARCHITECTURES

PROBE_SECONDS = 60.0
"""The time for the test of a level: a busy machine is slow, and one on which the test never ends is tested once."""

NO_CONTROL_GROUPS = (
    "no control group for memory and processes can be made here, which takes root or a delegated systemd unit"
)

PREFERRED = (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP, IsolationLevel.LIMITS, IsolationLevel.NONE)
"""The order in which "auto" tries the levels. Of what the sandbox probe and the bad bots try, Landlock and bubblewrap
prevent the same; with Landlock a bot starts in a third of the time, and nothing needs to be installed."""

_log = logging.getLogger("arena.sandbox.isolation")

_REFUSED_AT_LIMITS = frozenset({"raise its own limits"})
"""The attempts of the sandbox probe that must fail at the level ``limits``; at the levels above, all must fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What testing a level with the sandbox probe has shown.

    Attributes:
        escapes: the attempts that succeeded, forbidden at this level or not.
        untested: what may be better, but was passed over because its test did not end in time; empty if nothing.
    """

    isolation: Isolation
    escapes: tuple[str, ...] = ()
    problem: str = ""
    untested: str = ""

    @property
    def is_available(self) -> bool:
        """Whether bots can be run at this level."""
        return not self.problem


def choose_isolation(wanted: str) -> Isolation:
    """Return the isolation of a level; "+cgroup" demands control groups, "auto" is the first of ``PREFERRED``."""
    if wanted == "auto":
        return _preferred()
    name, plus, suffix = wanted.partition("+")
    if name not in set(IsolationLevel) or (plus and (suffix != "cgroup" or name == IsolationLevel.NONE)):
        levels = ", ".join(f"'{level}'" for level in IsolationLevel)
        raise UsageError(f"isolation = {wanted!r}: expected 'auto', {levels}, each but 'none' also with '+cgroup'")
    result = probe_level(IsolationLevel(name))
    if not result.is_available:
        raise UsageError(
            f"isolation = {wanted!r}: this machine can't give it: {result.problem}; 'auto' takes the best it has,"
            " and arena home doctor tells what that is"
        )
    if plus and not result.isolation.groups:
        raise UsageError(f"isolation = {wanted!r}: {groups_problem(result)}; without '+cgroup' limits are per process")
    return result.isolation


def isolation_for(bots: Collection[Bot], wanted: str) -> Isolation:
    """Return the isolation for some bots; Python functions alone need none, so no level is probed for them."""
    return Isolation() if bots and all(bot.is_function for bot in bots) else choose_isolation(wanted)


def groups_problem(result: ProbeResult) -> str:
    """Return why a level comes without control groups."""
    return result.untested or NO_CONTROL_GROUPS


def _preferred() -> Isolation:
    for level in PREFERRED:
        result = probe_level(level)
        if result.is_available:
            return result.isolation
    raise UsageError(f"isolation = 'auto': no bot can be launched on this machine: {result.problem}")


@functools.cache
def probe_level(level: IsolationLevel) -> ProbeResult:
    """Test whether a level is available on this machine, preferably with control groups and user namespaces."""
    problem = _missing_requirement(level)
    if problem:
        return ProbeResult(isolation=Isolation(level=level), problem=problem)
    untested = ""
    for isolation in _variants(level):
        result = _probe(isolation)
        untested = untested or result.untested
        if result.is_available:
            break
    if untested:
        _log.warning("isolation: %s", untested)
    return replace(result, untested=untested)


def _variants(level: IsolationLevel) -> list[Isolation]:
    """Return how a level may be provided, best first; control groups matter more than the bot's own file systems."""
    groups = (True, False) if level != IsolationLevel.NONE and find_parent_groups() is not None else (False,)
    namespaces = (
        (False,) if is_root() or level == IsolationLevel.BUBBLEWRAP or sys.platform != "linux" else (True, False)
    )
    return [
        Isolation(level=level, groups=with_groups, user_namespace=with_namespace)
        for with_groups in groups
        for with_namespace in namespaces
    ]


def _missing_requirement(level: IsolationLevel) -> str:
    """Return what this machine lacks for a level, as far as that is known without a test; empty if nothing."""
    if sys.platform != "linux":
        return "" if level == IsolationLevel.NONE else "it needs Linux"
    if level in (IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP) and os.uname().machine not in ARCHITECTURES:
        return f"there is no system call filter for {os.uname().machine}, only for {' and '.join(ARCHITECTURES)}"
    if level == IsolationLevel.LANDLOCK and landlock_abi() < 1:
        return "the kernel has no Landlock (it came with Linux 5.13 and may be switched off: lsm=landlock,…)"
    if level == IsolationLevel.BUBBLEWRAP and find_bubblewrap() is None:
        return "bwrap is not installed (apt install bubblewrap, dnf install bubblewrap)"
    return ""


def _probe(isolation: Isolation) -> ProbeResult:
    if sys.platform != "linux":
        return ProbeResult(isolation=isolation)  # the level none: there is nothing to try to escape from
    try:
        report = _run_probe(isolation)
    except _TooSlowError as error:
        untested = f"{isolation.label} was not tested completely: {error}"
        return ProbeResult(isolation=isolation, problem=str(error), untested=untested)
    except (ArenaError, OSError) as error:
        return ProbeResult(isolation=isolation, problem=str(error))
    escapes = tuple(report["escapes"])
    return ProbeResult(isolation=isolation, escapes=escapes, problem=_problem(isolation.level, report))


def _problem(level: IsolationLevel, report: dict[str, Any]) -> str:
    """Return why a level can't be offered after what the probe reports; empty if it can."""
    if level == IsolationLevel.NONE:
        return ""
    if report["refused"]:
        return f"bots could not {' or '.join(report['refused'])}"
    forbidden = set(report["escapes"])
    if level == IsolationLevel.LIMITS:
        forbidden &= _REFUSED_AT_LIMITS
    if forbidden:
        return f"a test program could {', '.join(sorted(forbidden))}"
    return "a test program ran as root" if is_root() and report["uid"] == 0 else ""


def _run_probe(isolation: Isolation) -> dict[str, Any]:
    outside = tempfile.mkdtemp(prefix=f"{PROBE_PREFIX}{process_tag()}-")
    try:
        return _run_probe_beside(Path(outside), isolation)
    finally:
        remove_tree(outside)


def _run_probe_beside(outside: Path, isolation: Isolation) -> dict[str, Any]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        if is_root():  # the probe runs as another user, who must be able to reach the files but for its confinement
            outside.chmod(0o1707)
        secret = outside / "secret"
        secret.write_text("secret")
        secret.chmod(0o604 if is_root() else 0o600)
        program = str(path_of("arena.sandbox.isolation.sandbox_probe"))
        arguments = (str(secret), str(outside), str(listener.getsockname()[1]), str(os.getpid()))
        launch = _write_probe_bot(outside, (arena_interpreter(), "-I", "-S", program))
        bot = Bot(
            name="self-test",
            version="1",
            command=(str(launch), *arguments),
            directory=str(launch.parent),
            own_files=(str(launch.parent), program, *arena_python()),
        )
        report: dict[str, Any] = run_test_program(bot, isolation)
        return report


def _write_probe_bot(outside: Path, command: tuple[str, ...]) -> Path:
    """Write a bot that runs ``command`` and whose files name files it may not read; return its program."""
    for directory in ("bot/bin", "home/bin"):
        (outside / directory).mkdir(parents=True)
    for name in ("named", "bot/beside", "home/beside", "home/bin/python3"):
        (outside / name).write_text("secret")
    launch = outside / "bot/bin/launch"
    launch.write_text(f"#!./start {outside}/named\n")
    (launch.parent / "start").write_text(f'#!/bin/sh\nshift 2\nexec {shlex.join(command)} "$@"\n')
    (launch.parent / "link").symlink_to(outside / "named")
    (outside / "bot/pyvenv.cfg").write_text(f"home = {outside}/home/bin\n")
    for path in outside.rglob("*"):
        path.chmod(0o755)
    return launch


def run_test_program(bot: Bot, isolation: Isolation) -> Any:
    """Run a program as a bot and return what it prints, as JSON."""
    launcher = open_launcher()
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    launched = None
    try:
        spec = make_launch_spec(bot, isolation, Limits(), launcher.take_scratch(is_warm(bot, isolation)))
        launched = launcher.launch(spec, (null, write_end, write_end))
        os.close(write_end)
        write_end = -1
        output = _read_in_time(read_end)
    finally:
        for descriptor in (read_end, write_end, null):
            if descriptor >= 0:
                os.close(descriptor)
        if launched is not None:
            with contextlib.suppress(OSError):
                os.killpg(launched.pid, signal.SIGKILL)
            os.waitpid(launched.pid, 0)
            launcher.forget(launched.pid, set())
    lines = output.decode(errors="replace").strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (ValueError, IndexError):
        raise ArenaError(f"a test program did not run: {lines[-1] if lines else 'it printed nothing'}") from None


def _read_in_time(descriptor: int) -> bytes:
    output = b""
    deadline = time.monotonic() + PROBE_SECONDS
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while (remaining_seconds := deadline - time.monotonic()) > 0 and poll.poll(remaining_seconds * 1000):
        chunk = os.read(descriptor, 65536)
        if not chunk:
            return output
        output += chunk
    raise _TooSlowError(f"a test program did not end within {PROBE_SECONDS:g} s, which happens on a busy machine")


class _TooSlowError(ArenaError):
    """A test program did not end in time, which says nothing about the level."""
