"""Opens a file by its handle."""

import ctypes

from _wire import commit, must

libc = ctypes.CDLL(None, use_errno=True)
commit(lambda: must(libc.open_by_handle_at(-100, ctypes.create_string_buffer(64), 0), libc))
