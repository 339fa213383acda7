"""Makes a System V shared memory segment, which would outlive it."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.shmget(0, 4096, 0o1600), libc))
