"""A bot's program: launched with three pipes, frozen, drained and ended. It knows bytes, not messages."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Iterator
from typing import NamedTuple

import arena.botkit  # noqa: F401 - compiles it: bots, which import it too, may not write what Python has compiled
from arena.base.enums import IsolationLevel
from arena.base.errors import VoidMatchError
from arena.base.records import Bot, Limits
from arena.match.players.bot_output import HeadTailBuffer
from arena.protocol.frames import HEADER_BYTES
from arena.sandbox.isolation import procfs, reaper
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.launcher_client import LaunchedBot
from arena.sandbox.isolation.removal import may_leave_shared_memory, remove_made_by, remove_tree
from arena.sandbox.isolation.sandbox_policy import Isolation, is_warm, kept_launch_spec
from arena.sandbox.metering.resource_monitor import ResourceMonitor

EXIT_SECONDS = 5.0
"""How long a killed program may take to be gone."""

RUNNING = "running"
"""The ``exit_text`` of a program that has not exited."""

_MAX_LAST_READS = 16
"""The most reads of a dead program's stderr, which another process may still hold and fill."""


class Subprocess:
    """One running program. Use as a context manager, or call ``end`` exactly once.

    Attributes:
        pidfd: becomes readable when the program exits.
        poll: waits some milliseconds until a pipe is ready or the program exits; returns descriptors with their events.
        exit_text: "running", "exit status N" or "signal NAME".
        unsent: the bytes that did not fit into its stdin.
    """

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits, input_file: int | None = None) -> None:
        """Launch a bot; its stdin is ``input_file`` if given, else the pipe for ``send``.

        Raises:
            BotError: of kind start, if the program can't be executed.
            VoidMatchError: if this machine has no room for a process.
        """
        self._launched, (self.stdin, self.stdout, self.stderr) = _launch(bot, isolation, limits, input_file)
        self.pid = self._launched.pid
        self.uid = self._launched.uid
        self.scratch: str = self._launched.spec["scratch"]
        self.monitor = ResourceMonitor(self._launched, limits, isolation.level != IsolationLevel.NONE, self._stopped)
        self.exit_text = RUNNING
        self.is_frozen = False
        self.unsent = b""
        self.stderr_text = HeadTailBuffer()
        at_exit = self._launched.exit_descriptor
        self.pidfd = os.pidfd_open(self.pid) if at_exit is None else at_exit
        self._usage: resource.struct_rusage | None = None
        self._poll = select.poll()
        for descriptor in (self.stdout, self.stderr, self.pidfd):
            self._poll.register(descriptor, select.POLLIN)
        self.poll = self._poll.poll
        self._read_bytes = limits.message_bytes + HEADER_BYTES + 1
        self._is_wrapped = isolation.level == IsolationLevel.BUBBLEWRAP
        self._is_reaped = False
        self._members: set[int] = set()  # all processes that it is known to have had, if that has to be known
        self._members_matter = open_launcher().needs_members(self._launched)
        self._has_stderr_ended = False
        self._freezes_members = False
        self._frozen_members: set[int] = set()

    def __enter__(self) -> Subprocess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    # pipes

    def poll_stdin(self, is_polled: bool) -> None:
        """Have ``poll`` wait for room in stdin too, or no longer."""
        if is_polled:
            self._poll.register(self.stdin, select.POLLOUT)
        else:
            self._poll.unregister(self.stdin)

    def send(self, data: bytes) -> None:
        """Write what fits into stdin, without waiting; the rest is ``unsent``.

        A closed pipe is no error here: the exit of the program explains it.
        """
        data = self.unsent + data if self.unsent else data
        try:
            written = os.write(self.stdin, data)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            written = len(data)
        self.unsent = data[written:]

    def send_rest(self) -> None:
        """Write as much of ``unsent`` as fits."""
        self.send(b"")

    def read_stdout(self) -> bytes | None:
        """Return what stdout holds, at most one message's worth; no bytes at its end, None if nothing has come."""
        try:
            chunk = os.read(self.stdout, self._read_bytes)
        except BlockingIOError:
            return None
        if not chunk:
            self._stop_polling(self.stdout)
        return chunk

    def drain_stderr(self) -> bool:
        """Read what stderr holds and keep it; return whether it held anything."""
        return self._drain(self.stderr)

    def drain_last_stderr(self) -> None:
        """Keep what a dead program has left in stderr."""
        for _ in range(_MAX_LAST_READS):
            if self._has_stderr_ended or not self._drain(self.stderr):
                return

    def _drain(self, descriptor: int) -> bool:
        try:
            chunk = os.read(descriptor, self._read_bytes)
        except BlockingIOError:
            return False
        if not chunk:
            self._stop_polling(descriptor)
            self._has_stderr_ended |= descriptor == self.stderr
        elif descriptor == self.stderr:
            self.stderr_text.add(chunk)
        return bool(chunk)

    def _stop_polling(self, descriptor: int) -> None:
        with contextlib.suppress(KeyError):
            self._poll.unregister(descriptor)

    # signals

    def freeze(self) -> None:
        """Stop the program's group, until ``thaw``; each of its processes once ``freeze_members`` has been called."""
        self._signal_group(signal.SIGSTOP)
        if self._freezes_members:
            self.freeze_members()
        self.is_frozen = True

    @contextlib.contextmanager
    def _stopped(self) -> Iterator[None]:
        was_frozen = self.is_frozen
        if not was_frozen:
            self.freeze()
        try:
            yield
        finally:
            if not was_frozen:
                self.thaw()

    def freeze_members(self) -> None:
        """Stop every process that belongs to the program, in whatever group it is."""
        self._freezes_members = True
        self._frozen_members |= self._current_members()
        self._signal_frozen_members(signal.SIGSTOP)

    @property
    def has_frozen_members(self) -> bool:
        """Whether its processes have been stopped one by one."""
        return bool(self._frozen_members)

    def thaw(self) -> None:
        """Continue a frozen program."""
        self._signal_group(signal.SIGCONT)
        self._signal_frozen_members(signal.SIGCONT)
        self._frozen_members.clear()
        self.is_frozen = False

    def is_stopped(self) -> bool:
        """Return whether no process of the program runs, and none can be continued by a timer of its own."""
        return all(procfs.is_stopped(pid) for pid in self._current_members())

    def kill(self) -> None:
        """Kill the program with its group, and all other processes that belong to it; ``end`` must follow."""
        self._note_members()
        self._signal_group(signal.SIGKILL)
        for pid in self._current_members() - {self.pid}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _signal_frozen_members(self, number: int) -> None:
        for pid in self._frozen_members & self._current_members() if self._frozen_members else ():
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _signal_group(self, number: int) -> None:
        if not self._is_reaped:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)

    def _note_members(self) -> None:
        """Remember the program's processes: once it is dead, nothing may show that they were its own."""
        if self._members_matter and not self._is_reaped:
            self._members |= self._current_members()

    def _current_members(self) -> set[int]:
        return reaper.bot_processes(self.pid, self.uid, self.scratch)

    # the end

    def has_exited(self) -> bool:
        """Return whether the program has exited; ``exit_text`` then says how. It is not reaped."""
        if self.exit_text != RUNNING:
            return True
        if not hasattr(os, "waitid"):
            return self._has_been_reaped()
        result = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if result is None:
            return False
        signal_number = None if result.si_code == os.CLD_EXITED else result.si_status
        if self._is_wrapped and signal_number is None and 128 < result.si_status < 193:
            signal_number = result.si_status - 128  # how a wrapping program reports a signal
        if signal_number is None:
            self.exit_text = f"exit status {result.si_status}"
        else:
            self.exit_text = f"signal {_signal_name(signal_number)}"
        return True

    def _has_been_reaped(self) -> bool:
        """Reap the program if it has exited: without ``waitid`` there is no other way to look."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if not pid:
            return False
        self._signal_group(signal.SIGKILL)
        self._is_reaped = self.monitor.is_bot_reaped = True
        self._usage = usage
        code = os.waitstatus_to_exitcode(status)
        self.exit_text = f"exit status {code}" if code >= 0 else f"signal {_signal_name(-code)}"
        return True

    def wait_for_exit(self, seconds: float) -> bool:
        """Wait for the exit, draining both pipes; return whether it came."""
        deadline = time.perf_counter() + seconds
        while self.exit_text == RUNNING:
            remaining_seconds = deadline - time.perf_counter()
            if remaining_seconds <= 0:
                return self.has_exited()
            for descriptor, _ in self.poll(remaining_seconds * 1000):
                if descriptor in (self.stdout, self.stderr):
                    self._drain(descriptor)
                else:
                    self.has_exited()
        return True

    def broken_limit_after_exit(self) -> str | None:
        """Reap the program, which has exited, and return the limit that it died of, with figures; None if of none."""
        self._note_members()
        self._signal_group(signal.SIGKILL)
        usage = self._reap()
        self.drain_last_stderr()
        return self.monitor.broken_limit_after_exit(self.exit_text, usage, self.stderr_text.last_bytes())

    def _reap(self) -> resource.struct_rusage | None:
        if self._is_reaped:
            usage, self._usage = self._usage, None
            return usage
        _, _, usage = os.wait4(self.pid, 0)
        self._is_reaped = self.monitor.is_bot_reaped = True
        return usage

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the program and everything it started; return whether it exited by itself, within ``grace_seconds``."""
        if self._members_matter:
            self.freeze()  # processes that are stopped can be counted, and can't keep us from it
            self._note_members()
        if self._members_matter or self.is_frozen:
            self.thaw()
        with contextlib.suppress(OSError):
            os.write(self.stdin, self.unsent + last_words)
        if grace_seconds:
            self.wait_for_exit(grace_seconds)
        exited_by_itself = self.has_exited()
        if self._members_matter:
            self._signal_group(signal.SIGSTOP)
            self._note_members()
        self._signal_group(signal.SIGKILL)
        if not self.wait_for_exit(EXIT_SECONDS):
            reaper.end_tracers({self.pid}, {os.getpid()})
        self.drain_last_stderr()
        self._reap()
        self.monitor.close()
        for descriptor in (self.stdin, self.stdout, self.stderr, self.pidfd):
            os.close(descriptor)
        open_launcher().forget(self.pid, self._members)
        if may_leave_shared_memory(self._launched.spec):
            remove_made_by(self._members)
        return exited_by_itself


class _Pipes(NamedTuple):
    stdin: int
    stdout: int
    stderr: int


def _launch(bot: Bot, isolation: Isolation, limits: Limits, input_file: int | None) -> tuple[LaunchedBot, _Pipes]:
    launcher = open_launcher()
    descriptors: list[int] = []
    scratch = ""
    try:
        scratch = launcher.take_scratch(is_warm(bot, isolation))
        for _ in range(3):
            descriptors += os.pipe()
        stdin_read, stdin_write, stdout_read, stdout_write, stderr_read, stderr_write = descriptors
        spec = kept_launch_spec(bot, isolation, limits, scratch)
        standard_input = stdin_read if input_file is None else input_file
        launched = launcher.launch(spec, (standard_input, stdout_write, stderr_write))
    except BaseException as error:
        for descriptor in descriptors:
            os.close(descriptor)
        remove_tree(scratch)
        if isinstance(error, OSError):
            raise VoidMatchError(f"no bot can be launched: {error.strerror}") from error
        raise
    for descriptor in (stdin_read, stdout_write, stderr_write):
        os.close(descriptor)
    pipes = _Pipes(stdin_write, stdout_read, stderr_read)
    for descriptor in pipes:
        os.set_blocking(descriptor, False)
    return launched, pipes


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
