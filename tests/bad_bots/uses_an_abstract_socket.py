"""Makes a socket that other bots can find."""

import os
import socket

from _wire import commit

commit(lambda: socket.socket(socket.AF_UNIX).bind(f"\0arena-zoo-{os.getpid()}") or "bound")
