"""A seat's player that is a bot process speaking the protocol. The process is kept and reused over matches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arena.base.bot_text import BotText
from arena.base.enums import ClockKind, FaultKind, OffTurn, Termination
from arena.base.errors import BotError, MatchStateError
from arena.base.records import Bot, Fault, Limits, SeatReport
from arena.base.version import __version__
from arena.match.players.bot_output import Transcript
from arena.match.players.connection import BotConnection
from arena.match.players.game_location import find_external_game
from arena.match.players.off_turn import WORK_SECONDS, RunningBots
from arena.match.players.player import Answer, Player
from arena.match.players.subprocess import Subprocess
from arena.protocol import messages
from arena.protocol.frames import MAX_BYTES_TO_BOT, FrameError, Message, decode_body, encode_frame
from arena.protocol.messages import Ready, Request, Seating, Wants
from arena.sandbox.isolation.sandbox_policy import Isolation
from arena.sandbox.metering.resource_monitor import Usage

QUIT_GRACE_SECONDS = 0.5
"""How long a bot may take to leave after ``quit`` before it is killed."""

END_SECONDS = 0.5
"""How long a bot may take to handle ``end``, so that the record of the match has what it then writes to stderr."""

NOT_STARTED = SeatReport(exit=BotText("not started"))

FAULT_GRACE_SECONDS = 0.05
"""How long a bot that committed a fault may take to read about it before it is killed."""


class ProcessPlayer(Player):
    """A bot process in a seat.

    Attributes:
        transcript: the last messages of its conversation; a new launch begins a new one.
        peak: the most that its processes were seen to use, up to the last that has been ended.
        is_frozen_off_turn: with the rule "auto", the bot is frozen off turn from the beginning of the match on.
    """

    def __init__(
        self,
        bot: Bot,
        isolation: Isolation,
        limits: Limits,
        running_bots: RunningBots | None = None,
        keeps_sent: bool = False,
        measures_peak: bool = False,
    ) -> None:
        """Seat a bot, which ``begin`` launches; with ``measures_peak`` its usage is also measured when it ends."""
        self.bot = bot
        self.wants = Wants()
        self.ready = Ready()
        self.transcript = Transcript()
        self.peak = Usage()
        self.exited_by_itself = False
        self.is_frozen_off_turn = False
        self.last_report = SeatReport()
        self.connection: BotConnection | None = None
        self._isolation = isolation
        self._limits = limits
        self._running_bots = running_bots if running_bots is not None else RunningBots()
        self._keeps_sent = keeps_sent
        self._measures_peak = measures_peak
        self._external_game: tuple[str, str] | None = None
        self._match = 0
        self._is_on_cpu_clock = False
        self._may_work_off_turn = False
        self._cpu_at_begin = 0.0
        self._cpu_on_turn = 0.0
        self._cpu_after_turn = math.inf

    def begin(self, seating: Seating) -> None:
        """Launch the bot if it is not running, and send it the match."""
        self._match = seating.match
        self.last_report = NOT_STARTED
        external_game = find_external_game(seating.game)
        if self.connection is not None and external_game not in (None, self._external_game):
            self.close()  # it was launched without permission to read this game
        if self.connection is None:
            self._external_game = external_game
        connection = self.connection or self._launch(seating.time_control.startup_seconds)
        rule = seating.time_control.off_turn
        self._may_work_off_turn = rule == OffTurn.RUN
        self._is_on_cpu_clock = seating.time_control.clock == ClockKind.CPU
        self._cpu_at_begin = connection.begin_match(is_idle_off_turn=not self._may_work_off_turn)
        self._cpu_on_turn = 0.0
        self._cpu_after_turn = math.inf  # before the first turn it may have worked on what it was sent
        self.is_frozen_off_turn |= rule == OffTurn.FREEZE
        if self.is_frozen_off_turn and not self._may_work_off_turn:
            connection.off_turn.freeze()
        elif connection.process.is_frozen:
            connection.process.thaw()
        connection.send(_frame(messages.match(seating)))

    def _launch(self, startup_seconds: float) -> BotConnection:
        bot = replace(self.bot, external_game=self._external_game)
        self.transcript = Transcript(self._keeps_sent)
        connection = BotConnection(bot, self._isolation, self._limits, self._running_bots, self.transcript)
        self.connection = connection
        try:
            body, _, _ = connection.ask(_frame(messages.hello(__version__, self._limits)), startup_seconds)
            connection.process.monitor.find_main()
            self.ready = messages.read_ready(self._decode(body))
        except BotError as error:
            kind = FaultKind.START if error.kind in (FaultKind.TIMEOUT, FaultKind.EXIT) else error.kind
            raise BotError(kind, f"before it was ready: {error.detail}") from error
        self.wants = self.ready.wants
        return connection

    def ask(self, request: Request) -> Answer:
        """Ask the bot for an action."""
        connection = self.connection or self._running()
        monitor = connection.process.monitor
        frame = _frame(messages.act(self._match, request))
        on_cpu_clock = self._is_on_cpu_clock
        connection.check_off_turn()
        cpu_before = monitor.cpu_seconds()
        try:
            allowed_seconds = request.seconds + request.margin_seconds
            body, wall_seconds, charged_seconds = connection.ask(frame, allowed_seconds, on_cpu_clock)
        finally:
            cpu_after = monitor.cpu_seconds()
            self._cpu_on_turn += cpu_after - cpu_before
        off_turn = connection.off_turn
        off_turn.cpu_at_start = cpu_after
        if not self._may_work_off_turn:
            self.is_frozen_off_turn |= off_turn.has_worked or cpu_before - self._cpu_after_turn > WORK_SECONDS
            self._cpu_after_turn = cpu_after
            if self.is_frozen_off_turn:
                off_turn.freeze()
        action, note = messages.common_action(body, request.ply), None
        if action is None:
            action, note = messages.read_action(self._decode(body), request.ply, self._limits.note_bytes)
        # in whole nanoseconds, as the clocks count: differences have more digits, which only cost space
        wall_seconds = int(wall_seconds * 1e9 + 0.5) / 1e9
        used_seconds = charged_seconds if on_cpu_clock else cpu_after - cpu_before
        cpu_seconds = int(max(0.0, used_seconds) * 1e9 + 0.5) / 1e9  # two clocks may differ by a millisecond
        return Answer(action, wall_seconds, cpu_seconds, note, cpu_seconds if on_cpu_clock else wall_seconds)

    def tell_update(self, ply: int, actions: Sequence[Any]) -> None:
        """Send an update."""
        if self.connection is not None:
            self.connection.send(_frame(messages.update(self._match, ply, actions)))

    def tell_fault(self, fault: Fault) -> None:
        """Send the bot its fault, and end it; the next match launches it again."""
        if self.connection is not None:
            self._end_process(_frame(messages.fault(fault.kind, fault.detail.for_operator())), FAULT_GRACE_SECONDS)

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Send the bot how the match ended, and wait until it has handled that; it keeps running for the next match."""
        connection = self.connection
        if connection is not None:
            connection.send(_frame(messages.end(self._match, ranks, scores, termination, faults)))
            connection.wait_until_idle(END_SECONDS)
            self.last_report = self._report(connection.process, self._end_turns(connection))
            connection.off_turn.is_required = True  # between matches there is nothing to think about
        return self.last_report

    def freeze(self) -> None:
        """Freeze the bot until its next match, which is not to begin at once."""
        if self.connection is not None and not self.connection.process.is_frozen:
            self.connection.off_turn.freeze()

    def close(self, grace_seconds: float = QUIT_GRACE_SECONDS) -> None:
        """Ask the bot to leave, and end it."""
        if self.connection is not None:
            self._end_process(_frame(messages.quit_message()), grace_seconds)

    def _end_process(self, last_words: bytes, grace_seconds: float) -> None:
        connection = self._running()
        self.connection = None
        cpu_off_turn = self._end_turns(connection)
        monitor = connection.process.monitor
        self.peak = self.peak.or_more(monitor.final_peak() if self._measures_peak else monitor.peak)
        self.exited_by_itself = connection.end(last_words, grace_seconds)
        self.last_report = self._report(connection.process, cpu_off_turn)

    def _end_turns(self, connection: BotConnection) -> float:
        """Return the CPU time that the bot used off turn; what it uses from now on is not of this match."""
        connection.update_usage()
        used_seconds = connection.off_turn.cpu_at_start = connection.process.monitor.cpu_seconds()
        return max(0.0, used_seconds - self._cpu_at_begin - self._cpu_on_turn)

    def _report(self, process: Subprocess, cpu_off_turn: float) -> SeatReport:
        return SeatReport(
            cpu_seconds=max(0.0, self._cpu_on_turn),
            off_turn_cpu_seconds=cpu_off_turn,
            exit=BotText(process.exit_text),
            stderr=BotText(process.stderr_text.take()),
        )

    def _decode(self, body: bytes) -> Message:
        try:
            return decode_body(body, self._limits)
        except FrameError as error:
            raise BotError(error.kind, str(error)) from error

    def _running(self) -> BotConnection:
        if self.connection is None:
            raise MatchStateError(f"{self.bot.label} is not running")
        return self.connection


def _frame(message: Message) -> bytes:
    try:
        frame = encode_frame(message)
    except (TypeError, ValueError, OverflowError) as error:
        raise MatchStateError(f"a {message['type']} message can't be packed: {error}") from error
    if len(frame) > MAX_BYTES_TO_BOT:
        raise MatchStateError(
            f"a {message['type']} message of {len(frame)} bytes; the protocol allows {MAX_BYTES_TO_BOT}"
        )
    return frame
