"""Opens a performance counter."""

import ctypes

from _wire import by_machine, commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.syscall(by_machine(298, 241), (ctypes.c_uint64 * 16)(1 | 128 << 32), 0, -1, -1, 0), libc))
