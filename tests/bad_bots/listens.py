"""Listens on a port."""

import socket

from _wire import commit

commit(lambda: socket.create_server(("127.0.0.1", 0)).getsockname())
