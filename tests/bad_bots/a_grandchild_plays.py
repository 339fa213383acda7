"""Exits, and a grandchild goes on playing."""

import os

from _wire import answer, play, send


def leave(message):
    if os.fork() > 0:
        os._exit(0)
    send(answer(message))


play(leave)
