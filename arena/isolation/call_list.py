"""Lists of system calls that a new process makes before its program runs.

A process that runs Python between clone and exec costs more than all that it does there: each page that the interpreter
touches is mapped again or copied. So the calls are listed beforehand with all their arguments. The new process shares
the memory of its parent, which waits until the exec (CLONE_VM and CLONE_VFORK, clone(2)), and goes through the list by
a few instructions of machine code. On machines without such code a copy of the process does it in Python, which is the
same in all other respects. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.isolation.machine_code import libc, load_machine_code

if TYPE_CHECKING:
    from types import TracebackType

_CLONE_VM, _CLONE_VFORK, CLONE_PARENT = 0x00000100, 0x00004000, 0x00008000

_NUMBERS = {
    "chdir": (80, 49),
    "clone": (56, 220),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup3": (292, 24),
    "execve": (59, 221),
    "exit_group": (231, 94),
    "fcntl": (72, 25),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "mkdirat": (258, 34),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "msgctl": (71, 187),
    "openat": (257, 56),
    "openat2": (437, 437),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "semctl": (66, 191),
    "setgroups": (116, 159),
    "setpriority": (141, 140),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setsid": (112, 157),
    "shmctl": (31, 195),
    "umask": (95, 166),
    "unshare": (272, 97),
    "write": (1, 64),
}
"""The numbers of system calls for x86_64, and in the table that later architectures share."""

_COLUMNS = {"x86_64": 0, "aarch64": 1, "riscv64": 1}

_ENTRY_BYTES = 64
_ENTRY = struct.Struct("=8q")
_MAX_ENTRIES = 1 << 15
_TEXT_AT = _MAX_ENTRIES * _ENTRY_BYTES
_TEXT_BYTES = 1 << 20
_MAX_ERRNO = 4095
_EXIT_STATUS = 127

_memory = mmap.mmap(-1, _TEXT_AT + _TEXT_BYTES)
_address = ctypes.addressof(ctypes.c_char.from_buffer(_memory))

AT_WORKING_DIRECTORY = -100
"""AT_FDCWD."""

Argument = int | str | bytes | list[Any]
"""A number; or what a pointer leads to: a text, bytes, or several arguments, each as long as a number."""


class StepError(Exception):
    """A step before the exec failed.

    Attributes:
        report: the step, its errno, and what it was applied to.
        pid: the process that failed, which its parent has to reap; None without one.
    """

    def __init__(self, step: str, number: int, subject: str = "", pid: int | None = None) -> None:
        super().__init__(step)
        self.report = {"step": step, "errno": number, "subject": subject}
        self.pid = pid


def require_success(step: str, result: int, subject: str = "") -> int:
    """Return the result of a C function, or raise with its errno."""
    if result < 0:
        raise StepError(step, ctypes.get_errno(), subject)
    return result


class _Entry(NamedTuple):
    """A listed call.

    Attributes:
        name: the call's.
        arguments: texts stand for pointers to them.
        step: what a failure is reported as.
        subject: what the call is applied to.
        skipped: how many of the next calls are left out if it fails; None if all are.
    """

    name: str
    arguments: tuple[Argument, ...]
    step: str
    subject: str
    skipped: int | None


class CallList:
    """System calls in the order in which they are made.

    A call that fails ends the list, unless it says how many others fail with it. Use as a context manager, which closes
    the files that the calls need.
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._open: list[int] = []

    def __enter__(self) -> CallList:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def keep_open(self, descriptor: int) -> int:
        """Take over a file that a call needs, and return it."""
        self._open.append(descriptor)
        return descriptor

    def add(
        self, name: str, *arguments: Argument, step: str | None = None, subject: str = "", skipped: int | None = None
    ) -> None:
        """Add a call.

        Args:
            name: of the call.
            arguments: numbers, and texts and bytes for pointers to them.
            step: what its failure is reported as; the name of the call by default.
            subject: what it is applied to, for that report.
            skipped: if it may fail, how many of the calls after it are then left out.
        """
        self._entries.append(
            _Entry(name=name, arguments=arguments, step=step or name, subject=subject, skipped=skipped)
        )

    def start(self, flags: int = 0) -> int:
        """Make the calls in a new process; return its pid as soon as it has executed its program or exited.

        Args:
            flags: for clone, beside those for sharing memory.

        Raises:
            StepError: if a call failed that may not.
        """
        self._write()
        run = load_machine_code()
        if run is not None:
            pid = run(_address, flags | _CLONE_VM | _CLONE_VFORK | signal.SIGCHLD)
            number = -pid
        else:
            all_flags = ctypes.c_ulong(flags | _CLONE_VFORK | signal.SIGCHLD)
            pid = libc.syscall(number_of("clone"), all_flags, 0, 0, 0, 0)
            number = ctypes.get_errno()
            if pid == 0:
                self._make_all()
        if pid < 0:
            raise StepError("clone", number)
        self._check(pid)
        return pid

    def make_here(self) -> None:
        """Make the calls in this process, which exits if the list has an exec that fails.

        Raises:
            StepError: if a call failed that may not.
        """
        self._write()
        self._make_all(exits=False)
        self._check(None)

    def _write(self) -> None:
        """Write the calls, and after them an exit, to where the new process finds them."""
        text = bytearray()
        last = len(self._entries)
        if last >= _MAX_ENTRIES:
            raise StepError(f"{last} system calls before the exec; at most {_MAX_ENTRIES - 1} are possible", 0)
        for at, entry in enumerate(self._entries):
            left_out = last - at - 1 if entry.skipped is None else entry.skipped
            arguments = [_value(argument, text) for argument in entry.arguments]
            arguments += [0] * (6 - len(arguments))
            number = number_of(entry.name)
            _ENTRY.pack_into(_memory, at * _ENTRY_BYTES, number, *arguments, left_out * _ENTRY_BYTES)
        _ENTRY.pack_into(_memory, last * _ENTRY_BYTES, number_of("exit_group"), _EXIT_STATUS, 0, 0, 0, 0, 0, 0)
        if len(text) > _TEXT_BYTES:
            raise StepError(f"{len(text)} bytes of arguments before the exec; at most {_TEXT_BYTES} are possible", 0)
        _memory[_TEXT_AT : _TEXT_AT + len(text)] = bytes(text)

    def _make_all(self, exits: bool = True) -> None:
        """Make the calls one after another in this process, as the machine code does."""
        at = 0
        while at < len(self._entries) + exits:
            number, *arguments, left_out = _ENTRY.unpack_from(_memory, at * _ENTRY_BYTES)
            result = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
            has_failed = result < 0
            struct.pack_into("=q", _memory, at * _ENTRY_BYTES, -ctypes.get_errno() if has_failed else result)
            at += 1 + has_failed * left_out // _ENTRY_BYTES

    def _check(self, pid: int | None) -> None:
        """Raise if a call failed that may not, or no program could be executed."""
        failures: list[tuple[_Entry, int]] = []
        for at, entry in enumerate(self._entries):
            (result,) = struct.unpack_from("=q", _memory, at * _ENTRY_BYTES)
            if -_MAX_ERRNO <= result < 0:
                if entry.skipped is None:
                    raise StepError(entry.step, -result, entry.subject, pid)
                if entry.name == "execve":
                    failures.append((entry, -result))
        if failures and failures[-1][0] is self._entries[-1]:
            numbers = [number for _, number in failures]
            worst = next((number for number in reversed(numbers) if number != errno.ENOENT), errno.ENOENT)
            raise StepError("exec", worst, failures[-1][0].subject, pid)


def number_of(name: str) -> int:
    """Return the number of a system call on this machine."""
    machine = os.uname().machine
    if machine not in _COLUMNS:
        raise StepError(f"bots can't be launched on {machine}, only on {', '.join(_COLUMNS)}", 0)
    return _NUMBERS[name][_COLUMNS[machine]]


def _value(argument: Argument, text: bytearray) -> int:
    """Return what is passed for an argument; what it points to is appended to ``text``."""
    if isinstance(argument, int):
        return argument
    if isinstance(argument, list):
        argument = struct.pack(f"={len(argument)}q", *(_value(item, text) for item in argument))
    elif isinstance(argument, str):
        argument = os.fsencode(argument)
        if b"\0" in argument:
            raise StepError(f"{argument!r} has a null character", 0)
    text += bytes(-len(text) % 8)
    address = _address + _TEXT_AT + len(text)
    text += argument + b"\0"
    return address
