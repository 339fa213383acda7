"""A seat's player that is a bot process speaking the protocol. The process is kept and reused over matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arena.enums import ClockKind, FaultKind, OffTurn, Termination
from arena.errors import BotError, MatchStateError
from arena.isolation.launch_spec import Isolation
from arena.monitoring.resource_monitor import Usage
from arena.players.bystanders import Bystanders
from arena.players.connection import BotConnection
from arena.players.game_location import find_external_game
from arena.players.off_turn import BUSY_SECONDS
from arena.players.player import Answer, Player, Request
from arena.protocol import messages
from arena.protocol.frames import MAX_BYTES_TO_BOT, FrameError, Message, decode_body, encode_frame
from arena.protocol.messages import Ready, Seating, Wants
from arena.records import Bot, Fault, Limits, SeatReport, TimeControl
from arena.version import __version__

QUIT_GRACE_SECONDS = 0.5
"""How long a bot may take to leave after ``quit`` before it is killed."""

END_SECONDS = 0.5
"""How long a bot may take to deal with ``end`` for what it writes to stderr to stand in the record of that match."""

FAULT_GRACE_SECONDS = 0.05
"""How long a bot that committed a fault may take to read about it before it is killed."""


class ProcessPlayer(Player):
    """A bot process in a seat.

    Attributes:
        bot: what is launched.
        ready: what the bot said of itself when it started.
        last_exchange: the last question and what came back, once the process has been ended.
        peak: the most that its processes were seen to use, up to the last that has been ended.
        left_by_itself: whether the process left when it was asked to.
        is_stopped_off_turn: with the rule "auto", it is stopped off turn from the beginning of the match on.
    """

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits, bystanders: Bystanders | None = None) -> None:
        self.bot = bot
        self.wants = Wants()
        self.ready = Ready()
        self.last_exchange = (b"", b"")
        self.peak = Usage()
        self.left_by_itself = False
        self._isolation = isolation
        self._limits = limits
        self._bystanders = bystanders if bystanders is not None else Bystanders()
        self.is_stopped_off_turn = False
        self._process: BotConnection | None = None
        self._external_game: tuple[str, str] | None = None
        self._match = 0
        self._time_control = TimeControl()
        self._cpu_at_begin = 0.0
        self._cpu_on_turn = 0.0
        self._cpu_after_turn: float | None = None
        self._is_frozen_off_turn = False
        self._last_report = SeatReport()

    def begin(self, seating: Seating) -> None:
        """Launch the bot if it is not running, and tell it of the match."""
        self._match = seating.match
        self._last_report = SeatReport(exit="not started")
        self._time_control = seating.time_control
        external_game = find_external_game(seating.game)
        if self._process is not None and external_game not in (None, self._external_game):
            self.close()  # it has been launched without the right to read this game
        if self._process is None:
            self._external_game = external_game
        process = self._process or self._launch(seating.time_control.startup_seconds)
        rule = self._time_control.off_turn
        process.begin_match(is_to_rest=rule != OffTurn.RUN)
        self._cpu_at_begin = process.whole_cpu_seconds()
        self._cpu_on_turn = 0.0
        self._cpu_after_turn = None
        self._is_frozen_off_turn |= rule == OffTurn.FREEZE or self.is_stopped_off_turn
        if self._is_frozen_off_turn and rule != OffTurn.RUN:
            process.freeze()
        process.rest.since = self._cpu_at_begin
        process.tell(_frame(messages.match(seating)))

    def _launch(self, startup_seconds: float) -> BotConnection:
        bot = replace(self.bot, external_game=self._external_game)
        self._process = BotConnection(bot, self._isolation, self._limits, self._bystanders)
        try:
            body, _, _ = self._process.ask(_frame(messages.hello(__version__, self._limits)), startup_seconds)
            self._process.bot_is_up()
            self.ready = messages.read_ready(self._decode(body))
        except BotError as error:
            kind = FaultKind.START if error.kind in (FaultKind.TIMEOUT, FaultKind.EXIT) else error.kind
            raise BotError(kind, f"before it was ready: {error.detail}") from error
        self.wants = self.ready.wants
        return self._process

    def ask(self, request: Request) -> Answer:
        """Ask the bot for an action."""
        process = self._running()
        message = self.question(request, self._match)
        on_cpu_clock = self._time_control.clock == ClockKind.CPU
        process.check_off_turn()
        cpu_before = process.whole_cpu_seconds()
        seconds = request.seconds + request.margin_seconds
        try:
            body, wall_seconds, charged = process.ask(_frame(message), seconds, on_cpu_clock)
        finally:
            cpu_after = process.whole_cpu_seconds()
            self._cpu_on_turn += cpu_after - cpu_before
        process.rest.since = cpu_after
        self._keep_off_turn_still(process, cpu_before, cpu_after)
        action, note = messages.read_action(self._decode(body), request.ply, self._limits.note_bytes)
        return Answer(action, wall_seconds, cpu_after - cpu_before, note, charged)

    @staticmethod
    def question(request: Request, match: int) -> Message:
        """Return the message that asks for an action."""
        message = messages.act(match, request.ply, request.actions, request.seconds, request.bank_seconds)
        if request.observation is not None:
            message["observation"] = request.observation
        if request.legal is not None:
            message["legal"] = request.legal
        return message

    def _keep_off_turn_still(self, process: BotConnection, cpu_before: float, cpu_after: float) -> None:
        """After a turn, stop a bot that is to be stopped, or that was busy before the turn."""
        if self._time_control.off_turn == OffTurn.RUN:
            return
        if process.rest.was_broken or (
            self._cpu_after_turn is not None and cpu_before - self._cpu_after_turn > BUSY_SECONDS
        ):
            self._is_frozen_off_turn = True
        if self._is_frozen_off_turn:
            process.freeze()
        self._cpu_after_turn = cpu_after

    def tell_update(self, ply: int, actions: Sequence[Any]) -> None:
        """Send an update."""
        if self._process is not None:
            self._process.tell(_frame(messages.update(self._match, ply, actions)))

    def tell_fault(self, fault: Fault) -> None:
        """Tell the bot why, and end it; the next match starts it anew."""
        if self._process is not None:
            self._end_process(_frame(messages.fault(fault.kind, fault.detail)), FAULT_GRACE_SECONDS)

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Tell the bot how the match ended, and let it deal with that; it goes on running, for the next one."""
        process = self._process
        if process is not None:
            process.tell(_frame(messages.end(self._match, ranks, scores, termination, faults)))
            process.settle(END_SECONDS)
            cpu_off_turn = self._cpu_off_turn(process)
            self._last_report = self._report(process, cpu_off_turn)
            process.rest.is_due = True  # between matches there is nothing to think about
            process.rest.since = process.whole_cpu_seconds()
        return self._last_report

    def close(self) -> None:
        """Ask the bot to leave, and see to it that it does."""
        if self._process is not None:
            self._end_process(_frame(messages.quit_message()), QUIT_GRACE_SECONDS)

    def _end_process(self, last_words: bytes, grace_seconds: float) -> None:
        process = self._running()
        self._process = None
        cpu_off_turn = self._cpu_off_turn(process)
        self.last_exchange, self.peak = process.last_exchange(), self.peak.or_more(process.peak())
        self.left_by_itself = process.end(last_words, grace_seconds)
        self._last_report = self._report(process, cpu_off_turn)

    def _cpu_off_turn(self, process: BotConnection) -> float:
        """Return the CPU time used since the match began, without that on turn."""
        process.update_usage()
        return max(0.0, process.whole_cpu_seconds() - self._cpu_at_begin - self._cpu_on_turn)

    def _report(self, process: BotConnection, cpu_off_turn: float) -> SeatReport:
        return SeatReport(
            cpu_seconds=self._cpu_on_turn,
            off_turn_cpu_seconds=cpu_off_turn,
            exit=process.exit_text,
            stderr=process.take_stderr(),
        )

    def _decode(self, body: bytes) -> Message:
        try:
            return decode_body(body, self._limits)
        except FrameError as error:
            raise BotError(error.kind, str(error)) from error

    def _running(self) -> BotConnection:
        if self._process is None:
            raise MatchStateError(f"{self.bot.label} is not running")
        return self._process


def _frame(message: Message) -> bytes:
    frame = encode_frame(message)
    if len(frame) > MAX_BYTES_TO_BOT:
        raise MatchStateError(
            f"a {message['type']} message of {len(frame)} bytes; the protocol allows {MAX_BYTES_TO_BOT}"
        )
    return frame
