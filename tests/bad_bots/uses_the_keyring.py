"""Adds a key to the kernel's keyring."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.syscall(248, b"user", b"arena-zoo", b"x", 1, -3), libc))
