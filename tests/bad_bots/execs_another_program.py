"""Becomes another program."""

import os

from _wire import play

play(lambda message: os.execv("/bin/sleep", ["sleep", "1000"]))
