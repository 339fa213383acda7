"""Closes its stdout and lives on."""

import os
import time

from _wire import play


def close(message):
    os.close(1)
    time.sleep(1000)


play(close)
