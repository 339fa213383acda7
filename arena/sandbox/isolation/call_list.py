"""Lists of system calls that a new process makes before its program runs, and the machine code that makes them."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import mmap
import os
import signal
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from arena.sandbox.isolation.system_calls import SYSTEM_CALLS

# The function in machine code that goes through a list of system calls, in a process that it starts or in this one.
#
# Python can't run in a process that shares the stack and the memory of its parent; this function can, because it uses
# neither a stack nor the C library. Standard library only.

_MACHINE_CODE = {
    "x86_64": """
        53            push rbx
        4889fb        mov rbx, rdi          # the list
        4889f0        mov rax, rsi          # clone or clone3
        4885c0        test rax, rax
        7417          jz next               # in this process
        4889d7        mov rdi, rdx
        4889ce        mov rsi, rcx          # the same stack, which the new process does not touch
        31d2          xor edx, edx
        4531d2        xor r10d, r10d
        4531c0        xor r8d, r8d
        0f05          syscall
        4885c0        test rax, rax
        7402          jz next
        5b            pop rbx               # in the parent, after the exec or the exit of the new process
        c3            ret
        488b03        next: mov rax, [rbx]
        4883f8ff      cmp rax, -1
        742f          je done
        488b7b08      mov rdi, [rbx + 8]
        488b7310      mov rsi, [rbx + 16]
        488b5318      mov rdx, [rbx + 24]
        4c8b5320      mov r10, [rbx + 32]
        4c8b4328      mov r8, [rbx + 40]
        4c8b4b30      mov r9, [rbx + 48]
        0f05          syscall
        488903        mov [rbx], rax        # the result replaces the number
        4883c340      add rbx, 64
        483d01f0ffff  cmp rax, -4095
        72ce          jb next
        48035bf8      add rbx, [rbx - 8]    # after an error: how far to go on from here
        ebc8          jmp next
        4889d8        done: mov rax, rbx
        5b            pop rbx
        c3            ret
    """
}
"""A function of the address of a list, and of the number of clone(2) or clone3(2) with its first two arguments, by
machine; with the number 0, no process is started.

An entry of the list has eight words: the number of the call, six arguments, and how many bytes of the list are left out
if the call fails. Before and after the calls there is an exit, so that a new process never leaves the loop, or the
number -1, at which the function returns its address."""

libc = ctypes.PyDLL(None, use_errno=True)
"""PyDLL keeps the interpreter's lock, so a cloned child holds it."""


_executed: list[mmap.mmap] = []  # memory with machine code, which would be unmapped with the last reference to it


@functools.cache
def load_machine_code() -> Callable[[int, int, int, int], int] | None:
    """Return the function; None without code for this machine, or where no memory may be executed."""
    address = executable(_MACHINE_CODE.get(os.uname().machine, ""))
    kind = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *[ctypes.c_ulong] * 3)
    return None if address is None else kind(address)


def executable(listing: str) -> int | None:
    """Return where the code of a listing can be executed, for ever; None without code, or where none may be."""
    code = bytes.fromhex("".join(line.split()[0] for line in listing.splitlines() if line.strip()))
    if not code:
        return None
    memory = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC):
        return None
    _executed.append(memory)
    return address


# Running Python between clone and exec costs more than the calls themselves: each page that the
# interpreter touches is mapped again or copied. So the calls are listed beforehand with all their arguments. The new
# process shares the memory of its parent, which waits until the exec (CLONE_VM and CLONE_VFORK, clone(2)), and goes
# through the list by a few instructions of machine code. On machines without such code a copy of the process does it
# in Python, which is the same in all other respects. Standard library only.

CLONE_VM, CLONE_VFORK, CLONE_PARENT = 0x00000100, 0x00004000, 0x00008000
_CLONE_INTO_CGROUP = 0x200000000

_NUMBERS = SYSTEM_CALLS | {
    "capset": (126, 91),
    "chdir": (80, 49),
    "close": (3, 57),
    "dup3": (292, 24),
    "execve": (59, 221),
    "exit_group": (231, 94),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "mkdirat": (258, 34),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "setgroups": (116, 159),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "umask": (95, 166),
    "write": (1, 64),
}
"""The numbers of system calls for x86_64, and in the table that later architectures share."""

_COLUMNS = {"x86_64": 0, "aarch64": 1, "riscv64": 1}

_CALL = struct.Struct("=8q")
_MAX_CALLS = 1 << 15
_TEXT_AT = _MAX_CALLS * _CALL.size
_TEXT_BYTES = 1 << 20
_MAX_ERRNO = 4095
_EXIT_STATUS = 127
_HIGH_DESCRIPTOR = 500
LAST_DESCRIPTOR = 2**32 - 1

