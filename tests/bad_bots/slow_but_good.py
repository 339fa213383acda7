"""Thinks for a fifth of a second, then plays well."""

import time

from _wire import answer, play, send


def think(message):
    time.sleep(0.2)
    send(answer(message))


play(think)
