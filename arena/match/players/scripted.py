"""A player inside the arena's own process: the test double, and the way to play a million matches in a simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arena.base.enums import FaultKind, Termination
from arena.base.errors import BotError
from arena.base.records import Fault, SeatReport
from arena.match.players.player import Answer, Player, Request
from arena.protocol.messages import Seating, Wants

Chooser = Callable[[Request], Any]
"""Returns an action, or a whole ``Answer``; may raise ``BotError``."""


class ScriptedPlayer(Player):
    """Answers from a function or from a list of actions, and remembers every call.

    Attributes:
        calls: every call the referee made, as ``(name, value)``.
    """

    def __init__(
        self,
        script: Chooser | Sequence[Any],
        wants: Wants | None = None,
        fails_to_start: BotError | None = None,
    ) -> None:
        self.wants = wants or Wants()
        self.calls: list[tuple[str, Any]] = []
        self._choose = script if callable(script) else _one_after_the_other(script)
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
        """Remember it."""
        self.calls.append(("update", (ply, list(actions))))

    def tell_fault(self, fault: Fault) -> None:
        """Remember it."""
        self.calls.append(("fault", fault))

    def end(
        self, ranks: Sequence[int], scores: Sequence[float], termination: Termination, faults: Sequence[Fault]
    ) -> SeatReport:
        """Remember it."""
        self.calls.append(("end", (tuple(ranks), tuple(scores), termination)))
        return SeatReport()


def _one_after_the_other(actions: Sequence[Any]) -> Chooser:
    """Return a chooser that goes through ``actions``, raising those that are errors."""
    coming = iter(actions)

    def choose(request: Request) -> Any:
        action = next(coming)
        if isinstance(action, BotError):
            raise action
        return action

    return choose