_memory = mmap.mmap(-1, _TEXT_AT + _TEXT_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
_address = ctypes.addressof(ctypes.c_char.from_buffer(_memory))
"""The address of the calls of one list, between two ends, and of what their arguments point to."""

LIST_BYTES = _TEXT_AT + _TEXT_BYTES
_RETURN = _CALL.pack(-1, 0, 0, 0, 0, 0, 0, 0)
"""The end of a list whose calls this process makes."""

AT_WORKING_DIRECTORY = -100
"""AT_FDCWD."""

Argument = int | str | bytes | list[Any]
"""A number; or what a pointer leads to: a text, bytes, or several arguments, each as long as a number."""


class StepError(Exception):
    """A step before the exec failed: the report says which, its errno, and what it was applied to.

    ``pid`` is the process that failed, which its parent has to reap; None without one. ``results`` are of its calls, if
    only who has made the list of them can say which step it was.
    """

    def __init__(
        self, step: str, number: int, subject: str = "", pid: int | None = None, results: Sequence[int] = ()
    ) -> None:
        super().__init__(step)
        self.report = {"step": step, "errno": number, "subject": subject}
        self.results = results
        self.pid = pid


class _Step(NamedTuple):
    """What is reported if a call fails; the list continues without a call that may fail."""

    name: str
    step: str
    subject: str
    may_fail: bool


class CallList:
    """System calls in the order in which they are made.

    A call that fails ends the list, unless it says how many others fail with it. Use as a context manager, which closes
    the files that the calls need; a list that needs none may be used again.

    Attributes:
        free_from: the descriptor of the next file that they open, if none above is open; None if that is unknown.
    """

    def __init__(self, address: int = _address) -> None:
        """Begin a list that will be at an address."""
        self.free_from: int | None = None
        self._text_at = address + _TEXT_AT
        self._calls = bytearray()
        self._text = bytearray()
        self._steps: list[_Step] = []
        self._open: list[int] = []

    def __enter__(self) -> CallList:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())

    def keep_open(self, descriptor: int) -> int:
        """Take over a file that a call needs, and return it."""
        self._open.append(descriptor)
        return descriptor

    def add(
        self, name: str, *arguments: Argument, step: str | None = None, subject: str = "", skipped: int | None = None
    ) -> None:
        """Add a call.

        Args:
            arguments: numbers, and texts and bytes for pointers to them.
            step: what its failure is reported as; the name of the call by default.
            subject: what it is applied to, for that report.
            skipped: if it may fail, how many of the calls after it are then left out.
        """
        values = [self._value(argument) for argument in arguments]
        values += [0] * (6 - len(values))
        left_out = -(len(self._steps) + 2) if skipped is None else skipped  # to the exit before all calls
        self._calls += _CALL.pack(number_of(name), *values, left_out * _CALL.size)
        self._steps.append(_Step(name, step or name, subject, skipped is not None))

    def _value(self, argument: Argument) -> int:
        """Return what is passed for an argument; keep what it points to."""
        if isinstance(argument, int):
            return argument
        if isinstance(argument, list):
            argument = struct.pack(f"={len(argument)}q", *map(self._value, argument))
        elif isinstance(argument, str):
            argument = os.fsencode(argument)
            if b"\0" in argument:
                raise StepError(f"{argument!r} has a null character", 0)
        at = len(self._text)
        self._text += argument + bytes(8 - len(argument) % 8)
        return self._text_at + at

    @property
    def count(self) -> int:
        """The number of calls."""
        return len(self._steps)

    def start(self, flags: int = 0, group: int | None = None) -> int:
        """Make the calls in a new process; return its pid as soon as it has executed its program or exited.

        ``group`` is the open directory of a control group of version 2 in which it starts.
        """
        self._place(_CALL.pack(number_of("exit_group"), _EXIT_STATUS, 0, 0, 0, 0, 0, 0))
        run = load_machine_code()
        if run is None:
            pid = self._start_copy(flags, group)
        else:
            pid = run(_address + _CALL.size, *clone_call(flags | CLONE_VM | CLONE_VFORK, group))
            if pid < 0:
                raise StepError("clone", -pid)
        self.check(results(_address, self.count), pid)
        return pid

    def _start_copy(self, flags: int, group: int | None) -> int:
        """Make the calls in a copy of this process, which writes their results into a pipe if it executes nothing."""
        read_end, write_end = map(_moved_away, os.pipe())  # the list has the numbers of the next files
        with open(read_end, "rb") as file:
            pid = libc.syscall(*map(ctypes.c_ulong, clone_call(flags, group)), 0, 0, 0)
            if pid == 0:
                _make_by_python(_address, self.count)
                os.write(write_end, _memory[: len(self._calls) + _CALL.size])
                os._exit(_EXIT_STATUS)
            os.close(write_end)
            if pid < 0:
                raise StepError("clone", ctypes.get_errno())
            returned = file.read()
        _memory[: len(returned)] = returned
        return int(pid)

    def make_here(self) -> None:
        """Make the calls in this process."""
        self._place(_RETURN)
        if not make_calls(_address, self.count):
            self.check(results(_address, self.count), None)

    def write(self, file: int) -> None:
        """Write the calls into a file, which another process maps at the list's address to make them."""
        os.pwrite(file, self._framed(_RETURN), 0)
        os.pwrite(file, self._text, _TEXT_AT)

    def _place(self, end: bytes) -> None:
        """Put the calls where a process finds them that shares the memory of this one."""
        calls = self._framed(end)
        _memory[: len(calls)] = calls
        _memory[_TEXT_AT : _TEXT_AT + len(self._text)] = bytes(self._text)

    def _framed(self, end: bytes) -> bytes:
        """Return the calls with an end before and after them."""
        if self.count > _MAX_CALLS - 2:
            raise StepError(f"{self.count} system calls before the exec; {_MAX_CALLS - 2} are possible", 0)
        if len(self._text) > _TEXT_BYTES:
            raise StepError(f"{len(self._text)} bytes of arguments before the exec; {_TEXT_BYTES} are possible", 0)
        return end + self._calls + end

    def check(self, returned: Sequence[int], pid: int | None) -> None:
        """Raise if a call of a process failed that may not, or no program could be executed."""
        failed = [(step, -word) for step, word in zip(self._steps, returned, strict=True) if -_MAX_ERRNO <= word < 0]
        for step, number in failed:
            if not step.may_fail:
                raise StepError(step.step, number, step.subject, pid)
        if failed and failed[-1][0] is self._steps[-1] and failed[-1][0].name == "execve":
            numbers = [number for step, number in failed if step.name == "execve"]
            worst = next((number for number in reversed(numbers) if number != errno.ENOENT), errno.ENOENT)
            raise StepError("exec", worst, self._steps[-1].subject, pid)


