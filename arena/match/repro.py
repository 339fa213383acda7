"""Repro: launches a recorded bot again, and sends it the messages of the match again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.base.bot_text import BotText
from arena.base.enums import ClockKind, FaultKind
from arena.base.errors import BotError, IllegalActionError, UsageError
from arena.base.records import Fault, MatchRecord
from arena.games import Game
from arena.match.players.bot_output import Transcript
from arena.match.players.player import SeatClock, build_request
from arena.match.players.process_player import ProcessPlayer
from arena.match.replay import states_of
from arena.protocol.messages import Request, Seating, shortened


class Difference(NamedTuple):
    """A ply at which a bot now acts differently from the record."""

    ply: int
    recorded: Any
    now: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """The result of a repro; ``frames`` has all that the bot was sent up to its fault or its last action, in order."""

    seat: int
    ply: int
    recorded: Fault | None
    fault: Fault | None
    differences: list[Difference]
    asked: int
    frames: list[bytes]
    stderr: str
    transcript: Transcript

    @property
    def is_same(self) -> bool:
        """Whether it acted as recorded, and committed a fault of the recorded kind at the recorded ply, or none."""
        if self.fault is None or self.recorded is None:
            return self.fault is None and self.recorded is None and not self.differences
        return (self.fault.kind, self.fault.ply) == (self.recorded.kind, self.recorded.ply) and not self.differences


def whom_to_repeat(record: MatchRecord, ply: int | None, seat: int | None) -> tuple[int, int]:
    """Return the seat and the ply to go to: by default those of the fault, else the last ply and who acts there."""
    plies, seats = len(record.actions), len(record.bots)
    if seat is not None and seat >= seats:
        raise UsageError(f"seat {seat}: this match has seats 0 to {seats - 1}")
    fault = next((fault for fault in record.faults if seat in (None, fault.seat)), None)
    if ply is None:
        ply = fault.ply if fault is not None else plies - 1
    if not 0 <= ply <= plies:
        raise UsageError(f"ply {ply}: this match has plies 0 to {plies}")
    if seat is None:
        seat = fault.seat if fault is not None else record.actions[min(ply, plies - 1)][0]
    return seat, ply


def repeat(record: MatchRecord, player: ProcessPlayer, seat: int, ply: int) -> Reproduction:
    """Launch a bot and lead it through its part of a match, up to a ply or to the end.

    It receives the recorded actions, even where its answers now differ; its transcript keeps all of them.
    """
    return _Repetition(record, player, seat, ply).run()


class _Repetition:
    def __init__(self, record: MatchRecord, player: ProcessPlayer, seat: int, ply: int) -> None:
        self._record = record
        self._player = player
        self._seat = seat
        self._ply = ply
        self._recorded = next((fault for fault in record.faults if fault.seat == seat and fault.ply <= ply), None)
        is_blameless = all(fault.seat != seat for fault in record.faults)
        self._is_to_end = is_blameless and ply >= len(record.actions) - 1
        self._last_ply = len(record.actions) if self._is_to_end else ply
        if self._recorded is not None:
            self._last_ply = self._recorded.ply
        self._time_control = record.time_control_of(seat)
        self._clock = SeatClock(self._time_control)
        self._sent_plies = 0  # how many actions the bot has been sent in questions
        self._ply_asked = record.opening_plies
        self._asked = 0
        self._differences: list[Difference] = []

    def run(self) -> Reproduction:
        try:
            fault = self._play()
            frames = self._sent_frames()
            stderr = ""
            if fault is not None:
                self._player.tell_fault(fault)
            elif self._is_to_end:
                record = self._record
                report = self._player.end(record.ranks, record.scores, record.termination, record.faults)
                stderr = report.stderr.for_operator()
                frames = self._sent_frames()
        finally:
            self._player.close()
        return Reproduction(
            seat=self._seat,
            ply=self._ply,
            recorded=self._recorded,
            fault=fault,
            differences=self._differences,
            asked=self._asked,
            frames=frames,
            stderr=stderr + self._player.last_report.stderr.for_operator(),
            transcript=self._player.transcript,
        )

    def _play(self) -> Fault | None:
        record, seat = self._record, self._seat
        try:
            self._player.begin(_seating(record, seat))
            for ply, (game, state) in enumerate(states_of(record)):
                if ply > self._last_ply:
                    break
                if ply > record.opening_plies and self._player.wants.updates:
                    self._player.tell_update(ply, record.actions[ply - 1 : ply])
                if self._is_asked_at(ply) and game.seat_to_act(state) == seat:
                    self._ply_asked = ply
                    self._ask(game, state)
            return None
        except BotError as error:
            return Fault(seat=seat, kind=error.kind, ply=self._ply_asked, detail=BotText(error.detail))
        except IllegalActionError as error:
            return Fault(
                seat=seat,
                kind=FaultKind.ILLEGAL,
                ply=self._ply_asked,
                detail=BotText(f"{shortened(error.action)}: {error.reason}"),
            )

    def _is_asked_at(self, ply: int) -> bool:
        """Return whether the seat to act was asked: not in the opening, nor where another seat had ended the match."""
        return self._record.opening_plies <= ply and (ply < len(self._record.actions) or self._recorded is not None)

    def _ask(self, game: Game[Any], state: Any) -> None:
        record, ply = self._record, self._ply_asked
        self._asked += 1
        action = self._player.ask(self._request(game, state)).action
        game.apply(state, action)
        if ply == len(record.actions):
            return
        recorded = record.actions[ply][1]
        if _as_recorded(action) != _as_recorded(recorded):
            self._differences.append(Difference(ply, recorded, action))
        used_seconds = record.cpu_seconds if self._time_control.clock == ClockKind.CPU else record.wall_seconds
        self._clock.charge(used_seconds[ply] or 0.0)

    def _request(self, game: Game[Any], state: Any) -> Request:
        since, self._sent_plies = self._record.actions[self._sent_plies : self._ply_asked], self._ply_asked
        return build_request(game, state, self._player.wants, self._clock, self._ply_asked, since)

    def _sent_frames(self) -> list[bytes]:
        return [frame.data for frame in self._player.transcript.frames() if frame.is_sent]


def _as_recorded(action: Any) -> Any:
    return [_as_recorded(part) for part in action] if isinstance(action, list | tuple) else action


def _seating(record: MatchRecord, seat: int) -> Seating:
    players = len(record.bots)
    about = (record.match, record.game, record.options, players, seat, record.rng_seed, record.time_control_of(seat))
    return Seating(*about) if record.ply_limit is None else Seating(*about, record.ply_limit)
