"""Landlock: which files a bot may touch, as numbers for the launcher (landlock(7), linux/landlock.h).

Whatever is not granted is refused with EACCES. Walking through directories and reading links is never refused, so names
along a path may be found out; contents and listings may not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

_SYS_LANDLOCK_CREATE_RULESET = 444
_CREATE_RULESET_VERSION = 1

READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read files, list directories."""

WRITE_FILE = 1 << 1 | 1 << 2 | 1 << 14
"""Write and truncate a file that is there; granted for the few devices that are harmless."""

_ALL_BY_ABI = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_MAKE_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11

DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")

ZERO = "/dev/zero"
"""What is mapped of it is memory that only a control group counts."""

ABI_WITH_SCOPES = 6
"""From here on (Linux 6.12) signals and abstract sockets can be confined."""


def landlock_abi() -> int:
    """Return the version of Landlock this kernel has; 0 if none or switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, abi)


def ruleset(
    abi: int, readable: Iterable[str], *writable: str, own: Iterable[str] = (), devices: Iterable[str] = DEVICES
) -> dict[str, Any]:
    """Return the rules as the launcher takes them.

    Args:
        abi: from ``landlock_abi``.
        readable: files, and directories with all below them.
        writable: the directories that may be written to.
        own: those of the readable ones that somebody else than the system's owner may put links in place of.
        devices: those that may be used.
    """
    all_rights = _ALL_BY_ABI[min(abi, 5)]
    handled = [all_rights]
    if abi >= 4:
        handled.append(0b11)  # bind and connect TCP
    if abi >= ABI_WITH_SCOPES:
        handled.append(0b11)  # abstract sockets and signals
    rules = [[path, READ] for path in readable]
    rules += [[device, WRITE_FILE & all_rights] for device in devices]
    rules += [[directory, all_rights & ~_MAKE_DEVICES_AND_SOCKETS] for directory in writable]
    return {"handled": handled, "rules": rules, "own": list(own)}
