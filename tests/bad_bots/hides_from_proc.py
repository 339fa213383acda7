"""Becomes a process whose memory and files /proc does not show."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.prctl(4, 0, 0, 0, 0), libc))
