"""Exits in the middle of its answer."""

import sys

from _wire import answer, frame, play, write


def half(message):
    write(frame(answer(message))[:-3])
    sys.exit(0)


play(half)
