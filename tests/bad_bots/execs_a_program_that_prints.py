"""Becomes a program that prints."""

import os

from _wire import play

play(lambda message: os.execv("/bin/echo", ["echo", "hello there"]))
