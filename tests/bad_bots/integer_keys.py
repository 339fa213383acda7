"""Uses integers as keys."""

import msgpack
from _wire import answer, play_with_body

play_with_body(lambda message: msgpack.packb(answer(message) | {7: "seven"}))
