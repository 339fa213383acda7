"""A copy of this process that is not its child, for Python that is to run on in the copy."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Callable

from arena.sandbox.isolation.call_list import CLONE_VFORK, CLONE_VM, clone_call, executable, libc

_MACHINE_CODE = {
    "x86_64": """
        53            push rbx
        55            push rbp
        4883ec08      sub rsp, 8
        4889fb        mov rbx, rdi          # fork
        4889f5        mov rbp, rsi          # where the pid is put
        4889d0        mov rax, rdx          # clone or clone3
        4889cf        mov rdi, rcx
        4c89c6        mov rsi, r8           # the same stack, below what this process has on it
        31d2          xor edx, edx
        4531d2        xor r10d, r10d
        4531c0        xor r8d, r8d
        0f05          syscall
        4885c0        test rax, rax
        7512          jnz done              # in this process, after the exit of the new one
        ffd3          call rbx
        894500        mov [rbp], eax
        85c0          test eax, eax
        7409          jz done               # in the copy
        31ff          xor edi, edi
        b8e7000000    mov eax, 231          # exit_group
        0f05          syscall
        4883c408      done: add rsp, 8
        5d            pop rbp
        5b            pop rbx
        c3            ret
    """
}
"""A function of the address of fork(3), of an address for a pid, and of what ``clone_call`` returns, by machine.

A process in between shares the memory of this one, which waits meanwhile. So that it exits costs nothing, where a copy
of this process would take as long as the one that is wanted."""


@functools.cache
def load_machine_code() -> Callable[[int, int, int, int, int], int] | None:
    """Return the function; None without code for this machine, or where no memory may be executed."""
    address = executable(_MACHINE_CODE.get(os.uname().machine, ""))
    kind = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_ulong] * 3)
    return None if address is None else kind(address)


_fork = ctypes.cast(libc.fork, ctypes.c_void_p).value or 0
_pid = ctypes.c_int()
_before, _in_parent, _in_child = (
    getattr(ctypes.pythonapi, f"PyOS_{name}") for name in ("BeforeFork", "AfterFork_Parent", "AfterFork_Child")
)
for _hook in (_before, _in_parent, _in_child):
    _hook.restype = None


def fork_orphan(group: int | None = None) -> int:
    """Copy this process; return the pid of the copy, whose parent has exited by then, and 0 in the copy.

    ``group`` is the open directory of a control group of version 2 in which it starts; so does the process in between.

    Raises:
        OSError: if there is no room for a process.
    """
    function = load_machine_code()
    if function is None:
        return _fork_twice(group)
    _before()
    between = function(_fork, ctypes.addressof(_pid), *clone_call(CLONE_VM | CLONE_VFORK, group))
    if between == 0:
        _in_child()
        return 0
    _in_parent()
    if between < 0:
        raise OSError(-between, os.strerror(-between))
    os.waitpid(between, 0)
    if _pid.value < 0:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return _pid.value


def _fork_twice(group: int | None) -> int:
    read_end, write_end = os.pipe()
    between = os.fork()
    if between == 0:
        _exit_after_fork(write_end, group)
        os.close(read_end)
        os.close(write_end)
        return 0
    os.close(write_end)
    os.waitpid(between, 0)
    with open(read_end, "rb") as file:
        report = file.read()
    if not report:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    pid: int = struct.unpack("=i", report)[0]
    return pid


def _exit_after_fork(report_to: int, group: int | None) -> None:
    """Return in another copy; this one writes its pid and exits."""
    try:
        if group is not None:
            os.write(os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=group), b"0")
        pid = os.fork()
        if pid:
            os.write(report_to, struct.pack("=i", pid))
    except BaseException:
        os._exit(1)
    if pid:
        os._exit(0)
