"""A bot process: launched, asked with a deadline. It knows frames, not messages.

All waiting is one ``poll`` over the bot's stdout, its stderr and its exit (a pidfd, which tells of the exit even when a
grandchild holds the pipes). Writing never blocks: what does not fit into the pipe is written as the bot reads, under
the same deadline as the answer.
"""

from __future__ import annotations

import os
import select
import time
from typing import NoReturn

from arena.enums import FaultKind
from arena.errors import BotError, LateError
from arena.isolation.launch_spec import Isolation
from arena.monitoring.resource_monitor import LOOK_SECONDS
from arena.players.bystanders import FIRST_LOOK_SECONDS, Bystanders
from arena.players.idle_detection import Activity, activity_of, unread_bytes
from arena.players.off_turn import BUSY_SECONDS, RestingProgram
from arena.players.stall_detection import StallDetector
from arena.protocol.frames import HEADER_BYTES, FrameError, body_length
from arena.protocol.messages import shortened
from arena.records import LIMITS, Bot, Limits

EXIT_NOTICE_SECONDS = 0.2
"""How long a bot that closed its stdout may take to exit, for the fault to tell its exit status."""

WALL_FOR_CPU = 10.0
"""On the CPU clock, a bot that does not use it is ended after this many times its allowance, and a second at least."""

CPU_SLICE_SECONDS = 0.005
"""On the CPU clock, how exactly an allowance is kept."""

FIRST_REST_LOOK_SECONDS = 0.00005
LAST_REST_LOOK_SECONDS = 0.005
"""How soon after ``end`` a bot is looked at, and how seldom later on, the time doubling in between."""

THREAD_GRACE_SECONDS = 0.02
"""How long is waited for a thread that works while another one waits for input: it may think for ever."""

TAKEN_SHARE = 0.05
"""Beyond this share of what a turn may take, the time that others took is a reason why it was missed."""