_clone_arguments = (ctypes.c_uint64 * 11)()
"""A clone_args of clone3(2): flags, three that are 0, exit_signal, five that are 0, cgroup."""


def clone_call(flags: int, group: int | None) -> tuple[int, int, int]:
    """Return the number of the call that starts a process, and its first two arguments; others are 0.

    ``group`` is the directory of the control group in which it starts.
    """
    if group is None:
        return number_of("clone"), flags | signal.SIGCHLD, 0
    _clone_arguments[0], _clone_arguments[10] = flags | _CLONE_INTO_CGROUP, group
    _clone_arguments[4] = 0 if flags & CLONE_PARENT else signal.SIGCHLD  # then the signal is that of this process
    return number_of("clone3"), ctypes.addressof(_clone_arguments), ctypes.sizeof(_clone_arguments)


def make_calls(address: int, count: int) -> bool:
    """Make the calls of a list in this process; return whether none failed that may not."""
    run = load_machine_code()
    return run(address + _CALL.size, 0, 0, 0) > address if run is not None else _make_by_python(address, count)


def _make_by_python(address: int, count: int) -> bool:
    """Make the calls of a list one after another, as the machine code does, up to one of its ends."""
    memory = (ctypes.c_char * ((count + 2) * _CALL.size)).from_address(address)
    at = 1
    while 0 < at <= count:
        number, *arguments, left_out = _CALL.unpack_from(memory, at * _CALL.size)
        result = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
        has_failed = result < 0
        struct.pack_into("=q", memory, at * _CALL.size, -ctypes.get_errno() if has_failed else result)
        at += 1 + has_failed * left_out // _CALL.size
    return at > count


def results(address: int, count: int) -> tuple[int, ...]:
    """Return what the calls of a list have returned, and the numbers of those that were not made."""
    return struct.unpack(f"={8 * count}q", ctypes.string_at(address + _CALL.size, count * _CALL.size))[::8]


def _moved_away(descriptor: int) -> int:
    """Return a file under a high number, which leaves its own one free."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    os.close(descriptor)
    return moved


def can_close_files() -> bool:
    """Return whether a list may close all files of the new process: a copy of this one writes its results into one."""
    return load_machine_code() is not None and _has_close_range()


@functools.cache
def _has_close_range() -> bool:
    last = ctypes.c_uint(LAST_DESCRIPTOR)
    return bool(libc.syscall(number_of("close_range"), last, last, 0) == 0)


@functools.cache
def number_of(name: str) -> int:
    """Return the number of a system call on this machine."""
    machine = os.uname().machine
    if machine not in _COLUMNS:
        raise StepError(f"bots can't be launched on {machine}, only on {', '.join(_COLUMNS)}", 0)
    number = _NUMBERS[name][_COLUMNS[machine]]
    assert number is not None  # every machine has the calls that are made here
    return number
