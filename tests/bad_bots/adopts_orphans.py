"""Has the orphans of its descendants given to itself, and not to the arena."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.prctl(36, 1, 0, 0, 0), libc))
