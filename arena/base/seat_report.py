"""What is known of a bot after a match: what it did wrong, what it used, and what it wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from arena.base.bot_text import Audience, BotText, bot_text
from arena.base.enums import FaultKind

_RUNNING, _NOTHING = BotText("running"), BotText("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a bot did wrong.

    Attributes:
        seat: the seat it sat in.
        kind: what the bot did wrong.
        ply: the number of actions so far.
        detail: what happened, in one sentence with figures, and perhaps words of the bot.
    """

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
        stderr: what it wrote to stderr during the match: the first and the last part.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    off_turn_cpu_seconds: float = 0.0
    exit: BotText[str] = _RUNNING
    stderr: BotText[str] = _NOTHING

    def __post_init__(self) -> None:
        _wrap(self, "exit")
        _wrap(self, "stderr")

    def shown_to(self, audience: Audience, bot: str) -> SeatReport:
        """Return the report on a bot with what an audience may read."""
        return self if audience.may_read(bot) else replace(self, exit=_NOTHING, stderr=_NOTHING)


def fields_of(part: Any) -> dict[str, Any]:
    """Return the fields of a part of a record as JSON types, with all that the bot has said."""
    values = ((name, getattr(part, name)) for name in part.__slots__)
    return {name: value.for_operator() if isinstance(value, BotText) else value for name, value in values}


def _wrap(value: object, name: str) -> None:
    object.__setattr__(value, name, bot_text(getattr(value, name)))
