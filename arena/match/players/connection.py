"""The connection to a bot: frames are sent and answers awaited, each with a deadline. It knows frames, not messages.

All waiting is one ``poll`` over the bot's stdout, its stderr and its exit (a pidfd, which shows the exit even when a
grandchild holds the pipes). Writing never blocks: what does not fit into the pipe is written as the bot reads, under
the same deadline as the answer.
"""

from __future__ import annotations

import select
import time
from typing import NoReturn

from arena.base.enums import FaultKind
from arena.base.errors import BotError, LateError
from arena.base.records import LIMITS, Bot, Limits
from arena.match.players.bot_output import STARVED, TOO_LONG, UNASKED, Entry, Transcript
from arena.match.players.idle_detection import StallDetector, wait_until_idle
from arena.match.players.off_turn import FIRST_CHECK_SECONDS, WORK_SECONDS, OffTurnControl, RunningBots
from arena.match.players.player import wall_limit_seconds
from arena.match.players.subprocess import RUNNING, Subprocess
from arena.protocol.frames import HEADER_BYTES, FrameError, body_length, only_body
from arena.protocol.messages import shortened
from arena.sandbox.isolation import procfs
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.sandbox.metering.resource_monitor import SAMPLE_SECONDS

EXIT_NOTICE_SECONDS = 1.0
"""How long a bot that closed its stdout may take to exit, so that the fault can name its exit status.

A crash on a busy machine takes a while."""

CPU_SLICE_SECONDS = 0.005
"""How often the CPU time is checked on the CPU clock, and so how exactly an allowance is kept."""

MAX_WAITS_BEFORE_READING = 7
"""The most turns in a row in which the arena waits at once, for a bot that never answers by the time of the read."""

STARVED_SHARE = 0.5
"""From this share of the allowed time on, the fault says how long the bot waited for the processor."""

TAKEN_SHARE = 0.05
"""Beyond this share of what a turn may take, the time that others took is a reason why it was missed."""

_QUESTION, _NOTICE, _ANSWER, _FRAGMENT = Entry.QUESTION, Entry.NOTICE, Entry.ANSWER, Entry.FRAGMENT


