"""Is told of everything that happens in a directory."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.inotify_init1(0), libc))
