"""Thinks for half a second, then plays well: there is time to work in its turns."""

import time

from _wire import answer, play, send


def think(message):
    time.sleep(0.5)
    send(answer(message))


play(think)
