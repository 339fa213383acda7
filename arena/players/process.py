"""A bot process: launched, asked with a deadline, drained and ended. It knows frames, not messages.

All waiting is one ``poll`` over the bot's stdout, its stderr and its exit (a pidfd, which tells of the exit even when a
grandchild holds the pipes). Writing never blocks: what does not fit into the pipe is written as the bot reads, under
the same deadline as the answer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from arena.errors import BotError, VoidMatchError
from arena.players import sweeping
from arena.players.isolation import Limits, clean_environment, set_limits
from arena.protocol.frames import HEADER_BYTES, FrameError, body_length
from arena.protocol.messages import shortened

STDERR_HALF_BYTES = 32 * 1024
READ_BYTES = 64 * 1024 + HEADER_BYTES + 1
EXIT_NOTICE_SECONDS = 0.2
"""How long a bot that closed its stdout may take to exit, for the fault to tell its exit status."""
_OUR_ERRNOS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)


class BotProcess:
    """One running bot.

    Attributes:
        pid: its process number, also that of its session and group.
        exit_text: "running", "exit status N" or "signal NAME".
    """

    def __init__(self, command: Sequence[str], directory: str, isolation: str, limits: Limits | None = None) -> None:
        """Launch the bot.

        Raises:
            BotError: of kind start, if the program can't be executed.
            VoidMatchError: if this machine has no room for a process.
        """
        sweeping.expect_bots()
        self._process, self._pipes, self._scratch = _launch(command, directory)
        self._stdin, self._stdout, self._stderr = self._pipes
        self.pid = self._process.pid
        self.exit_text = "running"
        sweeping.note_launch(self.pid)
        if isolation == "limits":
            set_limits(self.pid, limits or Limits())
        self._pidfd = _open_pidfd(self.pid)
        self._poll = select.poll()
        self._watch(self._stdout, self._stderr, self._pidfd)
        self._received = bytearray()
        self._unsent = b""
        self._stderr_head = bytearray()
        self._stderr_tail = bytearray()
        self._cpu_clock = ((~self.pid) << 3) | 2

    def _watch(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)

    def cpu_seconds(self) -> float | None:
        """Return the CPU time the process has used, all its threads together; None where it can't be read.

        Linux gives the CPU clock of another process the number ``(~pid << 3) | 2`` (clock_getcpuclockid(3)).
        """
        try:
            return time.clock_gettime(self._cpu_clock)
        except OSError:
            return None

    def tell(self, frame: bytes) -> None:
        """Send a message without waiting; what does not fit is sent with the next one."""
        self._unsent += frame
        self._write()

    def ask(self, frame: bytes, seconds: float) -> tuple[bytes, float]:
        """Send a message and wait for the answer.

        Args:
            frame: the question.
            seconds: for writing and answering together.

        Returns:
            The body of the answer's frame, and the seconds from the last byte written to the last byte read.

        Raises:
            BotError: exit, timeout or protocol.
        """
        self._nothing_came_unasked()
        self._unsent += frame
        asked = time.perf_counter()
        deadline = asked + seconds
        self._write()
        if self._unsent:
            self._wait_to_write(deadline, seconds)
            asked = time.perf_counter()
        return self._wait_for_answer(asked, deadline, seconds)

    def _nothing_came_unasked(self) -> None:
        """Raise if the bot has exited, or has sent something before it was asked."""
        for descriptor, event in self._poll.poll(0):
            if descriptor == self._stderr:
                self._drain(self._stderr)
            elif descriptor == self._stdout and event & select.POLLIN and self._read_some():
                raise self._text_or("a message came before it was asked for")
            else:
                raise self._gone()

    def _write(self) -> None:
        """Write as much as fits. A closed pipe is not an error yet: the wait for an answer tells what happened."""
        try:
            written = os.write(self._stdin, self._unsent)
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._unsent)
        self._unsent = self._unsent[written:]

    def _wait_to_write(self, deadline: float, seconds: float) -> None:
        self._poll.register(self._stdin, select.POLLOUT)
        try:
            while self._unsent:
                for descriptor in self._wait(deadline, seconds, "did not read what it was sent"):
                    if descriptor == self._stdin:
                        self._write()
                    elif descriptor == self._stdout and self._read_some():
                        raise self._text_or("a message came before it was asked for")
                    elif descriptor != self._stderr:
                        raise self._gone()
        finally:
            self._poll.unregister(self._stdin)

    def _wait_for_answer(self, asked: float, deadline: float, seconds: float) -> tuple[bytes, float]:
        while True:
            for descriptor in self._wait(deadline, seconds, "no answer"):
                if descriptor == self._stdout:
                    if not self._read_some():
                        raise self._gone()
                    body = self._take_frame()
                    if body is not None:
                        return self._in_time(body, time.perf_counter(), asked, deadline, seconds)
                elif descriptor == self._pidfd and not self._has_more_to_say():
                    raise self._gone()

    def _in_time(self, body: bytes, now: float, asked: float, deadline: float, seconds: float) -> tuple[bytes, float]:
        if now > deadline:
            raise BotError("timeout", f"the answer came after {now - asked:.3f} s; {seconds:.3f} s were allowed")
        return body, now - asked

    def _wait(self, deadline: float, seconds: float, what: str) -> list[int]:
        """Wait for anything to happen, drain stderr, and return the descriptors; raise after the deadline."""
        left = deadline - time.perf_counter()
        events = self._poll.poll(left * 1000) if left > 0 else []
        if not events:
            raise BotError("timeout", f"{what} within {seconds:.3f} s")
        descriptors = [descriptor for descriptor, _ in events]
        if self._stderr in descriptors:
            self._drain(self._stderr)
        return descriptors

    def _read_some(self) -> bool:
        """Read what stdout holds, at most one message's worth; False at its end."""
        try:
            chunk = os.read(self._stdout, READ_BYTES)
        except BlockingIOError:
            return True
        self._received += chunk
        return bool(chunk)

    def _has_more_to_say(self) -> bool:
        """Tell whether an exited bot has left bytes in the pipe."""
        return any(descriptor == self._stdout and event & select.POLLIN for descriptor, event in self._poll.poll(0))

    def _take_frame(self) -> bytes | None:
        """Return the body of a complete frame; None if more bytes are due."""
        received = self._received
        if len(received) < HEADER_BYTES:
            return None
        try:
            end = HEADER_BYTES + body_length(received)
        except FrameError as error:
            raise BotError("protocol", str(error)) from error
        if len(received) < end:
            return None
        if len(received) > end:
            raise BotError("protocol", f"{len(received) - end} bytes follow the answer; nothing may")
        body = bytes(received[HEADER_BYTES:])
        received.clear()
        return body

    def _text_or(self, detail: str) -> BotError:
        """Return the fault for unexpected bytes, naming printed text as such."""
        if len(self._received) >= HEADER_BYTES:
            try:
                body_length(self._received)
            except FrameError as error:
                detail = str(error)
        else:
            detail = f"{detail}: {shortened(bytes(self._received))}"
        return BotError("protocol", detail)

    def _gone(self) -> BotError:
        """Return the fault for a bot that exited or closed its stdout."""
        ended = self._wait_for_exit(EXIT_NOTICE_SECONDS)
        half = f" in the middle of a message ({len(self._received)} bytes of it)" if self._received else ""
        if ended:
            return BotError("exit", f"the bot exited{half}: {self.exit_text}")
        return BotError("exit", f"the bot closed its stdout{half} without exiting")

    def _wait_for_exit(self, seconds: float) -> bool:
        """Wait for the exit, draining both pipes; True if it came."""
        deadline = time.perf_counter() + seconds
        while not self._note_exit():
            left = deadline - time.perf_counter()
            if left <= 0:
                return False
            for descriptor, _ in self._poll.poll(left * 1000 if self._pidfd >= 0 else 5):
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
        if found.si_code == os.CLD_EXITED:
            self.exit_text = f"exit status {found.si_status}"
        else:
            self.exit_text = f"signal {_signal_name(found.si_status)}"
        return True

    def _drain(self, descriptor: int) -> None:
        """Read what a pipe holds, keeping it only if it is stderr; watch the pipe no longer when it has ended."""
        try:
            chunk = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self._poll.unregister(descriptor)
        elif descriptor == self._stderr:
            self._keep_stderr(chunk)

    def _keep_stderr(self, chunk: bytes) -> None:
        room = STDERR_HALF_BYTES - len(self._stderr_head)
        self._stderr_head += chunk[:room]
        self._stderr_tail += chunk[room:] if room > 0 else chunk
        del self._stderr_tail[:-STDERR_HALF_BYTES]

    def take_stderr(self) -> str:
        """Return what has come on stderr since the last call: its first and its last 32 KiB."""
        if not (self._stderr_head or self._stderr_tail):
            return ""
        gap = b"\n[...]\n" if len(self._stderr_tail) == STDERR_HALF_BYTES else b""
        text = bytes(self._stderr_head + gap + self._stderr_tail).decode(errors="replace")
        self._stderr_head.clear()
        self._stderr_tail.clear()
        return text

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> None:
        """End the bot and everything it started; to be called exactly once.

        Args:
            last_words: sent before.
            grace_seconds: how long it may take to leave by itself before it is killed.
        """
        started = sweeping.descendants(self.pid)
        with contextlib.suppress(OSError):
            os.write(self._stdin, self._unsent + last_words)
        if grace_seconds:
            self._wait_for_exit(grace_seconds)
        self._note_exit()
        started |= sweeping.descendants(self.pid)
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self._wait_for_exit(1.0)
        with contextlib.suppress(KeyError):  # what the poll had not brought yet
            self._drain(self._stderr)
        sweeping.note_end(self.pid)
        self._process.wait()
        for descriptor in (*self._pipes, self._pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        sweeping.sweep(started)
        shutil.rmtree(self._scratch, ignore_errors=True)


def _launch(command: Sequence[str], directory: str) -> tuple[subprocess.Popen[bytes], tuple[int, int, int], str]:
    """Start the program in a session of its own, with a clean environment and nothing inherited but three pipes.

    Returns:
        The process, our ends of its stdin, stdout and stderr (none of them blocks), and its scratch directory.
    """
    descriptors: list[int] = []
    scratch = ""
    try:
        scratch = tempfile.mkdtemp(prefix="arena-bot-")
        for _ in range(3):
            descriptors += os.pipe()
        stdin_read, stdin_write, stdout_read, stdout_write, stderr_read, stderr_write = descriptors
        process = subprocess.Popen(
            command,
            stdin=stdin_read,
            stdout=stdout_write,
            stderr=stderr_write,
            cwd=directory,
            env=clean_environment(scratch),
            start_new_session=True,
        )
    except OSError as error:
        for descriptor in descriptors:
            os.close(descriptor)
        shutil.rmtree(scratch, ignore_errors=True)
        if error.errno in _OUR_ERRNOS:
            raise VoidMatchError(f"no bot can be launched: {error.strerror}") from error
        raise BotError("start", f"{command[0]} can't be executed: {error.strerror}") from error
    for descriptor in (stdin_read, stdout_write, stderr_write):
        os.close(descriptor)
    ours = (stdin_write, stdout_read, stderr_read)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    return process, ours, scratch


def _open_pidfd(pid: int) -> int:
    """Return a descriptor that tells of the process's exit; -1 where the system has none, and its stdout must do."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return -1


def _signal_name(number: int) -> str:
    """Return the name of a signal, or its number: real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
