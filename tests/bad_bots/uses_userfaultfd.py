"""Makes a userfaultfd."""

import ctypes

from _wire import by_machine, commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.syscall(by_machine(323, 282), 1), libc))
