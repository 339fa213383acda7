"""Doing again what a recorded bot did: it is launched, told the recorded history, and asked as it was asked then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.enums import ClockKind, FaultKind, Termination
from arena.errors import BotError, IllegalActionError, UsageError
from arena.match.clock import SeatClock
from arena.match.replay import states_of
from arena.match.request import build_request
from arena.players.player import Request
from arena.players.process_player import ProcessPlayer
from arena.protocol import messages
from arena.protocol.frames import encode_frame
from arena.protocol.messages import Seating, shortened
from arena.records import Fault, MatchRecord
from arena.version import __version__


@dataclass
class Reproduction:
    """What came of it.

    Attributes:
        seat: the bot's.
        ply: where its fault was recorded, or the last it was asked at.
        recorded: the recorded fault; None if there was none.
        fault: the fault it committed now; None if it committed none.
        differing: plies at which it acted otherwise than recorded, with both actions.
        asked: plies at which it was asked.
        frames: everything it was sent, in order.
        stderr: what it wrote there.
        last_exchange: the last question and what came back.
    """

    seat: int
    ply: int
    recorded: Fault | None
    fault: Fault | None = None
    differing: list[tuple[int, Any, Any]] = field(default_factory=list)
    asked: int = 0
    frames: list[bytes] = field(default_factory=list)
    stderr: str = ""
    last_exchange: tuple[bytes, bytes] = (b"", b"")

    @property
    def is_same(self) -> bool:
        """Whether it committed a fault of the recorded kind at the recorded ply, or none as recorded."""
        if self.fault is None or self.recorded is None:
            return self.fault is None and self.recorded is None
        return (self.fault.kind, self.fault.ply) == (self.recorded.kind, self.recorded.ply)


def whom_to_repeat(record: MatchRecord, ply: int | None, seat: int | None) -> tuple[int, int]:
    """Return the seat and the ply to go to.

    Args:
        record: the match.
        ply: the ply that was asked for; by default that of the fault, or the last.
        seat: the seat that was asked for; by default the one at fault, or the one to act at ``ply``.

    Raises:
        UsageError: if the match has no such seat or ply.
    """
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
    """Launch a bot and lead it through its part of a match, up to a ply.

    It is told the recorded actions, whatever it answers now.

    Raises:
        VoidMatchError: if the arena itself failed.
    """
    recorded = next((fault for fault in record.faults if fault.seat == seat and fault.ply <= ply), None)
    found = Reproduction(seat, ply, recorded)
    at = 0
    try:
        player.begin(_seating(record, seat))
        for at, request, state_and_game in _questions(record, player, seat, ply):
            found.asked += 1
            answer = player.ask(request)
            game, state = state_and_game
            game.apply(state, answer.action)
            done = record.actions[at][1] if at < len(record.actions) else None
            if at < len(record.actions) and _plain(answer.action) != _plain(done):
                found.differing.append((at, done, answer.action))
    except BotError as error:
        found.fault = Fault(seat=seat, kind=error.kind, ply=at, detail=error.detail)
    except IllegalActionError as error:
        found.fault = Fault(
            seat=seat, kind=FaultKind.ILLEGAL, ply=at, detail=f"{shortened(error.action)}: {error.reason}"
        )
    if found.fault is not None:
        player.tell_fault(found.fault)
    report = player.end((), (), Termination.NORMAL, ())
    player.close()
    found.stderr, found.last_exchange = report.stderr, player.last_exchange
    found.frames = _frames(record, player, seat, ply)
    return found


def _plain(action: Any) -> Any:
    """Return an action with lists for tuples, as records have it."""
    return [_plain(part) for part in action] if isinstance(action, list | tuple) else action


def _seating(record: MatchRecord, seat: int) -> Seating:
    players = len(record.bots)
    return Seating(record.match, record.game, record.options, players, seat, record.rng_seed, record.time_control)


def _questions(
    record: MatchRecord, player: ProcessPlayer, seat: int, last_ply: int
) -> Iterator[tuple[int, Request, tuple[Any, Any]]]:
    """Yield the ply, the question, and the game with the state, of every turn of a seat."""
    time_control = record.time_control
    clock = SeatClock(time_control)
    heard = 0
    for ply, (game, state) in enumerate(states_of(record)):
        if ply > last_ply:
            return
        if ply < record.opening_plies or game.seat_to_act(state) != seat:
            continue
        since = record.actions[heard:ply]
        request = build_request(game, state, player.wants, clock, ply, since, time_control.margin_seconds)
        heard = ply
        yield ply, request, (game, state)
        used = record.cpu_seconds if time_control.clock == ClockKind.CPU else record.wall_seconds
        clock.charge((used[ply] if ply < len(used) else None) or 0.0)


def _frames(record: MatchRecord, player: ProcessPlayer, seat: int, ply: int) -> list[bytes]:
    """Return everything the bot is sent, so that it can be run without the arena."""
    frames = [messages.hello(__version__), messages.match(_seating(record, seat))]
    for _, request, _ in _questions(record, player, seat, ply):
        frames.append(player.question(request, record.match))
    return [encode_frame(message) for message in frames]
