"""Asks for a terabyte at once."""

from _wire import play

play(lambda message: bytearray(1 << 40))
