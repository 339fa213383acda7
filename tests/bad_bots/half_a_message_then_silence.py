"""Sends half a message, and nothing more."""

import time

from _wire import answer, frame, play, write


def half(message):
    write(frame(answer(message))[:-3])
    time.sleep(1000)


play(half)
