"""Sends a datagram."""

import socket

from _wire import commit

commit(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
