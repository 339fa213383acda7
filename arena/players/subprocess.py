"""A bot's program: launched with three pipes, frozen, drained and ended. What is said is not its business."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time

from arena.enums import IsolationLevel
from arena.errors import VoidMatchError
from arena.isolation import reaper
from arena.isolation.launch_spec import Isolation, make_launch_spec
from arena.isolation.launcher_client import LaunchedBot, make_scratch, open_launcher
from arena.isolation.removal import remove_tree
from arena.isolation.system_v import may_leave_shared_memory, remove_made_by
from arena.monitoring.cpu_time import cpu_clock_of
from arena.monitoring.resource_monitor import ResourceMonitor, Usage
from arena.players.head_tail_buffer import HeadTailBuffer
from arena.protocol.frames import HEADER_BYTES
from arena.records import Bot, Limits

EXIT_SECONDS = 5.0
"""How long a killed program may take to be gone."""


class BotProgram:
    """One running program.

    Attributes:
        pid: the process number that leads its session and group.
        exit_text: "running", "exit status N" or "signal NAME".
    """

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits) -> None:
        """Launch the bot.

        Raises:
            BotError: of kind start, if the program can't be executed.
            VoidMatchError: if this machine has no room for a process.
        """
        self._limits = limits
        self._launched, (self._stdin, self._stdout, self._stderr) = _launch(bot, isolation, limits)
        self.pid = self._launched.pid
        self.exit_text = "running"
        self._is_wrapped = isolation.level == IsolationLevel.BUBBLEWRAP
        self._may_leave_shared_memory = may_leave_shared_memory(self._launched.spec)
        self._is_reaped = False
        self._members: set[int] = set()
        self._is_frozen = False
        self._stopped: set[int] = set()
        self._watch = ResourceMonitor(self._launched, limits, is_limited=isolation.level != IsolationLevel.NONE)
        self._pidfd = os.pidfd_open(self.pid)
        self._poll = select.poll()
        for descriptor in (self._stdout, self._stderr, self._pidfd):
            self._poll.register(descriptor, select.POLLIN)
        self._unsent = b""
        self._kept = HeadTailBuffer()
        self._read_bytes = limits.message_bytes + HEADER_BYTES + 1
        self._cpu_clock = cpu_clock_of(self.pid)
        self._cpu_seconds = 0.0

    def bot_is_up(self) -> None:
        """Take note that the bot has spoken: behind a wrapping program its own process can now be found."""
        pid = self._watch.find_bot()
        if pid is not None:
            self._cpu_clock = cpu_clock_of(pid)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the bot's own process, all threads together; what was last seen if it is dead."""
        try:  # noqa: SIM105 - contextlib.suppress would cost as much as the reading
            self._cpu_seconds = time.clock_gettime(self._cpu_clock)
        except OSError:
            pass
        return self._cpu_seconds

    def freeze(self) -> None:
        """Stop the bot's group, until it is asked again."""
        self._signal_group(signal.SIGSTOP)
        self._is_frozen = True

    def _thaw(self) -> None:
        """Let a frozen bot go on."""
        self._signal_group(signal.SIGCONT)
        self._signal_stopped(signal.SIGCONT)
        self._stopped.clear()
        self._is_frozen = False

    def _freeze_members(self) -> None:
        """Stop every process that belongs to the bot, in whatever group it is."""
        self._stopped |= self._belonging()
        self._signal_stopped(signal.SIGSTOP)

    def _signal_stopped(self, number: int) -> None:
        for pid in self._stopped & self._belonging() if self._stopped else ():
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _signal_group(self, number: int) -> None:
        if not self._is_reaped:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)

    def _wait_for_exit(self, seconds: float) -> bool:
        """Wait for the exit, draining both pipes; True if it came."""
        deadline = time.perf_counter() + seconds
        while not self._note_exit():
            left = deadline - time.perf_counter()
            if left <= 0:
                return False
            for descriptor, _ in self._poll.poll(left * 1000):
                if descriptor in (self._stdout, self._stderr):
                    self._drain(descriptor)
        return True

    def _note_exit(self) -> bool:
        """Look, without reaping, whether the process has ended, and keep how."""
        if self.exit_text != "running":
            return True
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return False
        signal_number = None if found.si_code == os.CLD_EXITED else found.si_status
        if self._is_wrapped and signal_number is None and 128 < found.si_status < 193:
            signal_number = found.si_status - 128  # how a wrapping program tells of a signal
        if signal_number is None:
            self.exit_text = f"exit status {found.si_status}"
        else:
            self.exit_text = f"signal {_signal_name(signal_number)}"
        return True

    def _reap(self) -> resource.struct_rusage | None:
        """Kill what is left of the group, and then let the dead process go; return what it used."""
        if self._is_reaped:
            return None
        self._note_members()
        self._signal_group(signal.SIGKILL)
        _, _, usage = os.wait4(self.pid, 0)
        self._is_reaped = True
        return usage

    def _note_members(self) -> None:
        """Remember what the bot has started, which can't be told any more once it is dead."""
        if not self._is_reaped:
            self._members |= self._belonging()

    def _belonging(self) -> set[int]:
        return reaper.bot_processes(self.pid, self._launched.uid, self._launched.spec["scratch"])

    def _drain(self, descriptor: int) -> bool:
        """Read what a pipe holds, keeping it only if it is stderr; watch the pipe no longer when it has ended.

        Returns:
            Whether there was anything.
        """
        try:
            chunk = os.read(descriptor, self._read_bytes)
        except BlockingIOError:
            return False
        if not chunk:
            with contextlib.suppress(KeyError):
                self._poll.unregister(descriptor)
        elif descriptor == self._stderr:
            self._kept.add(chunk)
        return bool(chunk)

    def _drain_all(self, descriptor: int) -> None:
        """Read what a dead bot has left in a pipe; another process may still hold it and fill it."""
        for _ in range(16):
            if not self._drain(descriptor):
                return

    def take_stderr(self) -> str:
        """Return what has come on stderr since the last call: its first and its last 32 KiB."""
        return self._kept.take()

    def peak(self) -> Usage:
        """Return the most the bot was seen to use."""
        with contextlib.suppress(OSError):
            self._watch.look()
        return self._watch.peak

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the bot and everything it started; to be called exactly once.

        Args:
            last_words: sent before.
            grace_seconds: how long it may take to leave by itself before it is killed.

        Returns:
            Whether it left by itself.
        """
        self.freeze()  # what is stopped can be counted, and doesn't keep us from doing so
        self._note_members()
        self._thaw()
        with contextlib.suppress(OSError):
            os.write(self._stdin, self._unsent + last_words)
        if grace_seconds:
            self._wait_for_exit(grace_seconds)
        left_by_itself = self._note_exit()
        self._signal_group(signal.SIGSTOP)
        self._note_members()
        self._signal_group(signal.SIGKILL)
        self._wait_for_exit(EXIT_SECONDS)
        self._drain_all(self._stderr)
        self._reap()
        self._watch.close()
        for descriptor in (self._stdin, self._stdout, self._stderr, self._pidfd):
            os.close(descriptor)
        launcher = open_launcher()
        launcher.forget(self.pid)
        reaper.reap_orphans(launcher, self._members)
        if self._may_leave_shared_memory:
            remove_made_by(self._members)
        return left_by_itself


def _launch(bot: Bot, isolation: Isolation, limits: Limits) -> tuple[LaunchedBot, tuple[int, int, int]]:
    """Start a bot with nothing inherited but three pipes.

    Returns:
        The bot, and our ends of its stdin, stdout and stderr (none of them blocks).
    """
    launcher = open_launcher()
    descriptors: list[int] = []
    scratch = ""
    try:
        scratch = make_scratch()
        for _ in range(3):
            descriptors += os.pipe()
        stdin_read, stdin_write, stdout_read, stdout_write, stderr_read, stderr_write = descriptors
        spec = make_launch_spec(bot, isolation, limits, scratch)
        launched = launcher.launch(spec, (stdin_read, stdout_write, stderr_write))
    except BaseException as error:
        for descriptor in descriptors:
            os.close(descriptor)
        remove_tree(scratch)
        if isinstance(error, OSError):
            raise VoidMatchError(f"no bot can be launched: {error.strerror}") from error
        raise
    for descriptor in (stdin_read, stdout_write, stderr_write):
        os.close(descriptor)
    ours = (stdin_write, stdout_read, stderr_read)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    return launched, ours


def _signal_name(number: int) -> str:
    """Return the name of a signal, or its number: real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
