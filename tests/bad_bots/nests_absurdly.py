"""Nests an answer thirty thousand levels deep."""

from _wire import play_with_body

play_with_body(lambda message: b"\x91" * 30_000 + b"\x01")
