"""Kills its own process group."""

import os
import signal

from _wire import play

play(lambda message: os.kill(0, signal.SIGKILL))