class BotConnection:
    """The connection to one running bot. Use as a context manager, or call ``end`` exactly once."""

    def __init__(
        self,
        bot: Bot,
        isolation: Isolation,
        limits: Limits,
        running_bots: RunningBots | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        self._limits = limits
        self._running_bots = running_bots if running_bots is not None else RunningBots()
        self._running_bots.enforce(None)  # even if the last check is recent: bots launched since may already work
        self.process = Subprocess(bot, isolation, limits)
        self._monitor = self.process.monitor
        self.off_turn = OffTurnControl(self.process)
        self._running_bots.add(self.off_turn)
        self.transcript = transcript if transcript is not None else Transcript()
        self._stall_detector = StallDetector()
        self._received = bytearray()
        self._waits_before_reading = self._waits_next = 0
        self._cpu_allowance: tuple[float, float] | None = None
        self._cpu_at_match = 0.0
        self._has_exited_between_matches = False
        self._sampled_until = 0.0
        self._queued_before: float | None = None

    def __enter__(self) -> BotConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin_match(self, is_idle_off_turn: bool) -> float:
        """Begin a match, and return the CPU time that the bot had used before it: limits per match count from there."""
        self._cpu_at_match = self.off_turn.cpu_at_start = self._monitor.cpu_seconds()
        self.off_turn.is_required = is_idle_off_turn
        return self._cpu_at_match

    def send(self, frame: bytes) -> None:
        """Send a message without waiting; what does not fit is sent with the next one."""
        self.transcript.add((_NOTICE, frame))
        self.process.send(frame)

    def ask(self, frame: bytes, seconds: float, on_cpu_clock: bool = False) -> tuple[bytes, float, float]:
        """Send a message and wait for the answer.

        Args:
            seconds: the time for writing and answering together.
            on_cpu_clock: whether they are seconds of CPU time, of the bot and all it starts.

        Returns:
            The body of the answer, the seconds from the last byte written to the last byte read, and what the clock
            charges for.

        Raises:
            BotError: exit, timeout, protocol or limit.
            LateError: if it is unknown whether the answer was in time.
        """
        process, monitor = self.process, self._monitor
        main_cpu_before = monitor.main_cpu_seconds
        self._cpu_allowance = (monitor.cpu_seconds(), seconds) if on_cpu_clock else None
        if process.is_frozen:
            process.thaw()
        self.transcript.add((_QUESTION, frame))
        self._queued_before = None
        asked = time.perf_counter()
        deadline = asked + (wall_limit_seconds(seconds) if on_cpu_clock else seconds)
        process.send(frame)
        if process.unsent:
            self._wait_to_send(deadline, seconds)
            asked = time.perf_counter()
        body = None
        if self._waits_before_reading:
            self._waits_before_reading -= 1
        else:  # read before any wait: where they share a core, a quick bot has answered by now
            body = self._receive()
            self._waits_next = min(2 * self._waits_next + 1, MAX_WAITS_BEFORE_READING) if body is None else 0
            self._waits_before_reading = self._waits_next
        if body is None:
            body = self._wait_for_answer(deadline, seconds)
        answered = time.perf_counter()
        if answered > deadline:
            self._raise_late_answer(answered, asked, deadline, seconds)
        wall_seconds = answered - asked
        if on_cpu_clock or wall_seconds >= SAMPLE_SECONDS:
            self._sample()
        elif wall_seconds > WORK_SECONDS:
            self.off_turn.account_for_children(wall_seconds, main_cpu_before)
        return body, wall_seconds, self._check_cpu_allowance() if on_cpu_clock else wall_seconds

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until the bot has dealt with what it was sent, and keep what it writes to stderr meanwhile.

        A bot that floods stderr isn't waited for once it has passed its limit.
        """
        was_frozen = self.process.is_frozen
        if was_frozen:
            self.process.thaw()
        main_cpu_before = self._monitor.main_cpu_seconds
        waited_seconds = wait_until_idle(self.process, seconds, self._limits.stderr_bytes)
        self._has_exited_between_matches = self.process.exit_text != RUNNING
        if was_frozen:
            self.off_turn.freeze()
        if waited_seconds > WORK_SECONDS:
            self.off_turn.account_for_children(waited_seconds, main_cpu_before)

    def check_off_turn(self) -> None:
        """Check what the bot has done since its last answer; to be called before the next question."""
        if self.off_turn.fault is not None:
            raise BotError(FaultKind.LIMIT, self.off_turn.fault)
        for descriptor, event in self.process.poll(0):
            if descriptor == self.process.stderr:
                self._keep_stderr()
            elif descriptor == self.process.stdout and event & select.POLLIN:
                self._refuse_early_bytes()
            else:
                raise self._exit_error()
        if time.perf_counter() - self._monitor.sampled_at >= SAMPLE_SECONDS:
            self._sample()

    def update_usage(self) -> None:
        """Measure what the bot uses unless the last sample is recent, without judging it."""
        if time.perf_counter() - self._monitor.sampled_at >= SAMPLE_SECONDS:
            self._monitor.sample()

    def _sample(self) -> None:
        self.transcript.shrink()
        broken = self._monitor.sample()
        self._running_bots.enforce_if_due(self.off_turn)
        self._sampled_until = time.perf_counter()
        self._stall_detector.mark(self._running_bots.possible_cpu_seconds())
        broken = broken or self._monitor.broken_cpu_limit(self._monitor.cpu_seconds() - self._cpu_at_match)
        if broken is not None:
            raise BotError(FaultKind.LIMIT, broken)

    def _check_cpu_allowance(self) -> float:
        if self._cpu_allowance is None:
            return 0.0
        before, seconds = self._cpu_allowance
        used = self._monitor.cpu_seconds() - before
        if used > seconds:
            raise BotError(
                FaultKind.TIMEOUT, f"{used:.3f} s of CPU time without an answer; {seconds:.3f} s were allowed"
            )
        return used

    def _wait_to_send(self, deadline: float, seconds: float) -> None:
        self.process.poll_stdin(True)
        try:
            while self.process.unsent:
                for descriptor, _ in self._wait(deadline, seconds, "did not read what it was sent"):
                    if descriptor == self.process.stdin:
                        self.process.send_rest()
                    elif descriptor == self.process.stdout:
                        self._refuse_early_bytes()
                    elif descriptor != self.process.stderr:
                        raise self._exit_error()
        finally:
            self.process.poll_stdin(False)

    def _wait_for_answer(self, deadline: float, seconds: float) -> bytes:
        while True:
            for descriptor, _ in self._wait(deadline, seconds, "no answer"):
                if descriptor == self.process.stdout:
                    body = self._receive()
                    if body is not None:
                        return body
                elif descriptor == self.process.pidfd and not self._has_more_to_read():
                    raise self._exit_error()

    def _raise_late_answer(self, now: float, asked: float, deadline: float, seconds: float) -> NoReturn:
        detail = f"the answer came after {now - asked:.3f} s; {seconds:.3f} s were allowed"
        self._raise_missed_deadline(now, deadline, seconds, detail)

    def _wait(self, deadline: float, seconds: float, problem: str) -> list[tuple[int, int]]:
        slice_seconds = FIRST_CHECK_SECONDS if self._cpu_allowance is None else CPU_SLICE_SECONDS
        while True:
            remaining_seconds = deadline - time.perf_counter()
            events = self.process.poll(
                (remaining_seconds if remaining_seconds < slice_seconds else slice_seconds) * 1000
                if remaining_seconds > 0
                else 0
            )
            if events:
                break
            now = time.perf_counter()
            if now >= deadline:
                self._raise_missed_deadline(now, deadline, seconds, f"{problem} within {seconds:.3f} s")
            self._check_in_turn()
            if self._queued_before is None:
                self._queued_before = procfs.queued_seconds(self._monitor.main)
            if self._cpu_allowance is None:
                slice_seconds = SAMPLE_SECONDS
        for descriptor, _ in events:
            if descriptor == self.process.stderr:
                self._check_in_turn()
                self._keep_stderr()
        return events

    def _keep_stderr(self) -> None:
        self.process.drain_stderr()
        total_bytes = self.process.stderr_text.total_bytes
        if total_bytes > self._limits.stderr_bytes:
            detail = LIMITS["stderr_bytes"].broken_by(total_bytes, self._limits.stderr_bytes)
            raise BotError(FaultKind.LIMIT, detail)

    def _check_in_turn(self) -> None:
        """In the middle of a turn, check what the bot uses, and that the others leave it the processor."""
        self._running_bots.enforce_if_due(self.off_turn)
        if time.perf_counter() - self._monitor.sampled_at >= SAMPLE_SECONDS:
            self._sample()
        self._check_cpu_allowance()

    def _raise_missed_deadline(self, now: float, deadline: float, seconds: float, detail: str) -> NoReturn:
        """Raise what a missed deadline means.

        It is the bot's fault, unless the machine stalled or others took the processor: then the match is void. The time
        spent on samples is no stall, and the more processes the bots start, the longer a sample takes. The bot is
        frozen first, for its processes slow the samples down.
        """
        delay_seconds = now - max(deadline, self._sampled_until)
        self.off_turn.freeze()
        self._running_bots.sample_cpu()
        if self._stall_detector.has_stalled(delay_seconds, self._running_bots.possible_cpu_seconds()):
            raise LateError(f"the machine stood still: the arena looked {delay_seconds:.3f} s after a deadline")
        taken_seconds = self._running_bots.taken_seconds(self.off_turn)
        if taken_seconds > TAKEN_SHARE * seconds:
            raise LateError(f"{detail}; others used the processor for {taken_seconds:.3f} s", is_disturbed=True)
        queued_seconds = 0.0
        if self._queued_before is not None:
            queued_seconds = procfs.queued_seconds(self._monitor.main) - self._queued_before
        if queued_seconds > STARVED_SHARE * seconds:
            detail += f"; it waited {queued_seconds:.3f} s {STARVED}"
        raise BotError(FaultKind.TIMEOUT, detail)

    def _receive(self) -> bytes | None:
        """Read what stdout holds; return the body of the frame that this completes, None while it is incomplete."""
        chunk = self.process.read_stdout()
        if not chunk:
            if chunk is None:
                return None
            raise self._exit_error()
        if not self._received and (body := only_body(chunk, self._limits.message_bytes)):
            self.transcript.add((_ANSWER, body))
            return body
        self._received += chunk
        return self._take_frame()

    def _refuse_early_bytes(self) -> None:
        """Read what a bot has sent without having been asked, and raise its fault, which names printed text."""
        chunk = self.process.read_stdout()
        if chunk is None:
            return
        if not chunk:
            raise self._exit_error()
        self._received += chunk
        if len(self._received) < HEADER_BYTES:
            raise BotError(FaultKind.PROTOCOL, f"{UNASKED}: {shortened(bytes(self._received))}")
        self._announced_length()
        raise BotError(FaultKind.PROTOCOL, UNASKED)

    def _has_more_to_read(self) -> bool:
        events = self.process.poll(0)
        return any(descriptor == self.process.stdout and event & select.POLLIN for descriptor, event in events)

    def _take_frame(self) -> bytes | None:
        received = self._received
        if len(received) < HEADER_BYTES:
            return None
        end = HEADER_BYTES + self._announced_length()
        if len(received) < end:
            return None
        if len(received) > end:
            raise BotError(FaultKind.PROTOCOL, f"{len(received) - end} {TOO_LONG}; nothing may")
        body = bytes(received[HEADER_BYTES:])
        received.clear()
        self.transcript.add((_ANSWER, body))
        return body

    def _announced_length(self) -> int:
        try:
            return body_length(self._received, self._limits.message_bytes)
        except FrameError as error:
            raise BotError(error.kind, str(error)) from error

    def _exit_error(self) -> BotError:
        has_exited = self.process.wait_for_exit(EXIT_NOTICE_SECONDS)
        half = f" in the middle of a message ({len(self._received)} bytes of it)" if self._received else ""
        if not has_exited:
            return BotError(FaultKind.EXIT, f"the bot closed its stdout{half} without exiting")
        broken = self.process.broken_limit_after_exit()
        if broken is not None:
            return BotError(FaultKind.LIMIT, broken)
        between = self._has_exited_between_matches
        occasion = " after the end of its last match, whose record has its stderr" if between else ""
        return BotError(FaultKind.EXIT, f"the bot exited{half}{occasion}: {self.process.exit_text}")

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the bot; see ``Subprocess.end``."""
        if self._received:
            self.transcript.add((_FRAGMENT, bytes(self._received)))
        if last_words:
            self.transcript.add((_NOTICE, last_words))
        self._stall_detector.close()
        self._running_bots.remove(self.off_turn)
        return self.process.end(last_words, grace_seconds)
