"""Sends half of a surrogate pair."""

import msgpack
from _wire import answer, play_with_body

play_with_body(lambda message: msgpack.packb(answer(message, action="ABC")).replace(b"ABC", b"\xed\xa0\x80"))
