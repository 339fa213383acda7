"""Sets the clock of the machine."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.clock_settime(0, (ctypes.c_long * 2)(0, 0)), libc))
