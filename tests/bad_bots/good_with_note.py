"""Plays well, and leaves a note."""

from _wire import answer, play, send

play(lambda message: send(answer(message, note={"why": "first", "depth": 1})))
