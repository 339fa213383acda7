"""Sends a text that is not UTF-8."""

import msgpack
from _wire import answer, play_with_body

play_with_body(lambda message: msgpack.packb(answer(message, action="AB")).replace(b"AB", b"\xff\xfe"))
