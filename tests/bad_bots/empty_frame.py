"""Announces a message of no bytes."""

from _wire import play, write

play(lambda message: write(bytes(4)))
