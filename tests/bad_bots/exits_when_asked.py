"""Exits when it is asked for an action."""

import sys

from _wire import play

play(lambda message: sys.exit(7))
