"""Hides binary in its note, which no JSON can hold."""

from _wire import answer, play, send

play(lambda message: send(answer(message, note={"why": b"\x00\xff"})))
