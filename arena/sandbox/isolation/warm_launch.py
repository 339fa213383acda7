"""What the process of a warm bot is given: the system calls by which it confines itself, and what its Python runs.

The arena's process writes both into a file in memory. The process of the bot maps that file where the calls expect
their arguments, so Python has next to nothing to do there, where each page that it touches has to be copied. The warm
server, whose copy that process is, never reads the file.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import struct
from typing import TYPE_CHECKING, TypedDict

from arena.sandbox.isolation.call_list import LAST_DESCRIPTOR, LIST_BYTES, CallList, libc, make_calls, results
from arena.sandbox.isolation.sandbox_calls import add_confinement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.sandbox.isolation.launch_spec import LaunchSpec

REPORT, RULESET = 3, 4
"""The descriptors in the process of a bot, after those of standard input, output and error, until its calls are made.

They are closed before the bot's file runs."""

_ADDRESS = 0x20_0000_0000
"""Where the file is mapped: on no kind of machine does a kernel choose such an address by itself."""

_MAP_PRIVATE, _MAP_FIXED_NOREPLACE = 2, 0x100000
_PR_SET_DUMPABLE = 4
_CAPABILITY_VERSION_3 = 0x20080522
_MAX_DESCRIPTORS = 1 << 20

libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class WarmLaunch(TypedDict):
    """What Python needs in the process of a bot, as JSON types; ``count`` is that of the system calls."""

    count: int
    command: list[str]
    environment: dict[str, str]


class WarmFailureError(Exception):
    """A system call failed; ``results`` are those of all, for ``CallList.check`` of the list that was written."""

    def __init__(self, results: Sequence[int]) -> None:
        super().__init__("system calls")
        self.results = results


def write_launch(spec: LaunchSpec, uid: int | None, *, has_ruleset: bool) -> tuple[int, CallList]:
    """Return a file for the process of a bot, and the list of the calls in it."""
    calls = CallList(_ADDRESS)
    calls.free_from = RULESET + has_ruleset
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    add_confinement(calls, spec, uid, niceness, ruleset=RULESET if has_ruleset else None)
    calls.add("capset", _capability_header(), bytes(24), step="capabilities")
    calls.add("prctl", _PR_SET_DUMPABLE, 1)  # as after an exec
    calls.add("close_range", REPORT, LAST_DESCRIPTOR, 0)
    launch: WarmLaunch = {"count": calls.count, "command": spec["command"], "environment": spec["environment"]}
    file = os.memfd_create("launch")
    try:
        calls.write(file)
        os.pwrite(file, json.dumps(launch).encode(), LIST_BYTES)
    except BaseException:
        os.close(file)
        raise
    return file, calls


def become_confined(pipes: Sequence[int], file: int, ruleset: Sequence[int]) -> WarmLaunch:
    """Make this process that of a bot, and return what it has to run; until the end, the file ``REPORT`` stays open.

    Raises:
        WarmFailureError: if a system call fails.
    """
    for number, descriptor in (*enumerate(pipes), *enumerate(ruleset, RULESET)):
        os.dup2(descriptor, number)
    launch: WarmLaunch = json.loads(os.pread(file, os.fstat(file).st_size - LIST_BYTES, LIST_BYTES))
    rights = mmap.PROT_READ | mmap.PROT_WRITE
    if libc.mmap(_ADDRESS, LIST_BYTES, rights, _MAP_PRIVATE | _MAP_FIXED_NOREPLACE, file, 0) != _ADDRESS:
        raise OSError(ctypes.get_errno(), "no room for the system calls")
    os.closerange(RULESET + len(ruleset), _MAX_DESCRIPTORS)
    if not make_calls(_ADDRESS, launch["count"]):
        raise WarmFailureError(results(_ADDRESS, launch["count"]))
    libc.munmap(_ADDRESS, LIST_BYTES)
    return launch


def _capability_header() -> bytes:
    return struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
