"""The function in machine code that starts a process and has it go through a list of system calls.

Python can't run in a process that shares the stack and the memory of its parent; this function can, because it uses
neither a stack nor the C library. Standard library only.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from collections.abc import Callable

_MACHINE_CODE = {
    "x86_64": """
        4989f9        mov r9, rdi           # the list
        4889f7        mov rdi, rsi          # the flags
        31f6          xor esi, esi          # the same stack, which the new process does not touch
        31d2          xor edx, edx
        4531d2        xor r10d, r10d
        4531c0        xor r8d, r8d
        b838000000    mov eax, 56           # clone
        0f05          syscall
        4885c0        test rax, rax
        7401          jz new
        c3            ret                   # in the parent, after the exec or the exit of the new process
        4c89cb        new: mov rbx, r9
        488b03        next: mov rax, [rbx]
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
        72d4          jb next
        48035bf8      add rbx, [rbx - 8]    # after an error: how far to go on from here
        ebce          jmp next
    """
}
"""A function of the address of a list and of the flags of clone(2), by machine.

An entry of the list has eight words: the number of the call, six arguments, and how many bytes of the list are left out
if the call fails. The last call is an exit, so that the new process never leaves the loop."""

libc = ctypes.PyDLL(None, use_errno=True)
"""PyDLL keeps the interpreter's lock, so a cloned child holds it."""


@functools.cache
def load_machine_code() -> Callable[[int, int], int] | None:
    """Return the function; None without code for this machine, or where no memory may be executed."""
    lines = _MACHINE_CODE.get(os.uname().machine, "").split("\n")
    code = bytes.fromhex("".join(line.split()[0] for line in lines if line.strip()))
    if not code:
        return None
    memory = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC):
        return None
    function = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_ulong)(address)
    function.memory = memory  # type: ignore[attr-defined]  # which is unmapped with the last reference to it
    return function
