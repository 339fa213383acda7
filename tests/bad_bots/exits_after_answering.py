"""Answers, and is gone before the next question."""

import sys

from _wire import answer, play, send


def last(message):
    send(answer(message))
    sys.exit(0)


play(last)
