"""Answers a second after the time allowed."""

import time

from _wire import answer, play, send


def late(message):
    time.sleep(1.5)
    send(answer(message))


play(late)
