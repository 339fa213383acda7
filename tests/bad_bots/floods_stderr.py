"""Floods stderr, and answers all the same."""

import sys

from _wire import answer, play, send


def flood(message):
    sys.stderr.write("x" * 1_000_000 + "\n")
    sys.stderr.flush()
    send(answer(message))


play(flood)
