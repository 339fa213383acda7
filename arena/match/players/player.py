"""What sits in a seat during a match, as the referee sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.base.enums import Termination
from arena.base.records import Fault, SeatReport
from arena.protocol.messages import Seating, Wants

WALL_FOR_CPU = 10.0
"""On the CPU clock, a bot that does not use it is ended after this many times its allowance, and a second at least."""


def wall_limit_seconds(seconds: float, on_cpu_clock: bool) -> float:
    """Return how long a bot is waited for that has an allowance of seconds on its clock."""
    return max(1.0, WALL_FOR_CPU * seconds) if on_cpu_clock else seconds


class Request(NamedTuple):
    """One question to a player.

    Attributes:
        ply: the number of actions so far.
        actions: ``[seat, action]`` for every action since this player was last asked.
        seconds: the time this action may take.
        bank_seconds: what is left in the bank; None without one.
        margin_seconds: forgiven beyond ``seconds``.
        observation: for players that want it.
        legal: the legal actions, for players that want them.
    """

    ply: int
    actions: Sequence[Any]
    seconds: float
    bank_seconds: float | None
    margin_seconds: float
    observation: dict[str, Any] | None
    legal: Sequence[Any] | None


class Answer(NamedTuple):
    """One answer of a player.

    Attributes:
        action: as it was sent; the rules judge it.
        wall_seconds: from the last byte asked to the last byte answered.
        cpu_seconds: CPU time used meanwhile; None where it can't be measured.
        note: for the replay.
        charged_seconds: what the clock charges for, if it is not the wall time.
    """

    action: Any
    wall_seconds: float
    cpu_seconds: float | None = None
    note: Any = None
    charged_seconds: float | None = None


class Player(ABC):
    """A seat's player. The referee calls ``begin``, then ``ask`` and ``tell_update`` any number of times, then ``end``.

    Attributes:
        wants: what ``Request`` has to carry, valid once ``begin`` has returned.
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
