"""Echoes another ply."""

from _wire import answer, play, send

play(lambda message: send(answer(message, ply=message["ply"] + 1)))
