"""Starts slowly, within its allowance."""

import time

from _wire import answer, play, send

time.sleep(0.8)
play(lambda message: send(answer(message)))
