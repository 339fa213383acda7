"""Dies by SIGSEGV."""

import os
import signal

from _wire import play

play(lambda message: os.kill(os.getpid(), signal.SIGSEGV))
