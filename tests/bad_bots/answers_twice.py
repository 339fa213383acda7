"""Sends its answer twice in one go."""

from _wire import answer, frame, play, write

play(lambda message: write(frame(answer(message)) * 2))
