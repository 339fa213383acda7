"""The table of limits: what each one accepts, and how a bot that breaks it is reported."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum, auto
from typing import Any

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
        minimum: the lowest amount that may be set; of seconds, every amount above it.
        maximum: the highest amount that may be set.
        unit: what it counts.
        use: what a bot uses of it, with ``{}`` for the amount; empty where the arena never measures it.
    """

    name: str
    default: float | None
    minimum: int
    maximum: int
    unit: Unit
    use: str

    def broken_by(self, used: float, allowed: float) -> str:
        """Return the sentence about a bot that has used too much, or to which the system refuses more."""
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
