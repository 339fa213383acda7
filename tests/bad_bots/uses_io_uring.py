"""Sets up an io_uring."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.syscall(425, 1, ctypes.create_string_buffer(120)), libc))
