"""Uses a msgpack extension type."""

import msgpack
from _wire import play_with

play_with(action=msgpack.ExtType(5, b"x"))
