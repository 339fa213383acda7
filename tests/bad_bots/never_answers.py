"""Reads the question and never answers."""

import time

from _wire import play

play(lambda message: time.sleep(1000))
