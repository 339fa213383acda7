"""The players of the seats: their interface, their clock, people, and test doubles."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from arena.base.bot_text import BotText
from arena.base.enums import FaultKind, Termination
from arena.base.errors import ArenaError, BotError
from arena.base.records import Bot, Fault, SeatReport, TimeControl
from arena.games import Game
from arena.protocol.messages import Request, Seating, Wants

WALL_FOR_CPU = 10.0
"""On the CPU clock, a bot without CPU time is ended after this many times its allowance, and a second at least."""


def wall_limit_seconds(cpu_seconds: float) -> float:
    """Return how long to wait for a bot that has an allowance of CPU time."""
    return max(1.0, WALL_FOR_CPU * cpu_seconds)


@dataclass(slots=True)
class Answer:
    """One answer of a player.

    Attributes:
        action: the action as it was sent; the rules judge it.
        wall_seconds: from the last byte asked to the last byte answered.
        cpu_seconds: CPU time used meanwhile; None where it can't be measured.
        charged_seconds: what the clock charges for, if it is not the wall time.
    """

    action: Any
    wall_seconds: float
    cpu_seconds: float | None = None
    note: Any = None
    charged_seconds: float | None = None


class Player(ABC):
    """A seat's player. The referee calls ``begin``, then ``ask`` and ``tell_update`` any number of times, then ``end``.

    ``wants``, the optional fields of a ``Request``, is valid once ``begin`` has returned.
    """

    wants: Wants = Wants()

    @abstractmethod
    def begin(self, seating: Seating) -> None:
        """Get ready for a match.

        Raises:
            BotError: of kind start, exit, protocol or limit.
            VoidMatchError: if the arena itself failed.
        """

    @abstractmethod
    def ask(self, request: Request) -> Answer:
        """Ask for an action and wait for it, ``request.seconds`` + margin at the most.

        Raises:
            BotError: of kind exit, timeout, protocol or limit.
        """

    def tell_update(self, ply: int, actions: Sequence[Any]) -> None:  # noqa: B027 - most players don't want it
        """Take note of actions as they happen; only called if ``wants.updates``."""

    def tell_fault(self, fault: Fault) -> None:  # noqa: B027 - only a process has to be notified and ended
        """Hear of the player's own fault; it is not asked again in this match."""

    @abstractmethod
    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Take note of how the match ended, and report on it."""


HUMAN = Bot(name="human", version="1", command=(), directory="")
"""Stands for a person among the bots of a match."""


class TakenBackError(ArenaError):
    """A person takes an action back: the match is broken off, and may begin again after ``kept`` actions."""

    def __init__(self, kept: int) -> None:
        super().__init__(f"everything after {kept} actions is taken back")
        self.kept = kept


class LeftMatchError(ArenaError):
    """A person has left the match before its end; the text is a sentence."""


class HumanPlayer(Player):
    """Answers with what a person types; ``watching`` is entered meanwhile, so that all bots are watched."""

    def __init__(self, read: Callable[[int, Request], Any]) -> None:
        """Seat a person.

        Args:
            read: called with the seat and the request; returns a legal action, or raises TakenBackError or
                LeftMatchError to break the match off.
        """
        self.wants = Wants(observation=False)
        self.watching: Callable[[], AbstractContextManager[None]] = nullcontext
        self._read = read
        self._seat = 0

    def begin(self, seating: Seating) -> None:
        """Take the seat."""
        self._seat = seating.seat

    def ask(self, request: Request) -> Answer:
        """Wait for the person, as long as it takes."""
        asked = time.perf_counter()
        with self.watching():
            action = self._read(self._seat, request)
        return Answer(action, time.perf_counter() - asked)

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Leave the seat."""
        return SeatReport(exit=BotText("human"))


# A player inside the arena's own process: the test double, also for simulations of a million matches.

Chooser = Callable[[Request], Any]
"""Returns an action, or a whole ``Answer``; may raise ``BotError``."""


