"""The limits of bots, and what is known of a bot after a match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Any

from arena.base.bot_text import Audience, BotText
from arena.base.enums import FaultKind
from arena.base.errors import StoreError
from arena.base.stored import is_whole
from arena.base.text import size_text


class Unit(Enum):
    """What a limit counts."""

    BYTES = auto()
    SECONDS = auto()
    ITEMS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit.

    Attributes:
        name: its key in the tournament file, and its field in ``arena.base.records.Limits``.
        default: the amount allowed by default; None for no limit.
        minimum: the lowest amount that may be set; of seconds, the amount must be above it.
        use: what a bot uses of it, with ``{}`` for the amount; empty where the arena never measures it.
    """

    name: str
    default: float | None
    minimum: int
    maximum: int
    unit: Unit
    use: str

    def broken_by(self, used: float, allowed: float) -> str:
        """Return the sentence about a bot that used more than the limit, or was refused more by the system."""
        texts = self._amount(used), self._amount(allowed)
        if self.unit is Unit.BYTES and used > allowed and texts[0] == texts[1]:  # MiB hide the difference
            texts = f"{used:,} bytes", f"{allowed:,} bytes"
        refused = ", and more is refused" if used <= allowed else ""
        return f"{self.use.format(texts[0])}{refused}; {self.name} allows {texts[1]}"

    def _amount(self, value: float) -> str:
        if self.unit is Unit.BYTES:
            return size_text(int(value))
        return f"{value:.2f} s" if self.unit is Unit.SECONDS else f"{value:,}"


def limit(
    default: float | None, *, minimum: int, maximum: int = 2**50, unit: Unit = Unit.BYTES, use: str = ""
) -> Any:  # the type of a field is what its class declares
    """Return a dataclass field that is a limit; the arguments are attributes of ``Limit``."""
    entry = {"default": default, "minimum": minimum, "maximum": maximum, "unit": unit, "use": use}
    return field(default=default, metadata=entry)


def table_of_limits(limits: type[Any]) -> dict[str, Limit]:
    """Return the limits that are the fields of a dataclass, by name."""
    return {entry.name: Limit(name=entry.name, **entry.metadata) for entry in fields(limits)}


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
