"""The limits of bots: what a bot may use, and the sentence about one that used more.

Those of memory, processes and files are set in ``sandbox/isolation`` and measured in ``sandbox/metering``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum, auto
from typing import Any

from arena.base.text import size_text

MEBIBYTE = 1024 * 1024


class Unit(Enum):
    """What a limit counts."""

    BYTES = auto()
    SECONDS = auto()
    ITEMS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit.

    Attributes:
        name: its key in the tournament file, and its field in ``Limits``.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a bot may use, with all it starts. Breaking one is a fault of the kind ``limit``.

    Attributes:
        memory_bytes: memory of all its processes together.
        cpu_seconds: CPU time in one match, on turn and off turn, of all its processes; None for no such limit.
        processes: processes and threads at a time.
        cores: on which its processes run in a match; those of its rivals run on the same ones.
        open_files: descriptors of one process.
        file_bytes: size of a file it writes.
        scratch_bytes: all it keeps in its scratch directory and in ``/dev/shm``.
        stderr_bytes: text on stderr in one match; the record keeps its first and last 2 KiB, or 32 KiB after a fault.
        note_bytes: a note, packed.
        message_bytes: all of a message.
        message_depth: nesting in a message.
        message_nodes: values in a message.
    """

    memory_bytes: int = limit(2048 * MEBIBYTE, minimum=16 * MEBIBYTE, use="{} of memory")
    cpu_seconds: float | None = limit(
        None, minimum=0, maximum=86_400, unit=Unit.SECONDS, use="{} of CPU time in this match"
    )
    processes: int = limit(256, minimum=1, maximum=100_000, unit=Unit.ITEMS, use="{} processes and threads")
    cores: int = limit(1, minimum=1, maximum=1024, unit=Unit.ITEMS)
    open_files: int = limit(256, minimum=16, maximum=100_000, unit=Unit.ITEMS, use="{} open files")
    file_bytes: int = limit(64 * MEBIBYTE, minimum=4096, use="a file of {}")
    scratch_bytes: int = limit(256 * MEBIBYTE, minimum=64 * 1024, use="{} in the scratch directory and in /dev/shm")
    stderr_bytes: int = limit(16 * MEBIBYTE, minimum=1, use="{} on stderr in one match")
    note_bytes: int = limit(4096, minimum=1, maximum=64 * 1024)
    message_bytes: int = limit(64 * 1024, minimum=256, maximum=16 * MEBIBYTE)
    message_depth: int = limit(16, minimum=3, maximum=64, unit=Unit.ITEMS)
    message_nodes: int = limit(4096, minimum=16, maximum=1_000_000, unit=Unit.ITEMS)


LIMITS = table_of_limits(Limits)
"""By name. Tournament files, their reference, and the messages about broken limits are made from this table."""

DEFAULT_LIMITS = Limits()
