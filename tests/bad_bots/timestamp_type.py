"""Uses the msgpack timestamp type."""

import msgpack
from _wire import play_with

play_with(action=msgpack.Timestamp(1, 0))