class BotConnection(RestingProgram):
    """One running bot that can be asked."""

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits, bystanders: Bystanders | None = None) -> None:
        """Launch the bot; see ``RestingProgram``."""
        super().__init__(bot, isolation, limits, bystanders)
        self._lateness = StallDetector()
        self._received = bytearray()
        self._cpu_allowance: tuple[float, float] | None = None
        self._cpu_at_match = 0.0
        self._has_left_between_matches = False
        self._looked_until = 0.0
        self._last_sent = b""
        self._last_body = b""

    def begin_match(self, is_to_rest: bool) -> None:
        """Count from here what is limited per match.

        Args:
            is_to_rest: it is to leave the processor to others while it is not asked.
        """
        self._cpu_at_match = self.whole_cpu_seconds()
        self.rest.is_due = is_to_rest

    def tell(self, frame: bytes) -> None:
        """Send a message without waiting; what does not fit is sent with the next one."""
        self._unsent += frame
        self._write()

    def ask(self, frame: bytes, seconds: float, on_cpu_clock: bool = False) -> tuple[bytes, float, float]:
        """Send a message and wait for the answer.

        Args:
            frame: the question.
            seconds: for writing and answering together.
            on_cpu_clock: whether they are seconds of CPU time, of the bot and all it starts.

        Returns:
            The body of the answer's frame, the seconds from the last byte written to the last byte read, and what the
            clock charges for: those seconds, or the CPU time.

        Raises:
            BotError: exit, timeout, protocol or limit.
            LateError: if nobody can say whether it was in time.
        """
        cpu_before = self.whole_cpu_seconds() if on_cpu_clock else 0.0
        own_before = self._cpu_seconds
        self._cpu_allowance = (cpu_before, seconds) if on_cpu_clock else None
        if self._is_frozen:
            self._thaw()
        self._unsent += frame
        self._last_sent = frame
        self._last_body = b""
        asked = time.perf_counter()
        deadline = asked + (max(1.0, WALL_FOR_CPU * seconds) if on_cpu_clock else seconds)
        self._write()
        if self._unsent:
            self._wait_to_write(deadline, seconds)
            asked = time.perf_counter()
        body, wall_seconds = self._wait_for_answer(asked, deadline, seconds)
        if on_cpu_clock or wall_seconds >= LOOK_SECONDS:
            self._look()
        elif wall_seconds > BUSY_SECONDS:
            self.count_children(wall_seconds, own_before)
        return body, wall_seconds, self._check_cpu_allowance() if on_cpu_clock else wall_seconds

    def settle(self, seconds: float) -> None:
        """Wait until the bot has dealt with what it was told and waits for more, keeping what it writes to stderr.

        Args:
            seconds: the longest wait. A bot that floods stderr isn't waited for once it has passed its limit.
        """
        was_frozen = self._is_frozen
        if was_frozen:
            self._thaw()
        own_before = self._cpu_seconds
        started = time.perf_counter()
        pause_seconds = FIRST_REST_LOOK_SECONDS
        os.sched_yield()  # on a core of its own with us, the bot runs now
        while not self._is_settled(waited_seconds := time.perf_counter() - started) and waited_seconds < seconds:
            time.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, LAST_REST_LOOK_SECONDS)
        if was_frozen:
            self.freeze()
        if waited_seconds > BUSY_SECONDS:
            self.count_children(waited_seconds, own_before)

    def _is_settled(self, waited_seconds: float) -> bool:
        """Tell whether there is nothing more to come on stderr, and take what has come."""
        if self._unsent:
            self._write()
        activity = Activity.WORKS
        if not self._unsent and not unread_bytes(self._stdin):
            activity = activity_of(self.pid, self._stdin)
        while self._drain(self._stderr):
            if self._kept.total_bytes > self._limits.stderr_bytes:
                return True
        if activity is Activity.WAITS:
            return True
        if self._note_exit():
            self._has_left_between_matches = True
            self._drain_all(self._stderr)
            return True
        return activity is not Activity.WORKS and waited_seconds >= THREAD_GRACE_SECONDS

    def check_off_turn(self) -> None:
        """Look at what has happened since the last answer; to be called before the next question.

        Raises:
            BotError: if the bot has exited, has sent something, or has broken a limit.
        """
        if self.rest.fault is not None:
            raise BotError(FaultKind.LIMIT, self.rest.fault)
        self._nothing_came_unasked()
        self._look_if_due()

    def update_usage(self) -> None:
        """Bring what is known of the bot's use up to date, without a judgement."""
        if time.perf_counter() - self._watch.looked_at >= LOOK_SECONDS:
            self._watch.look()

    def _nothing_came_unasked(self) -> None:
        """Raise if the bot has exited, or has sent something before it was asked."""
        for descriptor, event in self._poll.poll(0):
            if descriptor == self._stderr:
                self._drain(self._stderr)
            elif descriptor == self._stdout and event & select.POLLIN and self._read_some():
                raise self._text_or("a message came before it was asked for")
            else:
                raise self._gone()

    def _look_if_due(self) -> None:
        """Look at what the bot uses, if the last look was a while ago."""
        if time.perf_counter() - self._watch.looked_at >= LOOK_SECONDS:
            self._look()

    def _look(self) -> None:
        """Look at what the bot uses, and raise if a limit is broken."""
        broken = self._watch.look()
        self._keep_others_still(time.perf_counter())
        self._looked_until = time.perf_counter()
        self._lateness.mark(self._bystanders.possible_cpu_seconds())
        broken = broken or self._watch.cpu_broken(self.whole_cpu_seconds() - self._cpu_at_match)
        if broken is not None:
            raise BotError(FaultKind.LIMIT, broken)

    def _check_cpu_allowance(self) -> float:
        """Return the CPU time this action has used; raise if it is more than allowed."""
        if self._cpu_allowance is None:
            return 0.0
        before, seconds = self._cpu_allowance
        used = self.whole_cpu_seconds() - before
        if used > seconds:
            raise BotError(
                FaultKind.TIMEOUT, f"{used:.3f} s of CPU time without an answer; {seconds:.3f} s were allowed"
            )
        return used

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
            detail = f"the answer came after {now - asked:.3f} s; {seconds:.3f} s were allowed"
            self._is_late(now, deadline, seconds, detail)
        return body, now - asked

    def _wait(self, deadline: float, seconds: float, what: str) -> list[int]:
        """Wait for anything to happen, drain stderr, and return the descriptors; raise after the deadline."""
        slice_seconds = FIRST_LOOK_SECONDS if self._cpu_allowance is None else CPU_SLICE_SECONDS
        while True:
            left = deadline - time.perf_counter()
            events = self._poll.poll((left if left < slice_seconds else slice_seconds) * 1000 if left > 0 else 0)
            if events:
                break
            now = time.perf_counter()
            if now >= deadline:
                self._is_late(now, deadline, seconds, f"{what} within {seconds:.3f} s")
            self._look_around(now)
            if self._cpu_allowance is None:
                slice_seconds = LOOK_SECONDS
        descriptors = [descriptor for descriptor, _ in events]
        if self._stderr in descriptors:
            self._drain(self._stderr)
            self._look_around(time.perf_counter())
            if self._kept.total_bytes > self._limits.stderr_bytes:
                sentence = LIMITS["stderr_bytes"].broken_by(self._kept.total_bytes, self._limits.stderr_bytes)
                raise BotError(FaultKind.LIMIT, sentence)
        return descriptors

    def _look_around(self, now: float) -> None:
        """In the middle of a turn, look at what the bot uses, and whether the others leave it the processor."""
        self._keep_others_still(now)
        self._look_if_due()
        self._check_cpu_allowance()

    def _keep_others_still(self, now: float) -> None:
        """Have those looked at that are not to act, if the last time was a while ago."""
        if now - self._bystanders.looked_at >= FIRST_LOOK_SECONDS:
            self._bystanders.keep_still(self)
            self._bystanders.looked_at = time.perf_counter()

    def _is_late(self, now: float, deadline: float, seconds: float, detail: str) -> NoReturn:
        """Raise what a missed deadline means.

        It is the bot's fault, unless we overslept ourselves or others took the processor: then the match is void. The
        time we spent looking at bots is not sleep, and the more they started, the longer that takes. The bot is stopped
        before it is looked at, for its processes keep us from looking.
        """
        late_seconds = now - max(deadline, self._looked_until)
        self.freeze()
        self._bystanders.update_cpu()
        if self._lateness.was_ours(late_seconds, self._bystanders.possible_cpu_seconds()):
            raise LateError(f"the machine stood still: the arena looked {late_seconds:.3f} s after a deadline")
        taken_seconds = self._bystanders.taken_seconds(self)
        if taken_seconds > TAKEN_SHARE * seconds:
            raise LateError(f"{detail}; others used the processor for {taken_seconds:.3f} s", is_disturbed=True)
        raise BotError(FaultKind.TIMEOUT, detail)

    def _read_some(self) -> bool:
        """Read what stdout holds, at most one message's worth; False at its end."""
        try:
            chunk = os.read(self._stdout, self._read_bytes)
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
        end = HEADER_BYTES + self._announced()
        if len(received) < end:
            return None
        if len(received) > end:
            raise BotError(FaultKind.PROTOCOL, f"{len(received) - end} bytes follow the answer; nothing may")
        body = self._last_body = bytes(received[HEADER_BYTES:])
        received.clear()
        return body

    def last_exchange(self) -> tuple[bytes, bytes]:
        """Return the last question, as a frame, and what has come since, for showing to the bot's author."""
        answer = len(self._last_body).to_bytes(HEADER_BYTES, "big") + self._last_body if self._last_body else b""
        return self._last_sent, answer + self._received

    def _announced(self) -> int:
        try:
            return body_length(self._received, self._limits.message_bytes)
        except FrameError as error:
            raise BotError(error.kind, str(error)) from error

    def _text_or(self, detail: str) -> BotError:
        """Return the fault for unexpected bytes, naming printed text as such."""
        if len(self._received) >= HEADER_BYTES:
            try:
                self._announced()
            except BotError as error:
                return error
            return BotError(FaultKind.PROTOCOL, detail)
        return BotError(FaultKind.PROTOCOL, f"{detail}: {shortened(bytes(self._received))}")

    def _gone(self) -> BotError:
        """Return the fault for a bot that exited or closed its stdout."""
        ended = self._wait_for_exit(EXIT_NOTICE_SECONDS)
        half = f" in the middle of a message ({len(self._received)} bytes of it)" if self._received else ""
        if not ended:
            return BotError(FaultKind.EXIT, f"the bot closed its stdout{half} without exiting")
        usage = self._reap()
        self._drain_all(self._stderr)
        broken = self._watch.why_it_died(self.exit_text, usage, self._kept.last_bytes())
        if broken is not None:
            return BotError(FaultKind.LIMIT, broken)
        when = " after the end of its last match, whose record has its stderr" if self._has_left_between_matches else ""
        return BotError(FaultKind.EXIT, f"the bot exited{half}{when}: {self.exit_text}")

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the bot; see ``BotProgram.end``."""
        self._lateness.close()
        return super().end(last_words, grace_seconds)
