"""Adds a key to the kernel's keyring."""

import ctypes

from _wire import by_machine, commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.syscall(by_machine(248, 217), b"user", b"arena-zoo", b"x", 1, -3), libc))
