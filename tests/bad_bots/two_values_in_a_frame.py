"""Puts two maps into one frame."""

import msgpack
from _wire import answer, play_with_body

play_with_body(lambda message: 2 * msgpack.packb(answer(message)))
