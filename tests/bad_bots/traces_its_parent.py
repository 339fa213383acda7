"""Attaches to its parent as a debugger."""

import ctypes
import os

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.ptrace(0x4206, os.getppid(), 0, 0), libc) and "attached")