class ScriptedPlayer(Player):
    """Answers from a function or from a list of actions, and remembers every call, as ``(name, value)``."""

    def __init__(
        self,
        script: Chooser | Sequence[Any],
        wants: Wants | None = None,
        fails_to_start: BotError | None = None,
    ) -> None:
        self.wants = wants or Wants()
        self.calls: list[tuple[str, Any]] = []
        self._choose = script if callable(script) else _in_order(script)
        self._fails_to_start = fails_to_start

    def begin(self, seating: Seating) -> None:
        """Remember the seating, or fail as scripted."""
        self.calls.append(("begin", seating))
        if self._fails_to_start:
            raise self._fails_to_start

    def ask(self, request: Request) -> Answer:
        """Answer as scripted; an ``Answer`` later than the deadline is a timeout, as with a process."""
        self.calls.append(("ask", request))
        chosen = self._choose(request)
        answer = chosen if isinstance(chosen, Answer) else Answer(chosen, 0.0)
        if answer.wall_seconds > request.seconds + request.margin_seconds:
            raise BotError(FaultKind.TIMEOUT, f"no answer within {request.seconds:g} s")
        return answer

    def tell_update(self, ply: int, actions: Sequence[Any]) -> None:
        """Remember the call."""
        self.calls.append(("update", (ply, list(actions))))

    def tell_fault(self, fault: Fault) -> None:
        """Remember the call."""
        self.calls.append(("fault", fault))

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Remember the call."""
        self.calls.append(("end", (tuple(ranks), tuple(scores), termination)))
        return SeatReport()


def _in_order(actions: Sequence[Any]) -> Chooser:
    remaining = iter(actions)

    def choose(request: Request) -> Any:
        action = next(remaining)
        if isinstance(action, BotError):
            raise action
        return action

    return choose


def read_action(game: Game[Any], state: Any, legal: Sequence[Any], text: str) -> Any:
    """Return what a person has typed as an action; raise IllegalActionError if it breaks a rule."""
    action = game.parse_action(text)
    if action not in legal:
        game.apply(state, action)  # which says why not
    return action


def kept_after_undo(actions: Sequence[Sequence[Any]], seat: int) -> int | None:
    """Return how many actions stay when a person takes the last one of their own back; None without one."""
    own_plies = [ply for ply, (actor, *_) in enumerate(actions) if actor == seat]
    return own_plies[-1] if own_plies else None


# The clock of one seat, and what a player is asked in a position.
#
# The clock knows how long an action may take, and what is left of the bank. It measures no time itself.

NO_LIMIT_SECONDS = 24 * 3600.0
"""Used where a time control sets neither a limit per action nor a bank; it keeps every wait finite."""


class SeatClock:
    """Keeps the bank of one seat through a match."""

    def __init__(self, time_control: TimeControl) -> None:
        per_action = time_control.per_action_seconds
        self._per_action = NO_LIMIT_SECONDS if per_action is None else float(per_action)
        self._increment = time_control.increment_seconds
        self.margin_seconds = time_control.margin_seconds
        self.bank_seconds = None if time_control.bank_seconds is None else float(time_control.bank_seconds)
        self.allowed_seconds = (
            self._per_action if self.bank_seconds is None else min(self._per_action, self.bank_seconds)
        )

    def charge(self, seconds: float) -> None:
        """Subtract an action's time from the bank, down to zero (the margin is forgiven), then add the increment."""
        if self.bank_seconds is not None:
            self.bank_seconds = max(0.0, self.bank_seconds - seconds) + self._increment
            self.allowed_seconds = min(self._per_action, self.bank_seconds)


def build_request(
    game: Game[Any],
    state: Any,
    wants: Wants,
    clock: SeatClock,
    ply: int,
    actions: Sequence[Any],
) -> Request:
    """Return the question for the seat to act, with the fields that its player wants."""
    return Request(
        ply,
        actions,
        clock.allowed_seconds,
        clock.bank_seconds,
        clock.margin_seconds,
        game.observation(state) if wants.observation else None,
        game.legal_actions(state) if wants.legal else None,
    )
