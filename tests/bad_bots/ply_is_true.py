"""Answers for ply True, which equals 1."""

from _wire import answer, play, send

play(lambda message: send(answer(message, ply=bool(message["ply"]))))
