"""Landlock: the files a bot may use, as numbers for the fork server (landlock(7), linux/landlock.h).

Everything that is not granted is refused with EACCES. Traversing directories and reading links are never refused, so a
bot may discover names along a path, but neither contents nor listings.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from arena.sandbox.isolation.launch_spec import LandlockRules

_SYS_LANDLOCK_CREATE_RULESET = 444
_CREATE_RULESET_VERSION = 1

READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read files, list directories."""

LIST = 1 << 3
"""List directories."""

WRITE_FILE = 1 << 1 | 1 << 2 | 1 << 14
"""Write and truncate an existing file; granted for a few harmless devices."""

_ALL_BY_ABI = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_MAKE_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11

DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")

ZERO = "/dev/zero"
"""Only a control group counts the memory of its mappings."""

ABI_WITH_SCOPES = 6
"""The first version (Linux 6.12) that can restrict signals and abstract sockets."""


def landlock_abi() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none or it is switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, abi)


def landlock_rules(
    abi: int,
    readable: Iterable[str],
    *writable: str,
    own: Iterable[str] = (),
    devices: Iterable[str] = DEVICES,
    listed: Iterable[str] = (),
) -> LandlockRules:
    """Return the ruleset of a bot.

    Args:
        abi: from ``landlock_abi``.
        readable: files, and directories with everything below them.
        writable: the directories that may be written to.
        own: those of the readable paths that users other than the system's owner might replace by links.
        devices: the devices that may be used.
        listed: the directories that may be listed.
    """
    all_rights = _ALL_BY_ABI[min(abi, 5)]
    handled = [all_rights]
    if abi >= 4:
        handled.append(0b11)  # bind and connect TCP
    if abi >= ABI_WITH_SCOPES:
        handled.append(0b11)  # abstract sockets and signals
    rules = [(path, READ) for path in readable]
    rules += [(directory, LIST) for directory in listed]
    rules += [(device, WRITE_FILE & all_rights) for device in devices]
    rules += [(directory, all_rights & ~_MAKE_DEVICES_AND_SOCKETS) for directory in writable]
    return {"handled": handled, "rules": rules, "own": list(own)}
