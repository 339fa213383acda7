"""Sends a list."""

import msgpack
from _wire import play_with_body

play_with_body(lambda message: msgpack.packb(["action", message["ply"]]))
