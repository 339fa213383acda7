"""What is known of a bot after a match, and what it did wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from arena.base.bot_text import Audience, BotText
from arena.base.enums import FaultKind
from arena.base.errors import StoreError
from arena.base.stored import is_whole

_RUNNING, _NOTHING = BotText("running"), BotText("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a bot did wrong, after ``ply`` actions: a sentence with figures, and perhaps text of the bot."""

    seat: int
    kind: FaultKind
    ply: int
    detail: BotText[str]

    def __post_init__(self) -> None:
        _wrap(self, "detail")

    def shown_to(self, audience: Audience, bot: str) -> Fault:
        """Return the fault of a bot with what an audience may read."""
        return replace(self, detail=BotText(self.told_to(audience, bot)))

    def told_to(self, audience: Audience, bot: str) -> str:
        """Return what a bot (``name@version``) did, in a sentence that the audience may read."""
        sentence: str = FaultKind(self.kind).sentence
        detail = self.detail.shown_to(audience, bot)
        return sentence if detail is None else detail


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReport:
    """What is known of one bot after a match.

    Attributes:
        wall_seconds: time on its own clock, all actions together.
        cpu_seconds: CPU time it used while an answer was due, with its children.
        off_turn_cpu_seconds: CPU time it used otherwise, from the start of the match.
        exit: "running", "exit status N" or "signal NAME".
        stderr: the first and the last part of its text on stderr during the match.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    off_turn_cpu_seconds: float = 0.0
    exit: BotText[str] = _RUNNING
    stderr: BotText[str] = _NOTHING

    def __post_init__(self) -> None:
        _wrap(self, "exit")
        _wrap(self, "stderr")

    def exit_shown_to(self, audience: Audience, bot: str, *, has_fault: bool) -> str:
        """Return what an audience may read of the exit; the arena ends a bot that is still running after its fault."""
        text = self.exit.shown_to(audience, bot) or ""
        return "ended by the arena" if has_fault and text == _RUNNING.for_operator() else text

    def shown_to(self, audience: Audience, bot: str) -> SeatReport:
        """Return the report on a bot with what an audience may read."""
        return self if audience.may_read(bot) else replace(self, exit=_NOTHING, stderr=_NOTHING)


def fields_of(part: Any) -> dict[str, Any]:
    """Return the fields of a part of a record as JSON types, all text of bots included."""
    return {
        name: value.for_operator() if isinstance(value := getattr(part, name), BotText) else value
        for name in part.__slots__
    }


def _wrap(value: object, name: str) -> None:
    if not isinstance(text := getattr(value, name), BotText):
        object.__setattr__(value, name, BotText(text))


def checks_of_play(played: Any, seats: int) -> Iterator[tuple[str, bool]]:
    """Yield each inconsistency that actions, their times and faults can have, and whether a match is free of it."""
    plies = len(played.actions)
    times = {len(played.wall_seconds), len(played.cpu_seconds)}
    yield "actions, wall_seconds and cpu_seconds differ in number", times == {plies}
    yield (
        "an action is not of one of the seats",
        all(len(action) == 2 and is_whole(action[0], 0, seats - 1) for action in played.actions),
    )
    yield (
        "a fault is not of one of the seats",
        all(0 <= fault.seat < seats and 0 <= fault.ply <= plies for fault in played.faults),
    )


def require(checks: Iterable[tuple[str, bool]], where: str) -> None:
    """Raise StoreError for the first problem from which a stored value is not free."""
    for problem, holds in checks:
        if not holds:
            raise StoreError(f"{where} is malformed: {problem}")
