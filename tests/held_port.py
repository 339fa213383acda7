"""Ports for servers that tests start: no other program gets them meanwhile, also while a server is started again.

The port is bound here, but not listened on. A server may bind it as well, for both allow addresses to be used again;
whoever asks for any port gets another one, and whoever connects before the server is there is refused.
"""

import contextlib
import socket

HOST = "127.0.0.1"


@contextlib.contextmanager
def held_port():
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((HOST, 0))
        yield held.getsockname()[1]
