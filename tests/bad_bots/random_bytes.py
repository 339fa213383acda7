"""Sends bytes that are no msgpack."""

from _wire import play_with_body

play_with_body(lambda message: b"\xc1\x00\xff\x07")
