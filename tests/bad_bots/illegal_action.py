"""Plays off the board."""

from _wire import answer, play, send

play(lambda message: send(answer(message, action=[99, 99])))
