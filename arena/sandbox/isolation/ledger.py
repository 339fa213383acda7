"""The ledger of bots that the arena's process has launched itself: what its fork server ends if that process dies.

It is in memory that both share, so that nobody waits for the fork server while the arena's process is alive. A slot is
for a scratch directory, and for the bot in it; it stays as it is while a kept directory waits for the next bot of the
same kind. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import struct
from collections.abc import Container, Iterator
from typing import NamedTuple

from arena.sandbox.isolation.call_list import StepError
from arena.sandbox.isolation.launch_spec import LaunchOutline, LaunchSpec, outline_of

_SLOTS, _SLOT_BYTES = 256, 8192
_BYTES = _SLOTS * _SLOT_BYTES
_HEAD = struct.Struct("=iI")
"""The pid of the bot, 0 without one, and the length of the text after it, 0 in a free slot."""


class Slot(NamedTuple):
    """A slot by its number; ``key`` is another one where another launch is meant, by its number and the bot's uid."""

    number: int
    key: tuple[int, int | None]


class NotedBot(NamedTuple):
    """What a slot says: the number of the slot, the bot's pid, what was prepared for it, and its own uid."""

    slot: int
    pid: int
    outline: LaunchOutline
    uid: int | None


class Ledger:
    """The arena's end of a ledger.

    Attributes:
        file: the memory, as the fork server gets it.
        slots: the slots in use, by their scratch directories.
    """

    def __init__(self) -> None:
        self.file = os.memfd_create("arena-bots")
        os.ftruncate(self.file, _BYTES)
        self._memory = mmap.mmap(self.file, _BYTES)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.slots: dict[str, Slot] = {}
        self._free = [*reversed(range(_SLOTS))]

    def slot_of(self, spec: LaunchSpec, uid: int | None) -> int | None:
        """Return the slot that says how to end a launch; None if none does, and ``write`` has to come first."""
        slot = self.slots.get(spec["scratch"])
        return slot.number if slot is not None and spec["number"] and slot.key == (spec["number"], uid) else None

    def write(self, spec: LaunchSpec, uid: int | None) -> int:
        """Write into a slot how to end a launch; return its number.

        Raises:
            StepError: if there is no room.
        """
        text = json.dumps({"outline": outline_of(spec), "uid": uid}).encode()
        slot = self.slots.get(spec["scratch"])
        if len(text) > _SLOT_BYTES - _HEAD.size or (slot is None and not self._free):
            raise StepError(f"ledger of {len(self.slots)} bots: no room for {len(text)} bytes", errno.ENOSPC)
        number = slot.number if slot is not None else self._free.pop()
        at = number * _SLOT_BYTES
        self._memory[at : at + _HEAD.size] = bytes(_HEAD.size)  # nothing is read from a slot that is half written
        self._memory[at + _HEAD.size : at + _HEAD.size + len(text)] = text
        self._memory[at : at + _HEAD.size] = _HEAD.pack(0, len(text))
        self.slots[spec["scratch"]] = Slot(number, (spec["number"], uid))
        return number

    def pid_at(self, slot: int) -> int:
        """Return the address of a slot's pid, which the kernel writes there before the process runs."""
        return self._address + slot * _SLOT_BYTES

    def note_end(self, scratch: str) -> None:
        """Forget the pid of a bot that was reaped: it may belong to another process from now on."""
        at = self.slots[scratch].number * _SLOT_BYTES
        self._memory[at : at + 4] = bytes(4)

    def free(self, scratch: str) -> int:
        """Free the slot of a scratch directory that is gone with all else; return its number."""
        slot = self.slots.pop(scratch)
        at = slot.number * _SLOT_BYTES
        self._memory[at : at + _HEAD.size] = bytes(_HEAD.size)
        self._free.append(slot.number)
        return slot.number

    def keep_only(self, scratches: Container[str]) -> None:
        """Free the slots of all other scratch directories."""
        for scratch in [scratch for scratch in self.slots if scratch not in scratches]:
            self.free(scratch)

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)


def noted_bots(file: int) -> Iterator[NotedBot]:
    """Yield what a ledger says, after the death of the process that has written it."""
    with mmap.mmap(file, _BYTES, prot=mmap.PROT_READ) as memory:
        for slot in range(_SLOTS):
            at = slot * _SLOT_BYTES
            pid, length = _HEAD.unpack_from(memory, at)
            if length:
                said = json.loads(memory[at + _HEAD.size : at + _HEAD.size + length])
                yield NotedBot(slot, pid, said["outline"], said["uid"])
